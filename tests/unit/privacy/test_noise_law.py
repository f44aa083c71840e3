"""What is read of a released cell agrees with summing every count in sixty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import InputError
from sottovoce.privacy.noise_law import NoiseLaw


def by_brute_force(z: int, mean: float, rate: float) -> tuple[float, float]:
    """Both ln P(z) and E[c | z], term by term over every count that matters."""
    with localcontext() as context:
        context.prec = 60
        mu, alpha = Decimal(mean), (-Decimal(rate)).exp()
        poisson = (-mu).exp()
        total = weighted = Decimal(0)
        for c in range(max(z, 0) + 40 * (int(mean) + 10)):
            share = poisson * alpha ** abs(z - c)
            total, weighted = total + share, weighted + c * share
            poisson *= mu / (c + 1)
        log = ((1 - alpha) / (1 + alpha) * total).ln()
        return float(log), float(weighted / total)


@pytest.mark.parametrize("rate", [0.05, 0.5, 1, 5, 12])
@pytest.mark.parametrize("mean", [1e-9, 0.01, 1, 10, 80])
def test_a_cell_reads_as_summing_over_every_count_says(mean: float, rate: float) -> None:
    cells = [-7, -1, 0, 1, 2, 3, 9, 30]
    law = NoiseLaw(rate)
    exact = np.array([by_brute_force(z, mean, rate) for z in cells])
    np.testing.assert_allclose(law.log_likelihood(cells, mean), exact[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(law.expected_counts(cells, mean), exact[:, 1], rtol=1e-12)


def test_the_case_in_which_distribution_functions_underflow_is_right() -> None:
    assert float(NoiseLaw(5).expected_counts(1, 10)) == pytest.approx(1.033, abs=5e-4)


@given(rate=st.floats(0.02, 20), mean=st.floats(0, 30))
def test_probabilities_of_a_cell_sum_to_one_and_its_mean_is_the_counts(
    rate: float, mean: float
) -> None:
    reach = math.ceil(40 / rate) + 200
    cells = np.arange(-reach, reach + 1)
    law = NoiseLaw(rate)
    chances = np.exp(law.log_likelihood(cells, mean))
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert (chances * law.expected_counts(cells, mean)).sum() == pytest.approx(mean, abs=1e-8)


@given(rate=st.floats(0.05, 30))
def test_moments_are_those_of_the_law(rate: float) -> None:
    law = NoiseLaw(rate)
    noise = np.arange(-math.ceil(60 / rate) - 5, math.ceil(60 / rate) + 6)
    chances = law.probability(noise)
    assert chances.sum() == pytest.approx(1)
    assert (chances * noise**2).sum() == pytest.approx(law.variance)
    assert (chances * noise.astype(float) ** 4).sum() == pytest.approx(law.fourth_moment)
    assert chances.max() == law.most_common


@pytest.mark.parametrize("rate", [60.0, 5000.0])
def test_with_next_to_no_noise_a_cell_is_its_count(rate: float) -> None:
    law = NoiseLaw(rate)
    np.testing.assert_allclose(law.expected_counts([0, 1, 7], 2.0), [0, 1, 7], atol=1e-9)
    poisson = [-2 + z * math.log(2) - math.lgamma(z + 1) for z in (0, 1, 7)]
    np.testing.assert_allclose(law.log_likelihood([0, 1, 7], 2.0), poisson, atol=1e-9)


@pytest.mark.parametrize("rate", [0.0, -1.0, math.inf, math.nan])
def test_a_rate_that_is_none_is_refused(rate: float) -> None:
    with pytest.raises(InputError, match="above 0"):
        NoiseLaw(rate)


@pytest.mark.parametrize("mean", [-0.1, math.nan, math.inf])
def test_a_mean_that_is_none_is_refused(mean: float) -> None:
    with pytest.raises(InputError, match="0 or more"):
        NoiseLaw(1).expected_counts([1], mean)
