"""The two halves of a sketch: the top, exact, and the body below it, thinned out.

The top keeps every score that few users exceed, with the number of users who have it.

In the body a score on level h stands for 2^h users. When a level holds ``width`` scores or more
they are sorted, and of every two neighbours one goes to the next level to stand for both. Whatever
score s is asked for, one such step changes the number of users above s by at most 2^h, up where the
larger of each two was taken, down where the smaller was; where all neighbours are equal, not at
all. Both sums are kept, so that the truth is always between the estimate less ``over`` and the
estimate plus ``under``.

A step on level h consumes at least width 2^h users, and each of n users passes each level at most
once: level h costs at most n / width, and only the levels below 1 + log2(n / width) can fill. So
over + under <= n (1 + floor(log2(n / width))) / width, whatever was merged with what, and when.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class BodyScores(NamedTuple):
    """All scores of a body, ascending, and how many users are at or above each place."""

    scores: NDArray[np.float64]
    at_least: NDArray[np.int64]


class ThinnedBody:
    """Scores on levels of doubling weight; see the module for what that costs."""

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

    def above(self, scores: NDArray[np.float64], *, strictly: bool) -> NDArray[np.int64]:
        """About how many users are above each of ``scores``, or at it as well."""
        outline = self._sorted()
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

    def _sorted(self) -> BodyScores:
        if self._outline is None:
            scores = np.concatenate([np.zeros(0), *self.levels])
            weights = np.repeat(
                np.int64(1) << np.arange(len(self.levels)), [level.size for level in self.levels]
            )
            order = np.argsort(scores, kind="stable")
            beyond = np.concatenate([np.cumsum(weights[order][::-1])[::-1], [0]])
            self._outline = BodyScores(scores[order], beyond.astype(np.int64))
        return self._outline
