"""Columns of any string-like type as valid UTF-8.

A fast function on a whole array, a slow one only on the small pieces where it fails.
"""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

PIECES, SMALLEST_PIECE = 16, 128
ArrayFunction = Callable[[pa.Array], pa.Array]


def piecewise(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> pa.Array:
    """``fast(array)``, cut up where it raises ArrowInvalid until ``slow`` takes the last pieces."""
    pieces = _pieces(array, fast, slow)
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)


def _pieces(array: pa.Array, fast: ArrayFunction, slow: ArrayFunction) -> list[pa.Array]:
    try:
        return [fast(array)]
    except pa.ArrowInvalid:
        if len(array) <= SMALLEST_PIECE:
            return [slow(array)]
    step = -(-len(array) // PIECES)
    cuts = [array[start : start + step] for start in range(0, len(array), step)]
    return [piece for cut in cuts for piece in _pieces(cut, fast, slow)]


def as_bytes(array: pa.Array) -> pa.Array:
    """Strings, bytes, integers, booleans and dictionaries of them as one binary array."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return as_bytes(array.dictionary).take(array.indices)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        array = array.cast(pa.string())
    return array.cast(pa.binary())


def repaired(encoded: pa.Array) -> pa.Array:
    """As strings; bytes that are no UTF-8 become U+FFFD, as ``errors="replace"`` does."""
    return piecewise(encoded, _valid, lambda piece: _decoded(piece, _replacing))


def strict(encoded: pa.Array) -> pa.Array:
    """As strings; a value that is no UTF-8 becomes null."""
    return piecewise(encoded, _valid, lambda piece: _decoded(piece, _or_none))


def _valid(encoded: pa.Array) -> pa.Array:
    return encoded.cast(pa.string())


def _decoded(encoded: pa.Array, decode: Callable[[bytes], str | None]) -> pa.Array:
    values = [None if value is None else decode(value) for value in encoded.to_pylist()]
    return pa.array(values, pa.string())


def _replacing(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _or_none(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def byte_lengths(array: pa.Array) -> pa.Array:
    """How many bytes each value takes once expanded; 0 for null and for what is no string."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return byte_lengths(array.dictionary).take(array.indices).fill_null(0)
    if not is_string_like(kind):
        return pa.repeat(pa.scalar(0, pa.int64()), len(array))
    return pc.binary_length(without_views(array)).cast(pa.int64()).fill_null(0)


def without_views(array: pa.Array) -> pa.Array:
    """String views, for which Arrow lacks many functions, as plain bytes."""
    if pa.types.is_dictionary(array.type):
        values = without_views(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, values)
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    return array


def is_string_like(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
            pa.types.is_binary,
            pa.types.is_large_binary,
            pa.types.is_binary_view,
        )
    )
