"""The compiled inner loops of the sampler: integers only."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import kernel
from sottovoce.privacy._laws import BOUNDARY_BITS, CELL_BITS, ESCAPE

UNDECIDED = -1
_LOW_BITS = np.uint64(BOUNDARY_BITS - CELL_BITS)


@kernel
def add_cells(
    heads: NDArray[np.uint16],
    cells: NDArray[np.int16],
    out: NDArray[np.signedinteger],
    escaped: NDArray[np.int64],
) -> int:
    """Add to each element of ``out`` its cell; note where the cell has no answer (yet added).

    No branch depends on what is in ``out``.
    """
    found = 0
    for i in range(out.size):
        value = cells[heads[i]]
        out[i] += value
        if value == ESCAPE:
            escaped[found] = i
            found += 1
    return found


@kernel
def index_of(point: np.uint64, boundaries: NDArray[np.uint64]) -> int:
    """How many boundaries ``point`` lies above; `UNDECIDED` when its 64 bits equal one's."""
    low, high = 0, boundaries.size
    while low < high:
        middle = (low + high) // 2
        if boundaries[middle] < point:
            low = middle + 1
        else:
            high = middle
    if low < boundaries.size and boundaries[low] == point:
        return UNDECIDED
    return low


@kernel
def search_all(
    points: NDArray[np.uint64], boundaries: NDArray[np.uint64], index: NDArray[np.int64]
) -> int:
    """Find the index of every point; return how many are undecided."""
    undecided = 0
    for i in range(points.size):
        index[i] = index_of(points[i], boundaries)
        undecided += index[i] == UNDECIDED
    return undecided


@kernel
def walk_gaps(
    words: NDArray[np.uint64],
    table: tuple[NDArray[np.int16], NDArray[np.uint64]],
    position: int,
    limit: int,
    ranks: NDArray[np.int64],
) -> tuple[int, int, int]:
    """From ``position``, leap a gap per word, noting in ``ranks`` the cells landed on.

    A gap that leaves the table leaps its whole run and lands nowhere. It stops at ``limit``, at
    the end of the words or at an undecided one; returns words used, ranks noted and position.
    """
    cells, boundaries = table
    found = 0
    for i in range(words.size):
        if position >= limit:
            return i, found, position
        gap = int(cells[words[i] >> _LOW_BITS])
        if gap == ESCAPE:
            gap = index_of(words[i], boundaries)
        if gap == UNDECIDED:
            return i, found, position
        position += gap
        if gap < boundaries.size and position < limit:
            ranks[found] = position
            found += 1
            position += 1
    return words.size, found, position


@kernel
def merge_cells(
    rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    columns: int,
    zeros: tuple[NDArray[np.int64], NDArray[np.int64]],
    threshold: int,
    out: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
) -> None:
    """Lay the stored cells of CSR ``rows`` and the zero cells that came out in column order.

    ``zeros`` are the latter's ranks, counting zero cells only, row after row, and their values.
    A stored cell is kept when it is >= a threshold of 1 or more, or non-zero where that is 0.
    """
    starts, stored, noised = rows
    ranks, values = zeros
    out_starts, out_columns, out_values = out
    filled, rank, base = 0, 0, 0
    for row in range(starts.size - 1):
        j, shift = starts[row], 0
        row_end = base + columns - (starts[row + 1] - starts[row])
        while True:
            zero = columns
            if rank < ranks.size and ranks[rank] < row_end:
                zero = ranks[rank] - base + shift
            while j < starts[row + 1] and stored[j] <= zero:
                if noised[j] >= threshold if threshold else noised[j] != 0:
                    out_columns[filled], out_values[filled] = stored[j], noised[j]
                    filled += 1
                j, shift = j + 1, shift + 1
                zero += 1
            if zero >= columns:
                break
            out_columns[filled], out_values[filled] = zero, values[rank]
            filled, rank = filled + 1, rank + 1
        base = row_end
        out_starts[row + 1] = filled


@kernel
def compress_cells(
    block: NDArray[np.int64],
    columns: int,
    threshold: int,
    out: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
) -> None:
    """Lay the kept cells of a dense ``block`` of whole rows as CSR."""
    out_starts, out_columns, out_values = out
    filled = 0
    for row in range(block.size // columns):
        for column in range(columns):
            value = block[row * columns + column]
            out_columns[filled], out_values[filled] = column, value
            filled += value >= threshold if threshold else value != 0
        out_starts[row + 1] = filled


@kernel
def turn_to_signed(excess: NDArray[np.int64], signs: NDArray[np.uint8]) -> None:
    """Make of each excess over 1 a number that is not 0, whose sign the lowest bit decides."""
    for i in range(excess.size):
        sign = 2 * np.int64(signs[i] & 1) - 1
        excess[i] = sign * (excess[i] + 1)


@kernel
def lowest_and_highest(values: NDArray[np.number]) -> tuple[int, int]:
    """Of at least one value, in one pass."""
    low = high = values[0]
    for value in values:
        low, high = min(low, value), max(high, value)
    return low, high


@kernel
def ascends(
    starts: NDArray[np.integer], columns: NDArray[np.integer], first: int, last: int
) -> bool:
    """Whether each row from ``first`` to ``last`` names its columns in order, none twice."""
    right = True
    for row in range(first, last):
        for cell in range(starts[row] + 1, starts[row + 1]):
            right &= columns[cell - 1] < columns[cell]
    return right
