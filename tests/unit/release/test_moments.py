"""Sums of a release: unbiased, with the variances that the noise's law gives, by enumeration."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis import moments
from sottovoce.release.analysis.moments import MOST_COLUMNS, Moments, released_moments

RATES = (0.5, 1.0, 2.0, 5.0)
# Documents by two words.
COUNTS = (
    np.array([[0, 0]]),
    np.array([[0, 3], [1, 1]]),
    np.array([[10, 0], [2, 1], [0, 0]]),
    np.array([[10, 10], [0, 7]]),
)


def noise_and_chances(law: NoiseLaw) -> tuple[Floats, Floats]:
    """All noise that matters, and how likely it is."""
    reach = int(45 / law.rate) + 2
    noise = np.arange(-reach, reach + 1)
    return noise.astype(float), law.probability(noise)


def exact_of(values: Floats, chances: Floats) -> tuple[float, float]:
    mean = float((values * chances).sum())
    return mean, float(((values - mean) ** 2 * chances).sum())


def enumerated(counts: NDArray[np.int64], law: NoiseLaw) -> tuple[Floats, Floats]:
    """Mean and variance of ``pairs`` by summing over all noise, document by document."""
    noise, chances = noise_and_chances(law)
    mean, variance = np.zeros((2, 2)), np.zeros((2, 2))
    both = chances[:, None] * chances[None, :]
    for first, second in counts:
        z, w = first + noise, second + noise
        found = {
            (0, 0): exact_of(z * z - law.variance - z, chances),
            (1, 1): exact_of(w * w - law.variance - w, chances),
            (0, 1): exact_of(z[:, None] * w[None, :], both),
        }
        found[1, 0] = found[0, 1]
        for place, (middle, spread) in found.items():
            mean[place] += middle
            variance[place] += spread
    return mean, variance


def known_moments(counts: NDArray[np.int64], law: NoiseLaw) -> Moments:
    """As if nothing had been estimated."""
    pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
    squares = (counts**2).sum(axis=0).astype(float)
    totals = counts.sum(axis=0).astype(float)
    return Moments(law, len(counts), totals, squares, pairs.astype(float))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("counts", COUNTS, ids=range(len(COUNTS)))
def test_pairs_are_unbiased_and_vary_as_enumeration_says(
    rate: float, counts: NDArray[np.int64]
) -> None:
    law = NoiseLaw(rate)
    mean, variance = enumerated(counts, law)
    known = known_moments(counts, law)
    np.testing.assert_allclose(mean, known.pairs, atol=1e-9)
    np.testing.assert_allclose(known.pair_variances(), variance, rtol=1e-9)
    np.testing.assert_allclose(
        known.pair_variance(np.array([0]), np.array([1])), variance[0, 1], rtol=1e-9
    )


@pytest.mark.parametrize("rate", RATES)
def test_totals_and_squares_vary_as_enumeration_says(rate: float) -> None:
    law = NoiseLaw(rate)
    noise, chances = noise_and_chances(law)
    known = known_moments(np.array([[10, 0], [3, 1]]), law)
    spreads = [exact_of((count + noise) ** 2, chances) for count in (10, 3)]
    assert known.total_variance == pytest.approx(2 * exact_of(noise, chances)[1])
    assert known.square_variances()[0] == pytest.approx(sum(spread for _, spread in spreads))
    assert sum(mean for mean, _ in spreads) == pytest.approx(known.squares[0] + 2 * law.variance)


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("largest", [3, 4000])
def test_moments_are_the_sums_that_they_say_in_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, width: int, largest: int
) -> None:
    monkeypatch.setattr(moments, "_BLOCK_CELLS", 200)
    law = NoiseLaw(0.7)
    dense = np.random.default_rng(3).integers(-largest, largest, (90, width))
    found = released_moments(sparse.csr_array(dense), law)
    products = (dense.T @ dense).astype(float)
    np.fill_diagonal(products, np.diagonal(products) - 90 * law.variance - dense.sum(axis=0))
    np.testing.assert_array_equal(found.totals, dense.sum(axis=0))
    np.testing.assert_allclose(found.pairs, products, rtol=1e-14)
    np.testing.assert_allclose(found.squares, (dense**2).sum(axis=0) - 90 * law.variance)
    assert found.mean_length == pytest.approx(dense.sum() / 90)


def test_moments_of_parts_add_up_and_columns_can_be_chosen() -> None:
    law, rows = NoiseLaw(1.0), np.random.default_rng(1).integers(-4, 5, (50, 6))
    whole = released_moments(sparse.csr_array(rows), law)
    parts = [released_moments(sparse.csr_array(part), law) for part in (rows[:20], rows[20:])]
    added = parts[0] + parts[1]
    np.testing.assert_allclose(added.pairs, whole.pairs)
    np.testing.assert_allclose(added.squares, whole.squares)
    assert added.documents == 50
    chosen = released_moments(sparse.csr_array(rows), law, columns=np.array([4, 1]))
    np.testing.assert_allclose(chosen.pairs, whole.pairs[np.ix_([4, 1], [4, 1])])


def test_moments_of_other_noise_do_not_add_up() -> None:
    one, other = (released_moments(sparse.csr_array([[1]]), NoiseLaw(rate)) for rate in (1.0, 2.0))
    with pytest.raises(ParameterError, match="the same noise"):
        _ = one + other


def test_more_columns_than_memory_holds_pairs_of_are_refused() -> None:
    wide = sparse.csr_array((1, MOST_COLUMNS + 1), dtype=np.int64)
    with pytest.raises(ParameterError, match=r"at most 8,192 columns, got 8,193"):
        released_moments(wide, NoiseLaw(1.0))
