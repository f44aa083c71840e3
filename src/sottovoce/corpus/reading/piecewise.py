"""A fast function on a whole array, a slow one only on the small pieces where it fails."""

from collections.abc import Callable

import pyarrow as pa

SMALLEST_PIECE = 32
ArrayFunction = Callable[[pa.Array], pa.Array]


def piecewise(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> pa.Array:
    """``fast(array)``, halving where it raises ArrowInvalid until ``slow`` takes the last piece."""
    return pa.concat_arrays(_pieces(array, fast, slow))


def _pieces(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> list[pa.Array]:
    try:
        return [fast(array)]
    except pa.ArrowInvalid:
        if len(array) <= SMALLEST_PIECE:
            return [slow(array)]
    middle = len(array) // 2
    return [*_pieces(array[:middle], fast, slow), *_pieces(array[middle:], fast, slow)]
