"""How much one false report, and many, move what a server of the noise mode publishes."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rank_servers import description

from sottovoce.advisor.rank._histogram import Histogram
from sottovoce.advisor.rank._noise import OneHotNoise
from sottovoce.errors import ParameterError

HONEST = 1000


def at_least(noise: OneHotNoise, entries: NDArray[Any], times: int = 1) -> NDArray[np.float64]:
    """What ``times`` such reports add to the published numbers of people in bucket k or higher."""
    rules = description(epsilon=str(noise.epsilon), buckets=noise.buckets)
    rules = replace(rules, reach=noise.reach)
    honest = np.full(noise.buckets, 300, dtype=np.int64)
    before = Histogram.of_noised(rules, "debt", 1, HONEST, honest)
    after = Histogram.of_noised(rules, "debt", 1, HONEST + times, honest + times * entries)
    return after.cumulative() - before.cumulative()


@pytest.mark.parametrize(("epsilon", "buckets", "reach"), [("1", 5, 0), ("2", 4, 0), ("1/2", 3, 1)])
def test_no_valid_report_counts_as_more_people_than_stated_and_one_counts_as_many(
    epsilon: str, buckets: int, reach: int
) -> None:
    noise = OneHotNoise(epsilon, buckets, reach=reach)
    valid = product(range(noise.lowest, noise.highest + 1), repeat=buckets)
    added = np.array([at_least(noise, np.array(entries)) for entries in valid])
    stated = [noise.false_weight(buckets - k) for k in range(buckets + 1)]
    assert added.max(axis=0) == pytest.approx(stated)
    share = (buckets - np.arange(buckets + 1)) / buckets
    assert added.min(axis=0) == pytest.approx(2 * share - stated)
    assert added.max() == pytest.approx(noise.most_false_weight)


def test_at_epsilon_one_a_false_report_counts_as_21_people_and_not_as_four() -> None:
    noise = OneHotNoise("1", 20)
    entries = np.array([0] * 10 + [1] * 10)
    assert at_least(noise, entries).max() == pytest.approx(noise.most_false_weight)
    assert noise.most_false_weight == pytest.approx(20.9149, abs=1e-4)
    # In one bucket alone, an entry of 1 instead of 0 is what the weight of an entry says.
    alpha = np.exp(-0.5)
    assert (1 + alpha) / (1 - alpha) == pytest.approx(4.08, abs=0.005)


def test_an_honest_report_counts_as_nobody_or_one_person_on_average() -> None:
    noise = OneHotNoise("1", 5)
    for bucket in range(5):
        expected = np.full(5, noise.bias)
        expected[bucket] = 1 - noise.bias
        assert at_least(noise, expected) == pytest.approx((np.arange(6) <= bucket).astype(float))


def test_many_false_reports_count_as_many_times_that() -> None:
    noise = OneHotNoise("1", 20)
    entries = np.array([0] * 18 + [1] * 2)
    one, many = at_least(noise, entries), at_least(noise, entries, times=500)
    assert many == pytest.approx(500 * one)
    # Among 100,000 people, the two highest of 20 buckets seem to hold 3.7% more of them.
    assert many[18] == pytest.approx(500 * noise.false_weight(2))
    assert many[18] == pytest.approx(3725, abs=1)


def test_there_are_no_more_buckets_above_a_border_than_there_are() -> None:
    with pytest.raises(ParameterError, match="0 to 20"):
        OneHotNoise("1", 20).false_weight(21)
