"""Public score buckets."""

import math
from collections.abc import Callable
from functools import partial

import pytest

from sottovoce.advisor.rank.description import Buckets, score_range
from sottovoce.errors import ParameterError


def test_every_score_has_a_bucket_and_an_edge_belongs_to_the_one_above() -> None:
    buckets = Buckets.even(0, 1, 4)
    found = [buckets.find(score) for score in (-math.inf, 0, 0.24, 0.25, 0.5, 0.99, 1, 7, math.inf)]
    assert found == [0, 0, 0, 1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize(
    "make",
    [
        *(partial(Buckets, edges) for edges in ((), (1, 1), (2, 1), (math.nan,), (math.inf,))),
        *(partial(Buckets.even, *given) for given in ((1, 0), (0, math.inf), (0, 1, 1))),
        partial(Buckets.even(0, 1).find, math.nan),
    ],
)
def test_what_makes_or_has_no_bucket_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ParameterError):
        make()


def test_a_measure_without_known_bounds_needs_a_range() -> None:
    assert score_range("lda") == (0, 1)
    assert score_range("lda-dt") == (-1, 1)
    assert score_range("w2v-d") == (-2, 2)
    with pytest.raises(ParameterError, match="give a range"):
        score_range("diff-priv")
