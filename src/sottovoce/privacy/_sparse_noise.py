"""Noise on every cell of a sparse count matrix, the zero cells too, at the cost of the output.

Stored cells are noised one by one. A zero cell comes out with a small probability p (see `Gap`),
so instead of visiting all of them the walk leaps from one that comes out to the next by exact
geometric gaps, and draws the value of each given that it comes out: a fair sign and
1 + Geometric(alpha), or threshold + Geometric(alpha). Time and memory are then O(non-zeros out),
which lets whoever watches the run time learn how many cells were stored: the constant-work way
round is dense (see `mechanism`). Where p is large, the cells of a block are visited one by one.

Blocks are whole rows; gaps are memoryless, so that a walk may end with one and begin with the next.
Each thread lays its blocks on a `Pile` of its own, in one piece of memory that all share.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.privacy._laws import Gap
from sottovoce.privacy._noise_kernels import compress_cells, merge_cells, turn_to_signed, walk_gaps
from sottovoce.privacy.randomness import Keystream, words
from sottovoce.privacy.sampler import (
    TableSampler,
    gap_sampler,
    geometric_sampler,
    two_sided_sampler,
)

# Above this chance per zero cell a leap costs more than visiting the cells leapt over.
_DENSE_CHANCE = Fraction(1, 8)
_CHANCE_BITS = 128
# So that what a block needs on the way stays near the processor.
_BLOCK_CELLS = 1 << 17
_LARGEST_BATCH = 1 << 18


class SparseRows(NamedTuple):
    """Some rows of a CSR matrix; columns ascend within a row."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.int64]


def part_of(rows: SparseRows, first: int, last: int) -> SparseRows:
    """Rows ``first`` up to ``last``, as rows of their own."""
    low, high = int(rows.starts[first]), int(rows.starts[last])
    return SparseRows(
        rows.starts[first : last + 1] - low, rows.columns[low:high], rows.values[low:high]
    )


def empty_rows(number: int, cells: int) -> SparseRows:
    """Room for ``number`` rows of ``cells`` cells in all."""
    return SparseRows(
        np.zeros(number + 1, dtype=np.int64),
        np.empty(cells, dtype=np.int32),
        np.empty(cells, dtype=np.int64),
    )


def trim_cells(rows: SparseRows) -> SparseRows:
    """``rows`` without the room they left."""
    filled = int(rows.starts[-1])
    return SparseRows(rows.starts, rows.columns[:filled], rows.values[:filled])


class Pile:
    """Blocks of rows, each laid below the one before."""

    def __init__(self, room: SparseRows) -> None:
        self._room = room
        self._rows = self._cells = 0
        self.has_moved = False

    def add(self, block: SparseRows) -> None:
        """Lay ``block`` below what is there; room that was too little is taken elsewhere."""
        end = self._cells + block.values.size
        if end > self._room.values.size:
            self._move(2 * end)
        starts, columns, values = self._room
        height = block.starts.size - 1
        starts[self._rows + 1 : self._rows + height + 1] = block.starts[1:] + self._cells
        # A block that was made in this pile's room lies where it belongs.
        if not np.may_share_memory(block.values, values):
            columns[self._cells : end] = block.columns
            values[self._cells : end] = block.values
        self._rows, self._cells = self._rows + height, end

    def free(self, height: int, cells: int) -> SparseRows:
        """Room for a block of so many rows and cells: here, or elsewhere where it would not fit."""
        end = self._cells + cells
        if end > self._room.values.size:
            return empty_rows(height, cells)
        starts = np.zeros(height + 1, dtype=np.int64)
        columns, values = self._room.columns, self._room.values
        return SparseRows(starts, columns[self._cells : end], values[self._cells : end])

    def rows(self) -> SparseRows:
        """Everything laid so far, once all rows are there."""
        return trim_cells(self._room)

    def _move(self, cells: int) -> None:
        room = self._room
        columns, values = np.resize(room.columns, cells), np.resize(room.values, cells)
        self._room = SparseRows(room.starts, columns, values)
        self.has_moved = True


class SharedRoom:
    """Room for a pile per thread, taken once; memory that stays empty is never touched."""

    def __init__(self, numbers: list[int], cells: list[int]) -> None:
        self._room = empty_rows(0, sum(cells))
        edges = pairwise(accumulate(cells, initial=0))
        self.piles = [
            Pile(self._piece(number, *ends)) for number, ends in zip(numbers, edges, strict=True)
        ]

    def rows(self) -> SparseRows:
        """The rows of all piles, moved up against each other in place."""
        parts = [pile.rows() for pile in self.piles]
        lengths = [np.diff(part.starts) for part in parts]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum()
        if any(pile.has_moved for pile in self.piles):
            columns = np.concatenate([part.columns for part in parts])
            return SparseRows(starts, columns, np.concatenate([part.values for part in parts]))
        filled = 0
        for part in parts:
            end = filled + part.values.size
            # A part only ever moves towards the front, over what was moved before it.
            self._room.columns[filled:end] = part.columns
            self._room.values[filled:end] = part.values
            filled = end
        return SparseRows(starts, self._room.columns[:filled], self._room.values[:filled])

    def _piece(self, number: int, low: int, high: int) -> SparseRows:
        starts = np.zeros(number + 1, dtype=np.int64)
        return SparseRows(starts, self._room.columns[low:high], self._room.values[low:high])


@dataclass(frozen=True)
class SparseNoise:
    """Two-sided geometric noise at ``rate`` on rows of ``columns`` cells.

    With a ``threshold`` only outputs of at least that are kept (free post-processing).
    """

    rate: Fraction
    columns: int
    threshold: int | None = None

    def add_to(self, rows: SparseRows, source: Keystream, pile: Pile) -> None:
        """Lay ``rows`` with noise on each of their cells on ``pile``, a block at a time."""
        add_to_block = self._add_densely if self._is_dense() else self._add_by_leaps
        number, height = rows.starts.size - 1, self._block_height(rows)
        for first in range(0, number, height):
            part = part_of(rows, first, min(first + height, number))
            pile.add(add_to_block(part, source, pile))

    def room_for(self, rows: SparseRows) -> int:
        """More cells than noise will make of ``rows``, but for a chance of about 10^-15."""
        expected = self._expected_cells(rows)
        return expected + 8 * isqrt(expected)

    def _is_dense(self) -> bool:
        return self._chance > _DENSE_CHANCE

    @cached_property
    def _chance(self) -> Fraction:
        """How likely a zero cell comes out, rounded up."""
        chance = Gap(self.rate, self.threshold).chance(_CHANCE_BITS).high
        return Fraction(chance, 1 << _CHANCE_BITS)

    def _expected_cells(self, rows: SparseRows) -> int:
        zeros = (rows.starts.size - 1) * self.columns - rows.values.size
        return rows.values.size + int(self._chance * zeros) + 1

    def _block_height(self, rows: SparseRows) -> int:
        """So many rows that what a block needs on the way is little beside the whole output."""
        number = rows.starts.size - 1
        cells = number * self.columns if self._is_dense() else self._expected_cells(rows)
        return max(1, number * _BLOCK_CELLS // max(1, cells))

    def _add_by_leaps(self, rows: SparseRows, source: Keystream, pile: Pile) -> SparseRows:
        noised = rows.values.copy()
        two_sided_sampler(self.rate).add_to(noised, source)
        zero_cells = (rows.starts.size - 1) * self.columns - noised.size
        ranks = surviving_zeros(gap_sampler(self.rate, self.threshold), zero_cells, source)
        values = self._values_of_zeros(ranks.size, source)
        out = pile.free(rows.starts.size - 1, noised.size + ranks.size)
        merge_cells(
            (rows.starts, rows.columns, noised),
            self.columns,
            (ranks, values),
            self.threshold or 0,
            (out.starts, out.columns, out.values),
        )
        return trim_cells(out)

    def _values_of_zeros(self, number: int, source: Keystream) -> NDArray[np.int64]:
        """What zero cells become, given that they come out."""
        excess = geometric_sampler(self.rate).draw(number, source)
        if self.threshold is not None:
            return excess + self.threshold
        signs = np.empty(number, dtype=np.uint8)
        source.fill(signs)
        turn_to_signed(excess, signs)
        return excess

    def _add_densely(self, rows: SparseRows, source: Keystream, pile: Pile) -> SparseRows:
        height = rows.starts.size - 1
        block = np.zeros(height * self.columns, dtype=np.int64)
        row_of = np.repeat(np.arange(height, dtype=np.int64), np.diff(rows.starts))
        block[row_of * self.columns + rows.columns] = rows.values
        two_sided_sampler(self.rate).add_to(block, source)
        out = pile.free(height, block.size + 1)
        compress_cells(
            block, self.columns, self.threshold or 0, (out.starts, out.columns, out.values)
        )
        return trim_cells(out)


def surviving_zeros(gaps: TableSampler, cells: int, source: Keystream) -> NDArray[np.int64]:
    """Which of ``cells`` zero cells come out, in ascending order."""
    table = (gaps.table.cells, gaps.table.boundaries)
    found: list[NDArray[np.int64]] = []
    position = 0
    while position < cells:
        batch = words(source, _batch_size(gaps, cells - position))
        ranks = np.empty(batch.size, dtype=np.int64)
        used, number, position = walk_gaps(batch, table, position, cells, ranks)
        found.append(ranks[:number])
        # A word that falls on a boundary of the table is not decided by 64 bits: draw on, exactly.
        if used < batch.size and position < cells:
            gap = gaps.index_from(int(batch[used]), source)
            position += gap
            # A gap of a whole run ends without a cell; the next gap begins there.
            if gap < gaps.law.run and position < cells:
                found.append(np.array([position], dtype=np.int64))
                position += 1
    if len(found) == 1:
        return found[0]
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


def _batch_size(gaps: TableSampler, cells: int) -> int:
    """About as many leaps as ``cells`` take: p per cell and one per run of the table."""
    law = gaps.law
    chance = law.chance(_CHANCE_BITS).high if isinstance(law, Gap) else 1 << _CHANCE_BITS
    leaps = (cells * chance >> _CHANCE_BITS) + cells // law.run
    return min(_LARGEST_BATCH, leaps + 4 * isqrt(leaps) + 16)
