"""The meter sees what stands above the noise, where theory says that it appears, and no more."""

import numpy as np
import pytest
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Moments, SignalMeter, released_moments, signal_meter

DOCUMENTS, WORDS = 3000, 200


def moments_of(counts: Integers, law: NoiseLaw, seed: int) -> Moments:
    generator = np.random.default_rng(seed)
    up, down = (generator.geometric(1 - law.alpha, counts.shape) for _ in range(2))
    return released_moments(sparse.csr_array(counts + up - down), law)


def measured(means: Floats, law: NoiseLaw, seed: int) -> SignalMeter:
    counts = np.random.default_rng(seed + 1).poisson(means)
    return signal_meter(moments_of(counts, law, seed))


@pytest.mark.parametrize("rate", [0.2, 1.0, 3.0])
def test_noise_alone_stays_below_the_edge(rate: float) -> None:
    empty = np.zeros((DOCUMENTS, WORDS), np.int64)
    meter = signal_meter(moments_of(empty, NoiseLaw(rate), 3))
    assert meter.dimensions <= 1
    assert meter.eigenvalues[0] == pytest.approx(meter.edge, rel=0.08)


def test_a_word_that_is_repeated_is_no_dimension() -> None:
    bursts = np.random.default_rng(1).gamma(0.05, 20, (DOCUMENTS, WORDS)) * 0.2
    assert measured(bursts, NoiseLaw(2.0), 5).dimensions == 1


def test_words_that_only_chance_brings_together_are_one_dimension() -> None:
    """That some words are frequent, and nothing else, however uneven they are."""
    uneven = np.tile(12 / np.arange(1, WORDS + 1), (DOCUMENTS, 1))
    assert measured(uneven, NoiseLaw(1.0), 5).dimensions == 1


@pytest.mark.parametrize(("gain", "seen"), [(0.5, 1), (2.5, 2)])
def test_a_dimension_is_seen_from_the_predicted_strength_on(gain: float, seen: int) -> None:
    """Two groups of documents that prefer other halves of the words, at l = gain sqrt(M/D)."""
    law, base = NoiseLaw(0.7), 1.0
    wanted = gain * (WORDS / DOCUMENTS) ** 0.5
    variance = law.variance + base
    apart = (wanted * variance / WORDS) ** 0.5
    sides = np.where(np.arange(WORDS) < WORDS // 2, 1, -1)
    groups = np.where(np.arange(DOCUMENTS) % 2, 1, -1)
    meter = measured(base + apart * np.outer(groups, sides), law, 8)
    assert meter.dimensions == seen
    if seen > 1:
        share = WORDS / DOCUMENTS
        assert meter.eigenvalues[1] == pytest.approx(wanted + share + share / wanted, rel=0.06)
        assert meter.clarities[1] == pytest.approx(
            (1 - share / wanted**2) / (1 + share / wanted), abs=0.06
        )
