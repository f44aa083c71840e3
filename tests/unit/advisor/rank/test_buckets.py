"""Public score buckets."""

import math

import pytest

from sottovoce.advisor.rank.description import Buckets, score_range
from sottovoce.errors import ParameterError


def test_every_score_has_a_bucket_and_an_edge_belongs_to_the_one_above() -> None:
    buckets = Buckets.even(0, 1, 4)
    found = [buckets.find(score) for score in (-math.inf, 0, 0.24, 0.25, 0.5, 0.99, 1, 7, math.inf)]
    assert found == [0, 0, 0, 1, 2, 3, 3, 3, 3]


@pytest.mark.parametrize("edges", [(), (1.0, 1.0), (2.0, 1.0), (math.nan,), (math.inf,)])
def test_edges_that_part_nothing_are_refused(edges: tuple[float, ...]) -> None:
    with pytest.raises(ParameterError):
        Buckets(edges)


def test_no_score_has_no_bucket() -> None:
    with pytest.raises(ParameterError, match="must be a number"):
        Buckets.even(0, 1).find(math.nan)


@pytest.mark.parametrize(("low", "high", "number"), [(1, 0, 20), (0, math.inf, 20), (0, 1, 1)])
def test_a_range_or_number_that_makes_no_buckets_is_refused(
    low: float, high: float, number: int
) -> None:
    with pytest.raises(ParameterError):
        Buckets.even(low, high, number)


def test_a_measure_without_known_bounds_needs_a_range() -> None:
    assert score_range("lda") == (0, 1)
    assert score_range("lda-dt") == (-1, 1)
    assert score_range("w2v-d") == (-2, 2)
    with pytest.raises(ParameterError, match="give a range"):
        score_range("diff-priv")
