"""A ranking whose users may share a score: what every metric here is computed from.

A metric of a ranking with ties is its mean over all orders of the tied users. Common tools break
ties by name instead, so that a community in which all score alike gets a 0 or a 1 by the alphabet.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.errors import InputError


@dataclass(frozen=True, eq=False)
class TieOrder:
    """Users by falling score: ``users`` are their places, ``starts`` where each tie begins."""

    users: Integers
    starts: Integers

    def totals(self, values: NDArray[np.generic]) -> Floats:
        """The sum of each tie, the highest first; the last axis of ``values`` runs over users."""
        ordered = np.asarray(values, dtype=np.float64)[..., self.users]
        return np.add.reduceat(ordered, self.starts, axis=-1)

    def shared(self, values: Floats) -> Floats:
        """What each user gets when each tie's value is given to all its users."""
        lengths = np.diff(self.starts, append=len(self.users))
        result = np.empty(len(self.users))
        result[self.users] = np.repeat(values, lengths)
        return result


@dataclass(frozen=True, eq=False)
class TiedRanking:
    """Ties from the highest score to the lowest, on the last axis; axes before it are repetitions.

    A tie may be empty: a bootstrap may draw none of its users.
    """

    size: Floats
    """Users in each tie."""
    relevant: Floats
    """Of these, the sensitive ones."""
    gain: Floats
    """The sum of their grades."""

    @property
    def above(self) -> Floats:
        """Users ranked above each tie."""
        return np.cumsum(self.size, axis=-1) - self.size

    def share_within(self, cutoff: Floats | float) -> Floats:
        """The share of each tie that stands within the first ``cutoff`` places, on average."""
        places = np.clip(np.asarray(cutoff)[..., None] - self.above, 0.0, self.size)
        return places / np.maximum(self.size, 1.0)


def tie_order(scores: Floats) -> TieOrder:
    """Sort users by falling score and find where the score changes."""
    if len(scores) < 1:
        raise InputError("a ranking needs at least 1 user, got none.")
    if np.isnan(scores).any():
        raise InputError(
            f"scores must be numbers, got {int(np.isnan(scores).sum())} that are not (NaN)."
        )
    users = np.argsort(-scores, kind="stable")
    ordered = scores[users]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return TieOrder(users, starts)


def tied_ranking(scores: Floats, sensitive: Flags, grades: Floats | None = None) -> TiedRanking:
    """The ranking of users by ``scores``; without ``grades`` the sensitive ones have grade 1."""
    order = tie_order(scores)
    gains = np.asarray(sensitive, dtype=np.float64) if grades is None else grades
    return TiedRanking(
        order.totals(np.ones(len(scores))), order.totals(sensitive), order.totals(gains)
    )
