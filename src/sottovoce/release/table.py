"""A law as a table: 16 random bits answer nearly every draw, 64 nearly all the rest.

Cell h of 65,536 holds the value of every U in [h, h + 1)/2^16 when no boundary cuts it, and
`ESCAPE` otherwise, or where the value would be a tail's. A cell that no boundary cuts has a value
of probability at least 2^-16, and those reach 24,110 from the middle at most: 16 bits hold them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.release.laws import Law

ESCAPE = -(1 << 15)
CELL_BITS = 16
BOUNDARY_BITS = 64


@dataclass(frozen=True)
class Table:
    """The cells, and floor(2^64 F_j) for the draws that escape them."""

    cells: NDArray[np.int16]
    boundaries: NDArray[np.uint64]


def build_table(law: Law) -> Table:
    """The table of ``law``; exact, since every entry follows from proven floors."""
    boundaries = np.array(law.floors(BOUNDARY_BITS), dtype=np.uint64)
    cut = np.unique(boundaries >> np.uint64(BOUNDARY_BITS - CELL_BITS)).astype(np.int64)
    starts = np.arange(1 << CELL_BITS, dtype=np.uint64) << np.uint64(BOUNDARY_BITS - CELL_BITS)
    # No boundary equals a cell's start: below it or not is a strict question.
    index = np.searchsorted(boundaries, starts, side="left")
    tail = (index == law.run) | (law.open_below & (index == 0))
    values = index - law.offset
    values[tail] = ESCAPE
    values[cut] = ESCAPE
    return Table(cells=values.astype(np.int16), boundaries=boundaries)
