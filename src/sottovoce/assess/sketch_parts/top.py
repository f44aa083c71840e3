"""The largest scores of a community, each with the number of users who have it."""

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
