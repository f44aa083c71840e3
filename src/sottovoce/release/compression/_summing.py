"""The kernels that sum the words of each column, a document at a time: no product of matrices."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel

_FAR_FEWER = 16


@kernel
def count_columns(
    starts: NDArray[np.integer],
    words: NDArray[np.integer],
    column: NDArray[np.int32],
    columns: Whole,
    first: Whole,
    last: Whole,
    sizes: NDArray[np.int64],
) -> None:
    """How many different columns each document from ``first`` to ``last`` has."""
    seen_in = np.full(columns, -1, np.int64)
    for row in range(first, last):
        size = 0
        for cell in range(starts[row], starts[row + 1]):
            own = column[words[cell]]
            size += seen_in[own] != row
            seen_in[own] = row
        sizes[row] = size


@kernel
def sum_columns(
    starts: NDArray[np.integer],
    words: NDArray[np.integer],
    counts: NDArray[np.int64],
    column: NDArray[np.int32],
    columns: Whole,
    first: Whole,
    last: Whole,
    begins: NDArray[np.int64],
    found: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> None:
    """The columns of each document, ascending, and their sums, from where ``begins`` says on."""
    total, is_in = np.zeros(columns, np.int64), np.zeros(columns, np.bool_)
    ascending = np.empty(columns + 1, np.int32)
    for row in range(first, last):
        begin, at, rising = begins[row], begins[row], True
        for cell in range(starts[row], starts[row + 1]):
            own = column[words[cell]]
            if not is_in[own]:
                is_in[own] = True
                rising &= at == begin or found[at - 1] < own
                found[at] = own
                at += 1
            total[own] += counts[cell]
        if not rising and columns < _FAR_FEWER * (at - begin):
            size = 0
            # Without a branch: which columns a document has cannot be foreseen.
            for own in range(columns):
                ascending[size] = own
                size += is_in[own]
            for place in range(size):
                found[begin + place] = ascending[place]
        elif not rising:
            found[begin:at] = np.sort(found[begin:at])
        for place in range(begin, at):
            own = found[place]
            sums[place], total[own], is_in[own] = total[own], 0, False
