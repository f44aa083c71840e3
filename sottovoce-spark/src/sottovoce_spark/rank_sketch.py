"""Ranks without sorting a community: a small summary of its scores that merges.

The rank of a score is one more than the number of users who score higher. A sketch of parts, merged
in any order and grouping, brackets every rank:

- the bracket always holds the true rank (there is no randomness, so no chance of failure);
- it is at most ``error`` times the number of users wide;
- a rank within the first ``exact`` share of the stated largest community is one number.

Memory: 16 bytes for each of the first ``exact * users`` different scores, and 8 bytes for about
log2(users / width) + 3 levels of ``width`` scores, where width is about
log2(users * error) / error.
"""

import struct
import zlib
from fractions import Fraction
from typing import Literal, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError

_FEW = 1 << 16


class ExactTop:
    """Every score that fewer than ``room`` users exceed, with all its ties.

    A score that ``room`` users exceed in a part is exceeded by as many in the whole, so it may go;
    one that fewer exceed in the whole was kept in every part, with all its users. So tops merge
    exactly, whatever the parts and the order.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.values = np.zeros(0)
        """Different scores, the largest first."""
        self.counts = np.zeros(0, np.int64)
        """How many users have each."""
        self._waiting: list[NDArray[np.float64]] = []
        self._waiting_size = 0

    @property
    def threshold(self) -> float:
        """What is smaller is not kept, however little is waiting; -infinity while there is room."""
        full = int(self.counts.sum()) >= self.room
        return float(self.values[-1]) if full and self.values.size else -np.inf

    def add(self, scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in scores; those for which there is no room any more, with their counts."""
        if not self.room:
            return scores, np.ones(scores.size, np.int64)
        self._waiting.append(scores)
        self._waiting_size += scores.size
        return self.settle() if self._waiting_size >= max(_FEW, self.room) else _empty_scores()

    def settle(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Sort in what is waiting; what falls out."""
        if not self._waiting:
            return _empty_scores()
        values, counts = np.unique(np.concatenate(self._waiting), return_counts=True)
        self._waiting, self._waiting_size = [], 0
        return self.add_counted(values[::-1], counts[::-1].astype(np.int64))

    def add_counted(
        self, values: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Take in different scores with their counts; what falls out."""
        joined, places = np.unique(np.concatenate([self.values, values]), return_inverse=True)
        total = np.zeros(joined.size, np.int64)
        np.add.at(total, places, np.concatenate([self.counts, counts]))
        joined, total = joined[::-1], total[::-1]
        kept = int(np.searchsorted(np.cumsum(total) - total, self.room, side="left"))
        self.values, self.counts = joined[:kept].copy(), total[:kept].copy()
        return joined[kept:], total[kept:]


def _empty_scores() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.zeros(0), np.zeros(0, np.int64)


class BodyScores(NamedTuple):
    """All scores of a body, ascending, and how many users are at or above each place."""

    scores: NDArray[np.float64]
    at_least: NDArray[np.int64]


class ThinnedBody:
    """Scores on levels of doubling weight.

    A score on level h stands for 2^h users. A level of ``width`` scores is sorted, and of every two
    neighbours one goes up to stand for both. That changes the number of users above any score by at
    most 2^h: up where the larger was taken, down where the smaller was. Both sums are kept, so the
    truth is between the estimate less ``over`` and the estimate plus ``under``. Level h costs at
    most n / width, and only levels below 1 + log2(n / width) fill; so, in whatever order sketches
    are merged, over + under <= n (1 + floor(log2(n / width))) / width.
    """

    def __init__(self, width: int) -> None:
        self.width = width
        self.levels: list[NDArray[np.float64]] = []
        self.over = 0
        self.under = 0
        self._outline: BodyScores | None = None

    @property
    def users(self) -> int:
        """How many users the body stands for."""
        return sum(level.size << height for height, level in enumerate(self.levels))

    def add(self, scores: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        """Take in scores; one of many users goes to the levels of its count's binary digits."""
        if not scores.size:
            return
        for height in range(int(counts.max()).bit_length()):
            self._put(height, scores[(counts >> height) & 1 == 1])
        self._thin()

    def fold(self, other: "ThinnedBody") -> None:
        """Take in another body."""
        for height, level in enumerate(other.levels):
            self._put(height, level)
        self.over += other.over
        self.under += other.under
        self._thin()

    def count_above(self, scores: NDArray[np.float64], *, strictly: bool) -> NDArray[np.int64]:
        """About how many users are above each of ``scores``, or at it as well."""
        outline = self._sort_scores()
        side: Literal["left", "right"] = "right" if strictly else "left"
        return outline.at_least[np.searchsorted(outline.scores, scores, side=side)]

    def _put(self, height: int, scores: NDArray[np.float64]) -> None:
        self._outline = None
        while len(self.levels) <= height:
            self.levels.append(np.zeros(0))
        self.levels[height] = np.concatenate([self.levels[height], scores])

    def _thin(self) -> None:
        height = 0
        while height < len(self.levels):
            if self.levels[height].size >= self.width:
                self._thin_level(height)
            height += 1

    def _thin_level(self, height: int) -> None:
        scores = np.sort(self.levels[height])
        paired = scores.size - scores.size % 2
        self.levels[height] = scores[paired:]
        smaller, larger = scores[:paired:2], scores[1:paired:2]
        up = self.over <= self.under
        self._put(height + 1, larger if up else smaller)
        if not np.array_equal(smaller, larger):
            self.over += up << height
            self.under += (not up) << height

    def _sort_scores(self) -> BodyScores:
        if self._outline is None:
            scores = np.concatenate([np.zeros(0), *self.levels])
            weights = np.repeat(
                np.int64(1) << np.arange(len(self.levels)), [level.size for level in self.levels]
            )
            order = np.argsort(scores, kind="stable")
            beyond = np.concatenate([np.cumsum(weights[order][::-1])[::-1], [0]])
            self._outline = BodyScores(scores[order], beyond.astype(np.int64))
        return self._outline


class _Record(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """A sketch as bytes; arrays have 8 bytes a number, the least first."""

    promise: tuple[int, float, float]
    users: int
    over: int
    under: int
    values: bytes
    counts: bytes
    levels: list[bytes]


_MAGIC = b"SVRANK02"
_SUM = struct.Struct("<I")
Bracket = tuple[NDArray[np.int64], NDArray[np.int64]]

MOST_USERS = 1 << 48
_LEAST_ERROR = 1e-6
_PIECE = 1 << 20


class RankSketch:
    """Scores of at most ``users`` users, summarised.

    Ranks up to ``exact * users`` are exact; others are bracketed within ``error`` of all users.
    """

    def __init__(self, users: int, *, error: float = 0.001, exact: float = 0.01) -> None:
        self.users, self.error, self.exact = _check_promise(users, error, exact)
        self.promise = (self.users, self.error, self.exact)
        room = Fraction(repr(self.exact)) * users
        self.top = ExactTop(-(-room.numerator // room.denominator))
        self.body = ThinnedBody(body_width(users, self.error))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, scores: ArrayLike) -> None:
        """Take in the scores of users who were not taken in before."""
        given = np.asarray(scores, np.float64).ravel()
        if np.isnan(given).any():
            raise ParameterError("scores must be numbers, got some that are not.")
        self._count_in(given.size)
        for start in range(0, given.size, _PIECE):
            # Adding 0 turns -0.0 into 0.0, so that bytes agree where values do.
            self._add_piece(given[start : start + _PIECE] + 0.0)

    def merge(self, other: "RankSketch") -> None:
        """Take in the sketch of other users."""
        if self.promise != other.promise:
            raise InputError(
                "sketches must be made for the same number of users, error and exact share; "
                f"got {self.promise} and {other.promise}."
            )
        other.settle()
        self._count_in(len(other))
        self.body.fold(other.body)
        self.body.add(*self.top.add_counted(other.top.values, other.top.counts))

    def ranks(self, scores: ArrayLike) -> Bracket:
        """Least and largest rank that a user with each of ``scores`` can have.

        The rank is 1 + how many score higher: 1, 2, 2, 4.
        """
        low, high = self._count_above(scores, strictly=True)
        return low + 1, high + 1

    def at_least(self, scores: ArrayLike) -> Bracket:
        """Least and largest number of users who score as high or higher: what bands go by."""
        return self._count_above(scores, strictly=False)

    def settle(self) -> None:
        """Sort in what waits for its turn; whoever looks inside calls it first."""
        self.body.add(*self.top.settle())

    @property
    def widest(self) -> int:
        """No bracket is wider than this: ``error`` times the users so far, often far less."""
        return self.body.over + self.body.under

    def to_bytes(self) -> bytes:
        """As ``from_bytes`` reads it, on any machine."""
        self.settle()
        top, body = self.top, self.body
        arrays = [each.astype("<f8").tobytes() for each in (top.values, *body.levels)]
        counts = top.counts.astype("<i8").tobytes()
        numbers = (self.promise, self._count, body.over, body.under)
        data = _MAGIC + msgspec.msgpack.encode(_Record(*numbers, arrays[0], counts, arrays[1:]))
        return data + _SUM.pack(zlib.crc32(data))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The sketch that ``to_bytes`` wrote; anything else is refused."""
        body, told = bytes(data[: -_SUM.size]), bytes(data[-_SUM.size :])
        damaged = InputError("these bytes are no sketch of ranks, or they are damaged.")
        if not body.startswith(_MAGIC) or told != _SUM.pack(zlib.crc32(body)):
            raise damaged
        try:
            record = msgspec.msgpack.decode(body[len(_MAGIC) :], type=_Record)
            users, error, exact = record.promise
            sketch = cls(users, error=error, exact=exact)
            values, *levels = (
                np.frombuffer(each, "<f8").astype(np.float64)
                for each in (record.values, *record.levels)
            )
            sketch.top.values = values
            sketch.top.counts = np.frombuffer(record.counts, "<i8").astype(np.int64)
            sketch.body.levels = levels
            sketch.body.over, sketch.body.under = record.over, record.under
            sketch._count = record.users
            sketch._refuse_impossible()
        except (ValueError, RecursionError, msgspec.MsgspecError):
            raise damaged from None
        return sketch

    def _refuse_impossible(self) -> None:
        """Refuse parts that no scores make: what is accepted keeps its promise."""
        top, body = self.top, self.body
        kept, whole = sum(top.counts.tolist()), body.users
        sound = (
            top.values.size == top.counts.size
            and bool((top.counts >= 1).all())
            and (not kept or kept - int(top.counts[-1]) < top.room)
            and (not whole or kept >= top.room)
            and kept + whole == self._count <= self.users
            and min(body.over, body.under) >= 0
            and body.over + body.under <= self.error * self._count
            and all(level.size < body.width for level in body.levels)
            and not any(np.isnan(each).any() for each in (top.values, *body.levels))
            and bool((top.values[1:] < top.values[:-1]).all())
            and (not kept or all((level < top.values[-1]).all() for level in body.levels))
        )
        if not sound:
            raise ValueError("the parts do not fit each other")

    def _add_piece(self, scores: NDArray[np.float64]) -> None:
        low = scores < self.top.threshold
        below = scores[low]
        self.body.add(below, np.ones(below.size, np.int64))
        self.body.add(*self.top.add(scores[~low]))

    def _count_in(self, more: int) -> None:
        if self._count + more > self.users:
            raise InputError(
                f"this sketch was made for at most {self.users} users, got {self._count + more}; "
                "make one for more."
            )
        self._count += more

    def _count_above(self, scores: ArrayLike, *, strictly: bool) -> Bracket:
        self.settle()
        asked = np.asarray(scores, np.float64).ravel()
        if np.isnan(asked).any():
            raise ParameterError("scores must be numbers, got some that are not.")
        top = self.top
        side: Literal["left", "right"] = "left" if strictly else "right"
        counted = np.concatenate([[0], np.cumsum(top.counts)])
        above = counted[np.searchsorted(-top.values, -asked, side=side)]
        about = self.body.count_above(asked, strictly=strictly)
        # A score of the top is above the whole body, where nothing was estimated.
        certain = (asked >= top.values[-1]) if top.values.size else np.zeros(asked.size, np.bool_)
        body = self.body.users
        low = np.where(certain, 0, np.clip(about - self.body.over, 0, body))
        high = np.where(certain, 0, np.clip(about + self.body.under, 0, body))
        return above + low, above + high


def body_width(users: int, error: float) -> int:
    """An even w with (1 + floor(log2(users / w))) / w <= error, little more than is needed.

    As many scores on a level keep what merging costs below ``error`` times the users; see ``body``.
    """
    width = 2
    while (users // width).bit_length() > error * width:
        width += max(2, width >> 6 << 1)
    return width


def _check_promise(users: int, error: float, exact: float) -> tuple[int, float, float]:
    if not 1 <= users <= MOST_USERS:
        raise ParameterError(f"users must be from 1 to {MOST_USERS}, got {users}.")
    if not _LEAST_ERROR <= error < 1:
        raise ParameterError(f"error must be >= {_LEAST_ERROR} and < 1, got {error}.")
    if not 0 <= exact <= 1:
        raise ParameterError(f"the exact share must be from 0 to 1, got {exact}.")
    return users, float(error), float(exact)
