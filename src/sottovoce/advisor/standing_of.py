"""From seats to standings: numbers with their parts and their uncertainty."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.advisor.community_crowd import Seats
from sottovoce.advisor.person_values import PostMatrix
from sottovoce.advisor.standing import Standing, Uncertainty
from sottovoce.advisor.what_if import LeftOut
from sottovoce.advisor.what_if_variants import Variants, state_of_variants
from sottovoce.assess.measures.domain import breadth_of_interest, domain_columns
from sottovoce.assess.measures.time import time_aware_risk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sottovoce.advisor.person import Person
    from sottovoce.assess.state import State


def standings_of(
    person: "Person", posts: PostMatrix, seats: Seats, left_out: LeftOut | None = None
) -> list[Standing]:
    """One for each sensitive topic; with ``left_out`` their uncertainty too."""
    parts = _Parts(person, posts)
    found = []
    for column in range(len(person.community.topics)):
        standing = _placed(person, seats, column)
        if left_out is not None:
            standing = replace(
                standing, uncertainty=uncertainty(left_out, column, len(person.posts))
            )
        found.append(parts.added(standing))
    return found


def uncertainty(left_out: LeftOut, topic: int, posts: int) -> Uncertainty:
    """How far her place rests on single posts: see ``Uncertainty`` for the formulas."""
    own = float(left_out.whole.scores[0, topic])
    without = left_out.seats.scores[:, topic]
    every = np.append(without, own)
    lows = np.append(left_out.seats.low[:, topic], left_out.whole.low[0, topic])
    highs = np.append(left_out.seats.high[:, topic], left_out.whole.high[0, topic])
    return Uncertainty(
        low=int(lows.min()),
        high=int(highs.max()),
        score_low=float(every.min()),
        score_high=float(every.max()),
        score_error=_jackknife(own, without, posts),
        posts=posts,
    )


def _jackknife(own: float, without: "NDArray[np.float64]", posts: int) -> float:
    """sqrt((n-1)/n sum (s(i) - mean)^2); posts that do not matter have s(i) = s."""
    if posts < 2 or not np.isfinite(own):  # noqa: PLR2004 - one post has no spread
        return 0.0
    moved = np.nan_to_num(without, posinf=own, neginf=own) - own
    mean = moved.sum() / posts
    squares = ((moved - mean) ** 2).sum() + (posts - moved.size) * mean**2
    return float(np.sqrt((posts - 1) / posts * squares))


def _placed(person: "Person", seats: Seats, column: int) -> Standing:
    topic = person.community.topics[column]
    score, users = float(seats.scores[0, column]), int(seats.users[column])
    domain, measure = person.community.catalogue.by_name[topic].domain, person.setting.measure
    if np.isnan(score):
        return Standing(topic, domain, measure, users - 1)
    low, high, surely = (int(each[0, column]) for each in (seats.low, seats.high, seats.surely))
    return Standing(topic, domain, measure, users, score, low, high, surely)


class _Parts:
    """Strength, breadth and persistence apart, for a measure of a vector space."""

    def __init__(self, person: "Person", posts: PostMatrix) -> None:
        self._person = person
        self._state: State | None = None
        if person.measure.space is not None and len(posts):
            header = person.community.scoring.header
            self._state = state_of_variants(header, person.setting, Variants.one(posts))

    def added(self, standing: Standing) -> Standing:
        """The standing with its parts; unchanged where there are none."""
        state, setting = self._state, self._person.setting
        if state is None:
            return standing
        topic, space = standing.topic, str(self._person.measure.space)
        strongest, column = state.strongest(space), state.column(topic)
        itself = setting.mode == "paper" and not self._person.measure.buckets
        inside = domain_columns(state.domains, column, with_itself=itself)
        return replace(
            standing,
            strength=float(strongest[0, column]),
            breadth=float(breadth_of_interest(strongest[:, inside], k=setting.k)[0]),
            persistence=float(time_aware_risk(state.best(space, topic, setting.m))[0]),
        )
