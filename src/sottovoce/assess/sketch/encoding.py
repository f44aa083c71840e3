"""A sketch as bytes: a fixed head, the arrays, and a checksum; little-endian throughout.

Bytes from elsewhere are not trusted. ``unpack`` checks lengths and the checksum, ``fill`` what the
numbers must be, so that what was filled promises what it would have promised had it been made here.
Each check raises ``ValueError``.
"""

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.sketch.body import ExactTop, ThinnedBody

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


_TOO_MANY = 1 << 62


def fill(parts: Parts, top: ExactTop, body: ThinnedBody) -> None:
    """Fill an empty top and body; they must fit each other and the rest of ``parts``."""
    _fill_top(top, parts.values, parts.counts)
    _fill_body(body, parts)
    kept = int(top.counts.sum())
    if kept + body.users != parts.so_far or parts.so_far > parts.promise.users:
        raise ValueError("the numbers of users differ")
    if body.users and kept < top.room:
        raise ValueError("there was room in the top")
    if kept and any((level >= top.values[-1]).any() for level in body.levels):
        raise ValueError("the body reaches into the top")
    if body.over + body.under > parts.promise.error * parts.so_far:
        raise ValueError("its error is beyond its promise")


def _fill_top(top: ExactTop, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    if np.isnan(values).any() or not (values[1:] < values[:-1]).all():
        raise ValueError("the top does not fall")
    if (counts < 1).any() or sum(counts.tolist()) >= _TOO_MANY:
        raise ValueError("a score of no user, or of too many")
    if top.add_counted(values, counts)[0].size:
        raise ValueError("the top is too large")


def _fill_body(body: ThinnedBody, parts: Parts) -> None:
    for level in parts.levels:
        if level.size >= body.width or np.isnan(level).any():
            raise ValueError("a level is not as it is left")
    body.levels, body.over, body.under = list(parts.levels), parts.over, parts.under
