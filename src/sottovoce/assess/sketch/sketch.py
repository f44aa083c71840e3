"""Ranks without sorting a community: a small summary of its scores that merges.

The rank of a score is one more than the number of users who score higher, as in ``_ranking``; equal
scores share it. A sketch of parts, merged in any order and grouping, brackets every rank:

- the bracket always holds the true rank (there is no randomness, so no chance of failure);
- it is at most ``error`` times the number of users wide;
- a rank within the first ``exact`` share of the stated largest community is one number.

Memory: 16 bytes for each of the first ``exact * users`` different scores, and 8 bytes for about
log2(users / width) + 3 levels of ``width`` scores, where width is about
log2(users * error) / error.
"""

from fractions import Fraction
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.assess.sketch.body import ExactTop, ThinnedBody
from sottovoce.assess.sketch.encoding import Parts, Promise, fill, pack, unpack
from sottovoce.errors import InputError, ParameterError

Bracket = tuple[NDArray[np.int64], NDArray[np.int64]]

MOST_USERS = 1 << 48
_LEAST_ERROR = 1e-6
_PIECE = 1 << 20


class RankSketch:
    """Scores of at most ``users`` users, summarised.

    Ranks up to ``exact * users`` are exact; others are bracketed within ``error`` of all users.
    """

    def __init__(self, users: int, *, error: float = 0.001, exact: float = 0.01) -> None:
        self.users, self.error, self.exact = _checked(users, error, exact)
        room = Fraction(repr(self.exact)) * users
        self._top = ExactTop(-(-room.numerator // room.denominator))
        self._body = ThinnedBody(body_width(users, self.error))
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
        if (self.users, self.error, self.exact) != (other.users, other.error, other.exact):
            raise InputError(
                "sketches must be made for the same number of users, error and exact share; "
                f"got {_promise(self)} and {_promise(other)}."
            )
        other.settle()
        self._count_in(len(other))
        self._body.fold(other.body)
        self._body.add(*self._top.add_counted(other.top.values, other.top.counts))

    def ranks(self, scores: ArrayLike) -> Bracket:
        """Least and largest rank that a user with each of ``scores`` can have.

        The rank is 1 + how many score higher: 1, 2, 2, 4.
        """
        low, high = self._above(scores, strictly=True)
        return low + 1, high + 1

    def at_least(self, scores: ArrayLike) -> Bracket:
        """Least and largest number of users who score as high or higher: what bands go by."""
        return self._above(scores, strictly=False)

    def settle(self) -> None:
        """Sort in what waits for its turn; whoever looks inside calls it first."""
        self._body.add(*self._top.settle())

    @property
    def top(self) -> ExactTop:
        """The exact part."""
        return self._top

    @property
    def body(self) -> ThinnedBody:
        """The rest."""
        return self._body

    @property
    def widest(self) -> int:
        """No bracket is wider than this: ``error`` times the users so far, often far less."""
        return self._body.over + self._body.under

    def to_bytes(self) -> bytes:
        """As ``from_bytes`` reads it, on any machine."""
        self.settle()
        top, body = self._top, self._body
        promise = Promise(self.users, self.error, self.exact)
        numbers = (self._count, body.over, body.under)
        return pack(Parts(promise, *numbers, top.values, top.counts, body.levels))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The sketch that ``to_bytes`` wrote; anything else is refused."""
        try:
            parts = unpack(bytes(data))
            users, error, exact = parts.promise
            sketch = cls(users, error=error, exact=exact)
            fill(parts, sketch.top, sketch.body)
        except ValueError:
            raise InputError("these bytes are no sketch of ranks, or they are damaged.") from None
        sketch._count = parts.so_far
        return sketch

    def _add_piece(self, scores: NDArray[np.float64]) -> None:
        low = scores < self._top.threshold
        below = scores[low]
        self._body.add(below, np.ones(below.size, np.int64))
        self._body.add(*self._top.add(scores[~low]))

    def _count_in(self, more: int) -> None:
        if self._count + more > self.users:
            raise InputError(
                f"this sketch was made for at most {self.users} users, got {self._count + more}; "
                "make one for more."
            )
        self._count += more

    def _above(self, scores: ArrayLike, *, strictly: bool) -> Bracket:
        self.settle()
        asked = np.asarray(scores, np.float64).ravel()
        if np.isnan(asked).any():
            raise ParameterError("scores must be numbers, got some that are not.")
        top = self._top
        side: Literal["left", "right"] = "left" if strictly else "right"
        counted = np.concatenate([[0], np.cumsum(top.counts)])
        above = counted[np.searchsorted(-top.values, -asked, side=side)]
        about = self._body.above(asked, strictly=strictly)
        # A score of the top is above the whole body, where nothing was estimated.
        certain = (asked >= top.values[-1]) if top.values.size else np.zeros(asked.size, np.bool_)
        body = self._body.users
        low = np.where(certain, 0, np.clip(about - self._body.over, 0, body))
        high = np.where(certain, 0, np.clip(about + self._body.under, 0, body))
        return above + low, above + high


def body_width(users: int, error: float) -> int:
    """An even w with (1 + floor(log2(users / w))) / w <= error, little more than is needed.

    As many scores on a level keep what merging costs below ``error`` times the users; see ``body``.
    """
    width = 2
    while (users // width).bit_length() > error * width:
        width += max(2, width >> 6 << 1)
    return width


def _promise(sketch: RankSketch) -> str:
    return f"({sketch.users}, {sketch.error}, {sketch.exact})"


def _checked(users: int, error: float, exact: float) -> tuple[int, float, float]:
    if not 1 <= users <= MOST_USERS:
        raise ParameterError(f"users must be from 1 to {MOST_USERS}, got {users}.")
    if not _LEAST_ERROR <= error < 1:
        raise ParameterError(f"error must be >= {_LEAST_ERROR} and < 1, got {error}.")
    if not 0 <= exact <= 1:
        raise ParameterError(f"the exact share must be from 0 to 1, got {exact}.")
    return users, float(error), float(exact)
