"""Exact draws from a law: total-variation error zero, given ideal bits.

A uniform U is never finished; its bits are drawn until the index is certain. 16 bits go to the
table; if the cell is cut, 48 more go to a search among floor(2^64 F_j); if they equal a boundary's,
64 more at a time are compared with ever finer boundaries. U's first b bits u decide against F_j as
soon as u != floor(2^b F_j), because U 2^b lies in [u, u + 1) and F_j 2^b strictly between its floor
and the next integer. A tail beyond the table is T + a fresh geometric draw, by memorylessness.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.privacy._laws import (
    BOUNDARY_BITS,
    CELL_BITS,
    ESCAPE,
    Gap,
    Geometric,
    Law,
    TwoSidedGeometric,
    build_table,
)
from sottovoce.privacy._noise_kernels import UNDECIDED, add_cells, search_all
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.randomness import Keystream, halfwords, word, words

SMALLEST_RATE = Fraction(1, 100_000)
LARGEST_RATE = Fraction(1000)
# Long enough that the work between blocks does not show, short enough for second-level caches.
_BLOCK = 1 << 17


class TableSampler:
    """Draws from ``law``; what a tail exceeds its bound by comes from ``excess`` (or itself)."""

    def __init__(self, law: Law, excess: "TableSampler | None" = None) -> None:
        self.law = law
        self.table = build_table(law)
        self._excess = excess or self

    def draw(self, number: int, source: Keystream) -> NDArray[np.int64]:
        """``number`` independent draws."""
        out = np.empty(number, dtype=np.int64)
        self.draw_into(out, source)
        return out

    def draw_into(self, out: NDArray[np.signedinteger], source: Keystream) -> None:
        """Overwrite the contiguous vector ``out`` with independent draws.

        One of 32 bits saturates at 2^30: post-processing, and of chance e^-10,000 at most.
        """
        for start in range(0, out.size, _BLOCK):
            block = out[start : start + _BLOCK]
            block.fill(0)
            self.add_to(block, source)

    def add_to(self, out: NDArray[np.signedinteger], source: Keystream) -> None:
        """Add an independent draw to every element of the contiguous vector ``out``."""
        heads = np.empty(min(_BLOCK, out.size), dtype=np.uint16)
        escaped = np.empty(heads.size, dtype=np.int64)
        limit = int(np.iinfo(out.dtype).max) // 2
        for start in range(0, out.size, _BLOCK):
            block = out[start : start + _BLOCK]
            halfwords(source, heads[: block.size])
            found = add_cells(heads, self.table.cells, block, escaped)
            if found:
                where = escaped[:found]
                values = self._escaped_values(heads[where], source)
                block[where] += np.clip(values, -limit, limit).astype(out.dtype) - ESCAPE

    def index(self, points: NDArray[np.uint64], source: Keystream) -> NDArray[np.int64]:
        """The index of each U whose first 64 bits are in ``points``."""
        index = np.empty(points.size, dtype=np.int64)
        if search_all(points, self.table.boundaries, index):
            for i in np.flatnonzero(index == UNDECIDED):
                index[i] = self.index_from(int(points[i]), source)
        return index

    def index_from(self, point: int, source: Keystream) -> int:
        """The index of a U whose first 64 bits equal a boundary's, by as many more as it takes."""
        boundaries = self.table.boundaries
        low = int(np.searchsorted(boundaries, np.uint64(point), side="left"))
        high = int(np.searchsorted(boundaries, np.uint64(point), side="right"))
        bits = BOUNDARY_BITS
        while low < high:
            bits += BOUNDARY_BITS
            point = point << BOUNDARY_BITS | word(source)
            finer = _Finer(self.law, bits)
            high = bisect_right(finer, point, low, high)
            low = bisect_left(finer, point, low, high)
        return low

    def _escaped_values(self, heads: NDArray[np.uint16], source: Keystream) -> NDArray[np.int64]:
        low_bits = np.uint64(BOUNDARY_BITS - CELL_BITS)
        points = heads.astype(np.uint64) << low_bits
        points |= words(source, heads.size) >> np.uint64(CELL_BITS)
        return self._values(self.index(points, source), source)

    def _values(self, index: NDArray[np.int64], source: Keystream) -> NDArray[np.int64]:
        """What each index stands for; a tail's is drawn."""
        values = index - self.law.offset
        self._stretch(values, np.flatnonzero(index == self.law.run), 1, source)
        if self.law.open_below:
            self._stretch(values, np.flatnonzero(index == 0), -1, source)
        return values

    def _stretch(
        self, values: NDArray[np.int64], tail: NDArray[np.intp], sign: int, source: Keystream
    ) -> None:
        """Move the ``tail`` of ``values`` outwards by geometric draws, as often as it takes."""
        excess = self._excess
        while tail.size:
            index = excess.index(words(source, tail.size), source)
            values[tail] += sign * index
            tail = tail[index == excess.law.run]


@dataclass(frozen=True)
class _Finer:
    """A law's boundaries at a higher precision, computed where a search looks."""

    law: Law
    bits: int

    def __getitem__(self, j: int) -> int:
        return self.law.floor_at(j, self.bits)

    def __len__(self) -> int:
        return self.law.run


@lru_cache(maxsize=16)
def geometric_sampler(rate: Fraction) -> TableSampler:
    """Draws G >= 0 with P(G = g) = (1 - alpha) alpha^g."""
    check_rate(rate)
    return TableSampler(Geometric(rate))


@lru_cache(maxsize=16)
def two_sided_sampler(rate: Fraction) -> TableSampler:
    """Draws Z with P(Z = z) = (1 - alpha)/(1 + alpha) alpha^|z|."""
    check_rate(rate)
    return TableSampler(TwoSidedGeometric(rate), geometric_sampler(rate))


@lru_cache(maxsize=16)
def gap_sampler(rate: Fraction, threshold: int | None) -> TableSampler:
    """Draws how many zero cells in a row stay out of the output."""
    check_rate(rate)
    return TableSampler(Gap(rate, threshold))


def check_rate(rate: Fraction) -> None:
    """Refuse a rate beyond what the tables are made for."""
    if not SMALLEST_RATE <= rate <= LARGEST_RATE:
        raise ParameterError(
            f"the rate epsilon/N must lie between {text_up(SMALLEST_RATE)} and "
            f"{text_up(LARGEST_RATE)} nats per word, got {text_up(rate)}."
        )
