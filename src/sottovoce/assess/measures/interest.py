"""Measures of a vector space: strength of interest, less its breadth, and its persistence.

Strength is how close the closest post comes to the topic. Who is drawn to the whole domain is
perhaps there by profession, and who comes back is more than curious.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.measure import Measure, Scores, measure_space, on_grid
from sottovoce.assess.setting import Setting
from sottovoce.compiled import kernel

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State

_LIFTS_OF_STRENGTH = {
    "bow": ((7.5, 0.52), (5.7, 0.25), (3.9, 0.19)),
    "voice": ((5.6, 0.53), (3.8, 0.20), (3.8, 0.13)),
    "voice-s": ((4.6, 0.57), (3.8, 0.21), (3.5, 0.14)),
}


def strength_risk(strongest: Scores, topic: int) -> Scores:
    """The largest cos(P, X) over a user's posts, for all users at once.

    R-Susceptibility, Definition 5, of the user vectors of R-Susceptibility, Definition 4.
    ``strongest`` is users x topics, the maxima over all posts. Range [-1, 1].
    """
    return strongest[:, topic].copy()


def score_strength(space: str, state: "State", topics: Sequence[str], _setting: Setting) -> Scores:
    """Topics x users: the strength of interest."""
    strongest = state.strongest(space)
    return np.array([strength_risk(strongest, state.column(topic)) for topic in topics])


def measure_strength(space: str) -> Measure:
    """The measure that is called as its space."""
    return measure_space(score_strength, space, "", _LIFTS_OF_STRENGTH.get(space, ()))


LESS_BREADTH = ", less what they write about neighbouring topics"
_LIFTS_OF_BREADTH = {
    "bow": ((2, 0.76), (2.1, 0.41), (2.1, 0.21)),
    "voice": ((2.1, 0.65), (1.8, 0.28), (1.7, 0.20)),
}


def domain_aware_risk(strength: Scores, breadth: Scores) -> Scores:
    """Strength of interest less the breadth of interest in the topic's domain, for all users.

    R-Susceptibility, Definition 7. Range [-2, 2].
    """
    return strength - breadth


def breadth_of_interest(domain: Scores, *, k: float) -> Scores:
    """The ceil(k |D|)-th largest strength over the topics of a domain, a row for each user.

    R-Susceptibility, Definition 6, as it enters Definitions 7 and 9: ``domain`` is users x topics
    of the domain, each the maximum over all of the user's posts. 0 where there is no other topic.
    """
    users, topics = domain.shape
    if topics == 0:
        return np.zeros(users)
    largest = rank_in_domain(topics, k=k)
    return np.partition(domain, topics - largest, axis=1)[:, topics - largest]


class BreadthOfOthers(NamedTuple):
    """The breadth of interest in a domain less one of its topics, whichever that is.

    The ceil(k (|D| - 1))-th largest strength of a domain without X is, where X is weaker than that
    of the whole domain, this one, and else the next largest: so each user is sorted once, and not
    once for each topic.
    """

    largest: Scores
    following: Scores

    @classmethod
    def of_domain(cls, domain: Scores, *, k: float) -> "BreadthOfOthers":
        """``domain`` is users x topics of the whole domain."""
        users, topics = domain.shape
        if topics == 1:
            return cls(np.zeros(users), np.zeros(users))
        place = topics - rank_in_domain(topics - 1, k=k)
        ordered = np.partition(domain, (place - 1, place), axis=1)
        return cls(ordered[:, place].copy(), ordered[:, place - 1].copy())

    def exclude(self, strength: Scores) -> Scores:
        """The breadth without the topic in which users have this strength, a row for each topic."""
        breadth = np.empty(strength.shape)
        rows = np.atleast_2d(strength)
        _exclude(rows, self.largest, self.following, breadth.reshape(rows.shape))
        return breadth


def rank_in_domain(topics: int, *, k: float) -> int:
    """ceil(k |D|), with k as it is written: 0.1 of 30 topics are 3, though 0.1 * 30 > 3."""
    return math.ceil(Fraction(repr(float(k))) * topics)


def domain_columns(domains: Sequence[str], topic: int, *, with_itself: bool) -> NDArray[np.int64]:
    """The columns of the topics in the domain of ``topic``."""
    return np.array(
        [
            column
            for column, domain in enumerate(domains)
            if domain == domains[topic] and (with_itself or column != topic)
        ],
        np.int64,
    )


# One long step instead of several, as rankings on several threads take turns between steps.
@kernel
def _exclude(strength: Scores, largest: Scores, following: Scores, breadth: Scores) -> None:
    topics, users = breadth.shape
    for topic in range(topics):
        for user in range(users):
            weaker = strength[topic, user] < largest[user]
            breadth[topic, user] = largest[user] if weaker else following[user]


def measure_breadth(space: str) -> Measure:
    """The measure that is called SPACE-d."""
    return measure_space(
        score_without_breadth, space, LESS_BREADTH, _LIFTS_OF_BREADTH.get(space, ())
    )


def score_without_breadth(
    space: str, state: "State", topics: Sequence[str], setting: Setting
) -> Scores:
    """Topics x users: strength less breadth; in the paper's mode of the whole domain."""
    strength = score_strength(space, state, topics, setting)
    breadth = (find_breadth if setting.mode == "paper" else find_breadth_of_others)(
        space, state, topics, setting
    )
    return on_grid(domain_aware_risk(strength, breadth))


def find_breadth(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    """Topics x users: the breadth of interest in each topic's domain, itself included."""

    def find(topic: str) -> Scores:
        return breadth_of_interest(_take_domain(space, state, topic), k=setting.k)

    keys = [("breadth", space, state.domain_of(topic), setting.k) for topic in topics]
    found = [state.derive(key, partial(find, each)) for key, each in zip(keys, topics, strict=True)]
    return np.array(found)


def find_breadth_of_others(
    space: str, state: "State", topics: Sequence[str], setting: Setting
) -> Scores:
    """Topics x users: the breadth of interest in the other topics of each one's domain."""

    def find(topic: str) -> BreadthOfOthers:
        return BreadthOfOthers.of_domain(_take_domain(space, state, topic), k=setting.k)

    found = []
    for domain, same in groupby(topics, state.domain_of):
        some = tuple(same)
        key = ("breadth of others", space, domain, setting.k)
        breadth = state.derive(key, partial(find, some[0]))
        found.append(breadth.exclude(score_strength(space, state, some, setting)))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _take_domain(space: str, state: "State", topic: str) -> Scores:
    inside = domain_columns(state.domains, state.column(topic), with_itself=True)
    return state.strongest(space)[:, inside]


_LASTING = ", over several weeks"
_LIFTS_OF_PERSISTENCE = {
    "bow": ((10, 0.41), (5.9, 0.20), (4.6, 0.14)),
    "voice": ((6.5, 0.47), (5.9, 0.17), (4.5, 0.12)),
    "voice-s": ((8.9, 0.43), (5.7, 0.17), (4.3, 0.12)),
}
_LIFTS_OF_BOTH = {
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
        lifts = _LIFTS_OF_BOTH.get(space, ())
        wording = _LASTING + LESS_BREADTH
        return measure_space(score_lasting_without_breadth, space, wording, lifts, buckets=True)
    return measure_space(
        score_lasting, space, _LASTING, _LIFTS_OF_PERSISTENCE.get(space, ()), buckets=True
    )


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
