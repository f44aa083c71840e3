"""Reports of a fixed weight: their guarantee, estimates and what a false one can do, exactly."""

import math
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from support.rank_servers import Clock, asked, description, noise_service

from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.noise import OneHotNoise, deviations
from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy

KINDS = [(0.5, 6, 2), (1.0, 5, 2), (1.0, 6, 1), (2.0, 6, 5), (4.0, 5, 3), (1.0, 2, 1)]


def reports(buckets: int, weight: int) -> NDArray[np.int64]:
    """All that are valid."""
    places = combinations(range(buckets), weight)
    return np.array([[int(j in chosen) for j in range(buckets)] for chosen in places])


def law(epsilon: float, all_reports: NDArray[np.int64], bucket: int) -> NDArray[np.float64]:
    """The chance of each, from how the module states it: own entry 1 or not, the rest uniform."""
    odds = np.where(all_reports[:, bucket] == 1, math.exp(epsilon), 1.0)
    chances: NDArray[np.float64] = odds / odds.sum()
    return chances


@pytest.mark.parametrize(("epsilon", "buckets", "weight"), KINDS)
def test_the_law_is_that_of_noised_bits_given_their_number_so_the_guarantee_is_the_same(
    epsilon: float, buckets: int, weight: int
) -> None:
    alpha = math.exp(-epsilon / 2)
    bit = {1: {1: 1 / (1 + alpha), 0: alpha / (1 + alpha)}}
    bit[0] = {value: bit[1][1 - value] for value in (0, 1)}
    laws = []
    for bucket in range(buckets):
        every = {
            bits: math.prod(bit[int(j == bucket)][value] for j, value in enumerate(bits))
            for bits in product((0, 1), repeat=buckets)
        }
        valid = reports(buckets, weight)
        given = np.array([every[tuple(row)] for row in valid.tolist()])
        assert given / given.sum() == pytest.approx(law(epsilon, valid, bucket))
        laws.append(law(epsilon, valid, bucket))
    assert np.max(np.array(laws)[:, None] / np.array(laws)[None]) == pytest.approx(
        math.exp(epsilon)
    )


@pytest.mark.parametrize(("epsilon", "buckets", "weight"), KINDS)
def test_estimates_have_no_bias_and_the_stated_variance(
    epsilon: float, buckets: int, weight: int
) -> None:
    noise, valid = OneHotNoise(epsilon, buckets, weight=weight), reports(buckets, weight)
    estimates = noise.estimate_counts(valid, 1)
    assert estimates.sum(axis=1) == pytest.approx(1)
    spreads = []
    for bucket in range(buckets):
        chances = law(epsilon, valid, bucket)
        assert chances @ estimates == pytest.approx(np.eye(buckets)[bucket], abs=1e-12)
        above = np.array([estimates[:, k:].sum(axis=1) for k in range(buckets + 1)])
        means = above @ chances
        spreads.append((above - means[:, None]) ** 2 @ chances)
        other = (bucket + 1) % buckets
        variance = chances @ (estimates[:, other] - chances @ estimates[:, other]) ** 2
        assert variance == pytest.approx(noise.variance)
    stated = [noise.variance_above(buckets - k) for k in range(buckets + 1)]
    assert np.max(spreads, axis=0) == pytest.approx(stated, abs=1e-12)
    assert deviations(noise, 7) == pytest.approx(np.sqrt(7 * np.array(stated)))


@pytest.mark.parametrize(("epsilon", "buckets", "weight"), KINDS)
def test_no_valid_report_counts_as_more_people_than_stated_and_one_counts_as_many(
    epsilon: float, buckets: int, weight: int
) -> None:
    noise = OneHotNoise(epsilon, buckets, weight=weight)
    estimates = noise.estimate_counts(reports(buckets, weight), 1)
    most = [estimates[:, k:].sum(axis=1).max() for k in range(buckets + 1)]
    assert most == pytest.approx([noise.false_weight(buckets - k) for k in range(buckets + 1)])
    assert max(most) == pytest.approx(noise.most_false_weight)


def moved(noise: OneHotNoise, times: int) -> NDArray[np.float64]:
    """What ``times`` false reports add to the published numbers of people in bucket k or higher."""
    rules = description(epsilon=str(noise.epsilon), buckets=noise.buckets)
    weight = noise.weight
    honest = np.full(noise.buckets, 50 * weight, dtype=np.int64)
    entries = np.array([0] * (noise.buckets - weight) + [1] * weight)
    people = 50 * noise.buckets
    before = Histogram.of_noised(rules, "debt", 1, people, honest)
    after = Histogram.of_noised(rules, "debt", 1, people + times, honest + times * entries)
    return after.cumulative() - before.cumulative()


def test_one_client_and_many_move_as_many_people_as_the_page_says() -> None:
    noise = OneHotNoise("1", 20)
    assert (noise.weight, moved(noise, 1).max()) == (8, pytest.approx(19.06, abs=0.01))
    assert moved(noise, 500) == pytest.approx(500 * moved(noise, 1))
    assert moved(noise, 500)[18] == pytest.approx(500 * noise.false_weight(2))
    assert 500 * noise.false_weight(2) == pytest.approx(2382, abs=1)
    assert noise.most_false_weight == pytest.approx(19.06, abs=0.01)


def test_a_report_of_another_weight_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    service = noise_service(tmp_path, Clock(), description(buckets=4))
    http = asked(service).client
    body = {"topic": "debt", "period": 100, "description": service.description.version}
    for bits in ([0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]):
        answer = http.post("/reports", json=body | {"id": "0" * 32, "entries": bits})
        assert (answer.status_code, answer.json()["detail"]) == (
            422,
            "this topic's reports have 2 ones.",
        )
    good = body | {"id": "0" * 32, "entries": [0, 1, 1, 0]}
    assert http.post("/reports", json=good).status_code == 200


@pytest.mark.parametrize("weight", [0, 20, -1])
def test_a_weight_that_hides_nothing_is_refused(weight: int) -> None:
    with pytest.raises(ParameterError, match="weight must be 1 to 19"):
        OneHotNoise(1, 20, weight=weight)


def test_the_guarantee_is_that_of_moving_one_person_between_two_buckets() -> None:
    noise = OneHotNoise("1/2", 20)
    assert noise.guarantee == LimitedPrecision(2, "1/2", "user")
    assert noise.local_guarantee == LocalPrivacy("1/2", 1, "user")
    assert noise.guarantee.rate == Fraction(1, 4)


@pytest.mark.parametrize("bucket", [-1, 20])
def test_a_bucket_that_is_none_is_refused(bucket: int) -> None:
    with pytest.raises(ParameterError, match="0 to 19"):
        OneHotNoise(1, 20).report(bucket)


@pytest.mark.parametrize("buckets", [1, 201])
def test_numbers_of_buckets_beyond_the_bounds_are_refused(buckets: int) -> None:
    with pytest.raises(ParameterError):
        OneHotNoise(1, buckets)
