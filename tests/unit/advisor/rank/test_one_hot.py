"""The report of the noise mode: its guarantee and what clamping does, exactly."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sottovoce.advisor.rank.noise import OneHotNoise
from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision, LocalPrivacy


def chance(entry: int, value: int, alpha: float, reach: int) -> float:
    """P(clamped entry = entry | true value), by adding up the noise's law far into its tails."""
    noises = np.arange(-4000, 4001)
    law = (1 - alpha) / (1 + alpha) * alpha ** np.abs(noises)
    return float(law[np.clip(noises + value, -reach, reach + 1) == entry].sum())


def test_the_guarantee_is_that_of_moving_one_person_between_two_buckets() -> None:
    noise = OneHotNoise("1/2", 20)
    assert noise.guarantee == LimitedPrecision(2, "1/2", "user")
    assert noise.local_guarantee == LocalPrivacy("1/2", 1, "user")
    assert noise.guarantee.rate == Fraction(1, 4)


@pytest.mark.parametrize("reach", [0, 1, 3])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_no_report_is_more_than_e_to_the_epsilon_likelier_from_another_bucket(
    epsilon: float, reach: int
) -> None:
    alpha = math.exp(-epsilon / 2)
    values = range(-reach, reach + 2)
    ratios = [chance(v, 1, alpha, reach) / chance(v, 0, alpha, reach) for v in values]
    # One entry loses its one and another gains it; all others are alike.
    worst = max(ratios) / min(ratios)
    assert worst == pytest.approx(math.exp(epsilon), rel=1e-9)


@pytest.mark.parametrize("reach", [0, 1, 5, 40])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_bias_and_variance_are_those_of_the_clamped_law(epsilon: float, reach: int) -> None:
    noise, alpha = OneHotNoise(epsilon, 20, reach=reach), math.exp(-epsilon / 2)
    values = np.arange(-reach, reach + 2)
    for true in (0, 1):
        chances = np.array([chance(int(v), true, alpha, reach) for v in values])
        mean = chances @ values
        assert mean == pytest.approx(true + (1 - 2 * true) * noise.bias, abs=1e-12)
        spread = chances @ (values - mean) ** 2 / (1 - 2 * noise.bias) ** 2
        assert spread == pytest.approx(noise.variance, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_clamping_to_one_bit_halves_the_variance_and_no_other_bound_does_better(
    epsilon: float,
) -> None:
    alpha = math.exp(-epsilon / 2)
    by_reach = [OneHotNoise(epsilon, 20, reach=reach).variance for reach in (0, 1, 2, 4, 8, 100)]
    assert by_reach == sorted(by_reach)
    assert by_reach[0] == pytest.approx(alpha / (1 - alpha) ** 2)
    assert by_reach[-1] == pytest.approx(2 * alpha / (1 - alpha) ** 2, rel=1e-6)


def test_entries_stay_within_the_public_bound_and_reach_it() -> None:
    for reach in (0, 2):
        noise = OneHotNoise("0.2", 5, reach=reach)
        entries = noise.reports(np.full(2000, 3))
        assert (entries.min(), entries.max()) == (-reach, reach + 1)


@pytest.mark.parametrize("bucket", [-1, 20])
def test_a_bucket_that_is_none_is_refused(bucket: int) -> None:
    with pytest.raises(ParameterError, match="0 to 19"):
        OneHotNoise(1, 20).report(bucket)


@pytest.mark.parametrize(("buckets", "reach"), [(1, 0), (201, 0), (20, -1), (20, 101)])
def test_numbers_beyond_the_bounds_are_refused(buckets: int, reach: int) -> None:
    with pytest.raises(ParameterError):
        OneHotNoise(1, buckets, reach=reach)
