"""The breadth without a topic, from one sorting of the whole domain, is that of the others."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.assess.measures.interest import BreadthOfOthers, breadth_of_interest


@given(
    # Few different strengths, so that a topic often ties with the one at the border.
    rows=st.integers(1, 9).flatmap(
        lambda topics: st.lists(
            st.lists(st.integers(-2, 3), min_size=topics, max_size=topics), min_size=1, max_size=6
        )
    ),
    k=st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0]),
)
@settings(max_examples=150, deadline=None)
def test_leaving_out_any_topic_gives_the_breadth_of_the_others(
    rows: list[list[int]], k: float
) -> None:
    domain = np.array(rows, np.float64)
    breadth = BreadthOfOthers.of_domain(domain, k=k)
    for topic in range(domain.shape[1]):
        others = breadth_of_interest(np.delete(domain, topic, axis=1), k=k)
        assert np.array_equal(breadth.exclude(domain[:, topic]), others)
