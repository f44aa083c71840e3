"""A sketch as bytes: a fixed head, the arrays, and a checksum; little-endian throughout.

``unpack`` only knows lengths and the checksum; what the numbers must be is for ``filling``.
"""

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MAGIC = b"SVRANK01"
# users, error, exact, users so far, over, under, different scores in the top, levels
_HEAD = struct.Struct("<8sQddQQQQB")
_SUM = struct.Struct("<I")
_BYTES = 8


class Promise(NamedTuple):
    """What a sketch was made for."""

    users: int
    error: float
    exact: float


class Parts(NamedTuple):
    """All there is to know of a sketch."""

    promise: Promise
    so_far: int
    over: int
    under: int
    values: NDArray[np.float64]
    counts: NDArray[np.int64]
    levels: list[NDArray[np.float64]]


def pack(parts: Parts) -> bytes:
    """The bytes that ``unpack`` reads."""
    numbers = (parts.so_far, parts.over, parts.under)
    head = _HEAD.pack(_MAGIC, *parts.promise, *numbers, parts.values.size, len(parts.levels))
    sizes = np.array([level.size for level in parts.levels], "<u8")
    values = np.concatenate([parts.values, *parts.levels]).astype("<f8")
    data = b"".join([head, sizes.tobytes(), parts.counts.astype("<i8").tobytes(), values.tobytes()])
    return data + _SUM.pack(zlib.crc32(data))


def unpack(data: bytes) -> Parts:
    """The parts that ``pack`` was given; ``ValueError`` where the bytes cannot be such."""
    if len(data) < _HEAD.size + _SUM.size:
        raise ValueError("cut short")
    magic, users, error, exact, *numbers, different, height = _HEAD.unpack_from(data)
    if magic != _MAGIC or _SUM.unpack(data[-_SUM.size :])[0] != zlib.crc32(data[: -_SUM.size]):
        raise ValueError("another kind of file, or damaged")
    words = data[_HEAD.size : -_SUM.size]
    if len(words) < _BYTES * height:
        raise ValueError("cut short")
    sizes = _array(words[: _BYTES * height], "<u8").tolist()
    if len(words) != _BYTES * (height + 2 * different + sum(sizes)):
        raise ValueError("its length is wrong")
    ends = _BYTES * (height + different)
    counts = _array(words[_BYTES * height : ends], "<i8")
    values = _array(words[ends:], "<f8")
    top, *levels = np.split(values, np.cumsum([different, *sizes]))[:-1]
    count, over, under = numbers
    return Parts(Promise(users, error, exact), count, over, under, top, counts, levels)


def _array(part: bytes, kind: str) -> NDArray[Any]:
    return np.frombuffer(part, kind).astype(kind[1:])
