"""Sums in a fixed order that a processor can do side by side."""

from typing import TYPE_CHECKING

import numba
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sottovoce.compiled import Whole

Floats = NDArray[np.float64]
LANES = 8

if TYPE_CHECKING:

    def lane_sum(values: Floats, size: Whole) -> float: ...

    def lane_dot(vectors: NDArray[np.float32], one: Whole, other: Whole, size: Whole) -> float: ...

else:
    # Put into its caller: a call for each word would count references to the array.
    @numba.njit(inline="always")
    def lane_sum(values, size):  # noqa: ANN001, ANN201 - see above
        """The sum of the first ``size`` values: eight lanes, then the lanes, then the rest."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += values[at]
            b += values[at + 1]
            c += values[at + 2]
            d += values[at + 3]
            e += values[at + 4]
            f += values[at + 5]
            g += values[at + 6]
            h += values[at + 7]
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += values[at]
        return total

    @numba.njit(inline="always")
    def lane_dot(vectors, one, other, size):  # noqa: ANN001, ANN201 - see above
        """The inner product of two rows, in double precision, in the order of `lane_sum`."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
            b += np.float64(vectors[one, at + 1]) * np.float64(vectors[other, at + 1])
            c += np.float64(vectors[one, at + 2]) * np.float64(vectors[other, at + 2])
            d += np.float64(vectors[one, at + 3]) * np.float64(vectors[other, at + 3])
            e += np.float64(vectors[one, at + 4]) * np.float64(vectors[other, at + 4])
            f += np.float64(vectors[one, at + 5]) * np.float64(vectors[other, at + 5])
            g += np.float64(vectors[one, at + 6]) * np.float64(vectors[other, at + 6])
            h += np.float64(vectors[one, at + 7]) * np.float64(vectors[other, at + 7])
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
        return total
