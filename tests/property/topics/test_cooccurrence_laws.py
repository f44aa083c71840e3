"""What holds of topics from any pairs whatever."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sottovoce._arrays import Floats
from sottovoce.topics.cooccurrence import pair_topics

SQUARES = arrays.arrays(np.float64, (6, 6), elements=st.floats(-100, 100))


@given(SQUARES, st.integers(1, 6))
def test_topics_are_distributions_and_fit_better_than_none(square: Floats, topics: int) -> None:
    pairs = square + square.T
    found = pair_topics(pairs, topics, totals=np.ones(6), steps=60)
    assert (found.topics >= 0).all()
    assert np.allclose(found.topics.sum(axis=1), 1)
    np.fill_diagonal(pairs, 0)
    assert found.misfit <= (pairs**2).sum() * (1 + 1e-6) + 0.1
