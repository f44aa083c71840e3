"""What holds of topics from any pairs whatever."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sottovoce.arrays import Floats
from sottovoce.topics.cooccurrence.factorise import pair_topics

SQUARES = arrays.arrays(np.float64, (6, 6), elements=st.floats(-100, 100))


@given(SQUARES, st.integers(1, 6))
@example(np.where(np.arange(36) % 7 == 2, 0.0, -4.0).reshape(6, 6), 3)
def test_topics_are_distributions_and_fit_better_than_none(square: Floats, topics: int) -> None:
    pairs = square + square.T
    found = pair_topics(pairs, topics, totals=np.ones(6), steps=60)
    assert (found.topics >= 0).all()
    assert np.allclose(found.topics.sum(axis=1), 1)
    np.fill_diagonal(pairs, 0)
    assert found.misfit <= (pairs**2).sum() * (1 + 1e-9)
