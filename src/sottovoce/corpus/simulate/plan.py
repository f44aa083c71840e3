"""The plan of a community's posts: who, when, about what and how, one entry per post."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALL_TALK, DIRECTLY, INDIRECTLY = range(3)


@dataclass(frozen=True)
class Plan:
    """``second`` counts from the start; ``subject`` of small talk is of no consequence.

    ``topical`` posts are those a user's role makes her write; ``mentions`` are in passing.
    """

    user: NDArray[np.int64]
    second: NDArray[np.int64]
    subject: NDArray[np.int64]
    style: NDArray[np.int64]
    mentions: NDArray[np.bool_]
    topical: NDArray[np.bool_]

    def ordered(self) -> "Plan":
        """Sort by time, then by user."""
        order = np.lexsort((self.user, self.second))
        return Plan(
            self.user[order],
            self.second[order],
            self.subject[order],
            self.style[order],
            self.mentions[order],
            self.topical[order],
        )
