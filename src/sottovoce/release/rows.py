"""Rows of a sparse matrix, and the one piece of memory that several threads lay theirs into."""

from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Some rows of a CSR matrix; columns ascend within a row."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.int64]


def part_of(rows: Rows, first: int, last: int) -> Rows:
    """Rows ``first`` up to ``last``, as rows of their own."""
    low, high = int(rows.starts[first]), int(rows.starts[last])
    return Rows(rows.starts[first : last + 1] - low, rows.columns[low:high], rows.values[low:high])


def empty_rows(number: int, cells: int) -> Rows:
    """Room for ``number`` rows of ``cells`` cells in all."""
    return Rows(
        np.zeros(number + 1, dtype=np.int64),
        np.empty(cells, dtype=np.int32),
        np.empty(cells, dtype=np.int64),
    )


def trimmed(rows: Rows) -> Rows:
    """``rows`` without the room they left."""
    filled = int(rows.starts[-1])
    return Rows(rows.starts, rows.columns[:filled], rows.values[:filled])


class Pile:
    """Blocks of rows, each laid below the one before."""

    def __init__(self, room: Rows) -> None:
        self._room = room
        self._rows = self._cells = 0
        self.has_moved = False

    def add(self, block: Rows) -> None:
        """Lay ``block`` below what is there; room that was too little is taken elsewhere."""
        end = self._cells + block.values.size
        if end > self._room.values.size:
            self._move(2 * end)
        starts, columns, values = self._room
        height = block.starts.size - 1
        starts[self._rows + 1 : self._rows + height + 1] = block.starts[1:] + self._cells
        columns[self._cells : end] = block.columns
        values[self._cells : end] = block.values
        self._rows, self._cells = self._rows + height, end

    def rows(self) -> Rows:
        """Everything laid so far, once all rows are there."""
        return trimmed(self._room)

    def _move(self, cells: int) -> None:
        room = self._room
        columns, values = np.resize(room.columns, cells), np.resize(room.values, cells)
        self._room = Rows(room.starts, columns, values)
        self.has_moved = True


class SharedRoom:
    """Room for a pile per thread, taken once; memory that stays empty is never touched."""

    def __init__(self, numbers: list[int], cells: list[int]) -> None:
        self._room = empty_rows(0, sum(cells))
        edges = pairwise(accumulate(cells, initial=0))
        self.piles = [
            Pile(self._piece(number, *ends)) for number, ends in zip(numbers, edges, strict=True)
        ]

    def rows(self) -> Rows:
        """The rows of all piles, moved up against each other in place."""
        parts = [pile.rows() for pile in self.piles]
        lengths = [np.diff(part.starts) for part in parts]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum()
        if any(pile.has_moved for pile in self.piles):
            columns = np.concatenate([part.columns for part in parts])
            return Rows(starts, columns, np.concatenate([part.values for part in parts]))
        filled = 0
        for part in parts:
            end = filled + part.values.size
            # A part only ever moves towards the front, over what was moved before it.
            self._room.columns[filled:end] = part.columns
            self._room.values[filled:end] = part.values
            filled = end
        return Rows(starts, self._room.columns[:filled], self._room.values[:filled])

    def _piece(self, number: int, low: int, high: int) -> Rows:
        starts = np.zeros(number + 1, dtype=np.int64)
        return Rows(starts, self._room.columns[low:high], self._room.values[low:high])
