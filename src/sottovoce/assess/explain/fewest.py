"""The fewest posts whose removal takes a user out of their band.

By a measure without breadth the score is the mean of the m best time buckets, each by its strongest
post (or the one strongest post of all). Whoever is to score at most t must have best buckets that
sum to at most m t. The m largest of numbers x sum to

    min over l of  m l + sum of max(x - l, 0),

where the minimum is at the m-th largest x. So for each l, a post's strength or 0, the fewest posts
are sought whose removal leaves an excess over l of at most m t - m l: from each bucket so many of
the strongest, by dynamic programming over buckets and numbers of posts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.assess.measures.catalogue import Measure
from sottovoce.assess.ranking import BANDS, REST
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.state import State

MOST_WORK = 200_000
"""Numbers of posts times levels that are tried; beyond, the set is not proved to be smallest."""
# Scores are put on a grid of 2^-40; a sum that rounds down to the limit is within it.
_SLACK = 2.0**-41


@dataclass(frozen=True)
class BandExit:
    """Posts without which the user would no longer be in their band."""

    band: str
    posts: tuple[int, ...]
    smallest: bool
    """Whether no smaller set of posts would do."""


def band_of(score: float, others: Floats) -> str:
    """The band of a user who scores so among ``others``."""
    at_least = 1 + int((others >= score).sum())
    users = others.size + 1
    return next((f"top {p}%" for p in BANDS if at_least * 100 <= p * users), REST)


def band_held(state: State, row: int, topic: str, measure: Measure, setting: Setting) -> str:
    """The band of the user at ``row``; where nobody has evidence nobody is in one."""
    if not measure.evident(state, topic).any():
        return REST
    scores = measure.score(state, topic, setting)
    return band_of(float(scores[row]), np.delete(scores, row))


def highest_outside(band: str, others: Floats) -> float | None:
    """The highest score that is not in ``band`` nor in a narrower one; None: any is."""
    percent = next(p for p in BANDS if f"top {p}%" == band)
    needed = percent * (others.size + 1) // 100
    ordered = np.sort(others)[::-1]
    return float(ordered[needed - 1]) if 1 <= needed <= ordered.size else None


def fewest_posts(
    strengths: Floats, buckets: NDArray[np.int64], m: int, limit: float
) -> tuple[NDArray[np.int64], bool]:
    """Places of the fewest posts without which the m best buckets average at most ``limit``.

    And whether that is proved: with very many posts it is only a set that will do.
    """
    lines = _by_bucket(strengths, buckets)
    allowed = m * (limit + _SLACK)
    best = [int((strengths[line] > limit).sum()) for line in lines]
    levels = _levels(strengths, limit)
    proved = len(levels) * sum(len(line) for line in lines) <= MOST_WORK
    for level in levels if proved else ():
        found = _at_level(strengths, lines, level, allowed - m * level, sum(best) - 1)
        best = best if found is None else found
    chosen = [line[:count] for line, count in zip(lines, best, strict=True)]
    return np.concatenate([np.zeros(0, np.int64), *chosen]), proved


def _by_bucket(strengths: Floats, buckets: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The posts of each bucket that say anything, the strongest first."""
    order = np.argsort(-strengths, kind="stable")
    order = order[strengths[order] > 0]
    return [order[buckets[order] == each] for each in np.unique(buckets[order])]


def _levels(strengths: Floats, limit: float) -> list[float]:
    below = np.unique(strengths[(strengths > 0) & (strengths <= limit)])
    return [max(limit, 0.0), *below[::-1].tolist(), 0.0]


def _at_level(
    strengths: Floats, lines: list[NDArray[np.int64]], level: float, room: float, most: int
) -> list[int] | None:
    """How many of each bucket, at most ``most`` in all, so that the excess has room."""
    if room < 0 or most < 0:
        return None
    least = np.full(most + 1, np.inf)
    least[0] = 0.0
    choices = []
    for line in lines:
        over = strengths[line][strengths[line] > level] - level
        excess = np.append(over, 0.0)
        options = np.full((excess.size, most + 1), np.inf)
        for count in range(min(excess.size, most + 1)):
            options[count, count:] = least[: most + 1 - count] + excess[count]
        choices.append(options.argmin(axis=0))
        least = options.min(axis=0)
    enough = np.flatnonzero(least <= room)
    return _traced(choices, int(enough[0])) if enough.size else None


def _traced(choices: list[NDArray[np.int64]], removed: int) -> list[int]:
    counts = []
    for chosen in reversed(choices):
        counts.append(int(chosen[removed]))
        removed -= counts[-1]
    return counts[::-1]
