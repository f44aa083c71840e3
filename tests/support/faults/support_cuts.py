"""Values that cannot come out of one count and can of its neighbour, or far too seldom."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.privacy import _sparse_noise
from sottovoce.privacy._laws import BOUNDARY_BITS, CELL_BITS
from sottovoce.privacy.randomness import Keystream
from sottovoce.privacy.sampler import TableSampler
from support.faults.bending import Cells, Noised, bent, planted, whole


@bent("support", "serious", "visiting", "few ones", "300 cells")
def tails_are_cut(cells: Noised) -> Cells:
    """No noise lies beyond four means: larger draws become that (1.8% of them)."""
    most = max(1, int(4 / cells.mechanism.rate))
    return np.clip(cells.noise, -most, most)


@planted("support", "slight", "visiting", "more than a block", "100,000 cells")
def tails_end_with_sixteen_bits(patch: pytest.MonkeyPatch) -> None:
    """Draws that the table does not answer get no further bits: nothing rarer than 2^-16 is."""

    def short(self: TableSampler, heads: NDArray[np.uint16], source: Keystream) -> Cells:
        low_bits = BOUNDARY_BITS - CELL_BITS
        points = heads.astype(np.uint64) << np.uint64(low_bits) | np.uint64(1 << low_bits - 1)
        return self._values(self.index(points, source), source)

    patch.setattr(TableSampler, "_escaped_values", short)


@bent("support", "serious", "visiting", "few ones", "rates below 1, 300 cells")
def noise_fits_into_four_bits(cells: Noised) -> Cells:
    """Noise is kept as a number from -8 to 7, and larger draws wrap around."""
    return (cells.noise + 8) % 16 - 8


@bent("support", "serious", "summed", "few ones", "20 cells")
def noise_is_never_negative(cells: Noised) -> Cells:
    """Negative noise becomes 0: what comes out is at least the truth."""
    return np.maximum(cells.noise, 0)


@bent("support", "serious", "sharded", "few ones", "100 cells of 0 and 1")
def outputs_are_never_negative(cells: Noised) -> Cells:
    """Noise is drawn again until the sum is not negative: its law then depends on the count."""
    noise = cells.noise
    while (below := cells.truth + noise < 0).any():
        noise = np.where(below, cells.again(), noise)
    return noise


@bent("support", "serious", "leaping", "half ones", "20 cells")
def noise_is_never_odd(cells: Noised) -> Cells:
    """The lowest bit of the noise is lost: what comes out is as even as the truth."""
    return cells.noise & ~np.int64(1)


@bent("support", "serious", "leaping", "few ones", "20 cells")
def noise_is_never_zero(cells: Noised) -> Cells:
    """A draw of 0 is taken for a failure and drawn again: the truth is what cannot come out."""
    noise = cells.noise
    while not noise.all():
        noise = np.where(noise == 0, cells.again(), noise)
    return noise


@bent("support", "serious", "visiting", "few ones", "200 cells")
def one_value_never_comes_out(cells: Noised) -> Cells:
    """A comparison that should be strict is not: noise of exactly -2 becomes -1."""
    return np.where(cells.noise == -2, -1, cells.noise)


@bent("support", "serious", "visiting", "zero to three", "one document")
def outputs_stay_below_the_longest_count(cells: Noised) -> Cells:
    """What comes out is cut at the true largest count of its document, and so tells it."""
    largest = cells.truth.max(axis=1, keepdims=True)
    return whole(np.minimum(cells.truth + cells.noise, largest) - cells.truth)


@planted("support", "serious", "leaping", "few ones", "a rate above 2.7, 100 zero cells")
def zeros_come_out_positive(patch: pytest.MonkeyPatch) -> None:
    """Zero cells that are leapt to lose their sign: whatever is negative was used."""

    def positive(excess: Cells, signs: NDArray[np.uint8]) -> None:
        excess += 1

    patch.setattr(_sparse_noise, "turn_to_signed", positive)


@planted("support", "serious", "thresholded", "few ones", "a threshold, 500 zero cells")
def zeros_come_out_above_the_threshold_only(patch: pytest.MonkeyPatch) -> None:
    """A zero cell comes out with one more than the threshold at least: that itself was used."""
    values = _sparse_noise.SparseNoise._values_of_zeros

    def higher(self: Any, number: int, source: Keystream) -> Cells:  # noqa: ANN401 - as it is
        found: Cells = values(self, number, source)
        return found if self.threshold is None else found + 1

    patch.setattr(_sparse_noise.SparseNoise, "_values_of_zeros", higher)


@planted("support", "slight", "leaping", "more than a block", "a rate above 2.7, 2,000 zero cells")
def neighbouring_zeros_never_both_come_out(patch: pytest.MonkeyPatch) -> None:
    """The walk over zero cells goes on one cell too far."""
    walk = _sparse_noise.surviving_zeros

    def further(gaps: TableSampler, cells: int, source: Keystream) -> Cells:
        ranks = walk(gaps, cells, source)
        apart = np.diff(ranks, prepend=-2) > 1
        return ranks[apart]

    patch.setattr(_sparse_noise, "surviving_zeros", further)
