"""Persistence: who comes back to a topic is more than curious; alone, and less breadth."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.assess.measures.breadth import LESS_BREADTH, find_breadth_of_others
from sottovoce.assess.measures.measure import Measure, Scores, measure_space, on_grid
from sottovoce.assess.setting import Setting
from sottovoce.compiled import kernel

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State

_LASTING = ", over several weeks"
_LIFTS = {
    "bow": ((10, 0.41), (5.9, 0.20), (4.6, 0.14)),
    "voice": ((6.5, 0.47), (5.9, 0.17), (4.5, 0.12)),
    "voice-s": ((8.9, 0.43), (5.7, 0.17), (4.3, 0.12)),
}
_LIFTS_LESS_BREADTH = {
    "bow": ((1.1, 0.75), (2.5, 0.32), (2.3, 0.19)),
    "voice": ((2.9, 0.56), (2.4, 0.24), (2.1, 0.18)),
}


def time_aware_risk(best: Scores) -> Scores:
    """The mean of the m highest strengths per time bucket, for all users at once.

    R-Susceptibility, Definition 8. ``best`` is users x m, 0 for buckets a user does not have.
    Range [-1, 1].
    """
    mean = np.zeros(len(best))
    _add_up(best, mean)
    return mean


def domain_time_aware_risk(best: Scores, breadth: Scores) -> Scores:
    """The time-aware risk less the breadth of interest over all posts, for all users at once.

    R-Susceptibility, Definition 9. "D - X" is printed over a set of vectors and undefined as such;
    it is read as the domain's topics without X, in paper mode too. Range [-2, 2].
    """
    return time_aware_risk(best) - breadth


@kernel
def _add_up(best: Scores, mean: Scores) -> None:
    """Bucket after bucket, so that the bits do not depend on how a row is summed."""
    buckets = best.shape[1]
    for bucket in range(buckets):
        for user in range(mean.size):
            mean[user] += best[user, bucket]
    for user in range(mean.size):
        mean[user] /= buckets


def measure_persistence(space: str, *, less_breadth: bool = False) -> Measure:
    """The measure that is called SPACE-t, or SPACE-dt."""
    if less_breadth:
        lifts = _LIFTS_LESS_BREADTH.get(space, ())
        wording = _LASTING + LESS_BREADTH
        return measure_space(score_lasting_without_breadth, space, wording, lifts, buckets=True)
    return measure_space(score_lasting, space, _LASTING, _LIFTS.get(space, ()), buckets=True)


def score_lasting(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    """Topics x users: the time-aware risk."""
    best = (state.best(space, topic, setting.m) for topic in topics)
    return on_grid(np.array([time_aware_risk(each) for each in best]))


def score_lasting_without_breadth(
    space: str, state: "State", topics: Sequence[str], setting: Setting
) -> Scores:
    """Topics x users: the time-aware risk less the breadth of interest in other topics."""
    best = (state.best(space, topic, setting.m) for topic in topics)
    breadths = find_breadth_of_others(space, state, topics, setting)
    pairs = zip(best, breadths, strict=True)
    return on_grid(np.array([domain_time_aware_risk(*each) for each in pairs]))
