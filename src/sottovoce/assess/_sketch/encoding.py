"""A sketch as bytes: a fixed head, the arrays, and a checksum; little-endian throughout.

``unpack`` only knows lengths and the checksum; what the numbers must be is for ``filling``.

The largest scores of a community, each with the number of users who have it.

Filling a sketch with numbers from elsewhere, none of which is trusted.

What was filled promises what it would have promised had it been made here. Each check raises
``ValueError``.
"""

import struct
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess._sketch.body import ThinnedBody

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


_FEW = 1 << 16


class ExactTop:
    """Every score that fewer than ``room`` users exceed, with all its ties.

    A score that ``room`` users exceed in a part is exceeded by as many in the whole, so it may go;
    one that fewer exceed in the whole was kept in every part, with all its users. So tops merge
    exactly, whatever the parts and the order.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self._values = np.zeros(0)
        self._counts = np.zeros(0, np.int64)
        self._waiting: list[NDArray[np.float64]] = []
        self._waiting_size = 0

    @property
    def values(self) -> NDArray[np.float64]:
        """Different scores, the largest first."""
        return self._values

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many users have each."""
        return self._counts

    @property
    def threshold(self) -> float:
        """What is smaller is not kept, however little is waiting; -infinity while there is room."""
        full = int(self._counts.sum()) >= self.room
        return float(self._values[-1]) if full and self._values.size else -np.inf

    def add(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in scores; those for which there is no room any more, with their counts."""
        if not self.room:
            return scores, np.ones(scores.size, np.int64)
        self._waiting.append(scores)
        self._waiting_size += scores.size
        return self.settle() if self._waiting_size >= max(_FEW, self.room) else _nothing()

    def settle(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sort in what is waiting; what falls out."""
        if not self._waiting:
            return _nothing()
        values, counts = np.unique(np.concatenate(self._waiting), return_counts=True)
        self._waiting, self._waiting_size = [], 0
        return self.add_counted(values[::-1], counts[::-1].astype(np.int64))

    def add_counted(
        self, values: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in different scores with their counts; what falls out."""
        joined, places = np.unique(np.concatenate([self._values, values]), return_inverse=True)
        total = np.zeros(joined.size, np.int64)
        np.add.at(total, places, np.concatenate([self._counts, counts]))
        joined, total = joined[::-1], total[::-1]
        kept = int(np.searchsorted(np.cumsum(total) - total, self.room, side="left"))
        self._values, self._counts = joined[:kept].copy(), total[:kept].copy()
        return joined[kept:], total[kept:]


def _nothing() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.zeros(0), np.zeros(0, np.int64)


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
