"""What is read of a released cell agrees with summing every count in sixty digits."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array

from sottovoce.errors import InputError
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.noise_law import (
    BurstyCounts,
    NoiseLaw,
    bursty_cells,
    expected_nonzeros,
    noise_deviation,
    zero_cell_chance,
)


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


RATES = (0.05, 0.5, 1.0, 5.0)
MEANS = np.array([0.01, 0.5, 3.0, 10.0])
SIZE, LARGEST = 0.3, 12
COUNTS, CELLS = np.arange(1_500), np.arange(-400, 1_900)


def _joint(law: NoiseLaw, mean: float) -> np.ndarray:
    """P(c, z), counts by cells."""
    prior = stats.nbinom.pmf(COUNTS, SIZE, SIZE / (SIZE + mean))
    return np.asarray(prior[:, None] * law.probability(CELLS - COUNTS[:, None]))


@pytest.mark.parametrize("rate", RATES)
def test_cells_of_bursty_counts_are_those_of_brute_force(rate: float) -> None:
    law = NoiseLaw(rate)
    found = bursty_cells(law, BurstyCounts(MEANS, SIZE), LARGEST, np.sqrt)
    clipped = np.clip(CELLS, 0, LARGEST)[:, None] == np.arange(LARGEST + 1)
    for word, mean in enumerate(MEANS):
        joint = _joint(law, mean)
        # Below the least cell of the sum everything says the same as at it.
        joint[:, 0] /= 1 - law.alpha
        shown = joint[:, 400 : 401 + LARGEST]
        assert np.exp(found.logs[word]) == pytest.approx(joint.sum(axis=0) @ clipped, rel=1e-9)
        assert found.expected[word] == pytest.approx(
            np.sqrt(COUNTS) @ shown / shown.sum(axis=0), rel=1e-9
        )
        beyond = joint[:, CELLS >= LARGEST].sum(axis=1)
        assert found.beyond[word] == pytest.approx(np.sqrt(COUNTS) @ beyond / beyond.sum())


@pytest.mark.parametrize("rate", RATES)
def test_a_word_s_gain_is_the_covariance_of_its_reading_over_its_variance(rate: float) -> None:
    law, counts = NoiseLaw(rate), BurstyCounts(MEANS, SIZE)
    found = bursty_cells(law, counts, LARGEST)
    gains = found.gains(counts.variances)
    for word, mean in enumerate(MEANS):
        joint = _joint(law, mean)
        joint[:, 0] /= 1 - law.alpha
        read = found.expected[word, np.clip(CELLS, 0, LARGEST)]
        shared = COUNTS @ joint @ read - mean * (joint.sum(axis=0) @ read)
        assert gains[word] == pytest.approx(shared / (mean + mean**2 / SIZE), rel=1e-6)


def test_bursty_counts_have_the_stated_mean_and_variance() -> None:
    counts = BurstyCounts(np.array([1.5]), 0.5)
    law = np.exp([counts.log_chance(count)[0] for count in range(400)])
    mean = law @ np.arange(400)
    assert mean == pytest.approx(1.5)
    assert law @ (np.arange(400) - mean) ** 2 == pytest.approx(1.5 + 1.5**2 / 0.5)
    assert counts.variances[0] == pytest.approx(1.5 + 1.5**2 / 0.5)
    assert counts.following(3)[0] == pytest.approx(law[4] / law[3])


def test_a_word_that_nobody_used_has_a_finite_reading_at_a_high_rate() -> None:
    found = bursty_cells(NoiseLaw(20.0), BurstyCounts(np.array([0.0, 1e-12, 0.2]), 0.5), 64)
    assert np.isfinite(found.logs).all()
    assert np.isfinite(found.expected).all()
    # 40 tokens of a word of mean 1e-12 are less likely than noise of 40; of mean 0.2, they are not.
    assert found.expected[1:, 40] == pytest.approx([0, 40], abs=1e-3)


def test_the_noise_reaches_a_value_as_often_as_its_probabilities_add_up_to() -> None:
    law, values = NoiseLaw(0.7), np.arange(-200, 201)
    for least in (-3, 0, 1, 5):
        above = law.probability(values[values >= least]).sum()
        assert float(law.at_least(least)) == pytest.approx(above, rel=1e-9)


@pytest.mark.parametrize("rate", ["2", "0.1"])
def test_the_deviation_is_that_of_the_draws(rate: str) -> None:
    draws = GeometricMechanism(rate).noise(500_000)
    assert noise_deviation(rate) == pytest.approx(draws.std(), rel=0.03)


@pytest.mark.parametrize(("rate", "threshold"), [("2", None), ("1", 2), ("0.5", None)])
def test_the_size_is_that_of_the_output(rate: str, threshold: int | None) -> None:
    empty = csr_array((500, 1000), dtype=np.int64)
    out = GeometricMechanism(rate).sparse(empty, threshold=threshold)
    expected = expected_nonzeros(500_000, 0, rate, threshold)
    assert out.nnz == pytest.approx(expected, rel=0.05)
    assert zero_cell_chance(rate, threshold) == pytest.approx(expected / 500_000, rel=0.01)
