"""What a released cell says of a bursty count, against brute force."""

import numpy as np
import pytest
from scipy import stats

from sottovoce.privacy.noise_law import BurstyCounts, NoiseLaw, bursty_cells

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
