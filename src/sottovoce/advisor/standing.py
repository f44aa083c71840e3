"""Where a person stands for one topic, as an adversary who ranks the community sees it.

The score and its place, with their parts (strength, breadth, persistence) and their uncertainty.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.advisor._what_if import LeftOut
from sottovoce.advisor.crowd import Seats
from sottovoce.advisor.person_values import PostMatrix, Variants, state_of_variants
from sottovoce.assess.measures.breadth import breadth_of_interest, domain_columns
from sottovoce.assess.measures.persistence import time_aware_risk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sottovoce.advisor.person import Person
    from sottovoce.assess.state.state import State


BANDS = (1, 5, 10, 25, 50)
"""Top 1% to 50%: the bands in which a standing is told."""
REST = "lower half"
_WHOLE = 100


@dataclass(frozen=True)
class Uncertainty:
    """How far their place rests on single posts.

    Let s be their score and s(i) that without post i, both exact, over their n posts. ``low`` and
    ``high`` are the best and the worst place, ties included, among s and all s(i): "had any one of
    your posts not been written, you would stand between". ``score_low`` and ``score_high`` are the
    least and the largest of s and all s(i). ``score_error`` is the jackknife's standard error,
    sqrt((n-1)/n sum_i (s(i) - mean)^2); 0 for who has one post, which says nothing. A maximum is
    not smooth, so this is a scale, not an interval with a coverage. Where the community is known by
    a histogram only, ``low`` and ``high`` also hold what the histogram leaves open.
    """

    low: int
    high: int
    score_low: float
    score_high: float
    score_error: float
    posts: int


@dataclass(frozen=True)
class Standing:
    """A score for one topic and the place it gives; None throughout for who has no post left.

    ``low`` is their place when all are ordered by decreasing score, equal scores sharing the better
    one (R-Susceptibility, section 2.4); ``high`` is the last place of those who score as they do:
    so many users score at least as high, themselves included. From a histogram they bound these.
    """

    topic: str
    domain: str
    measure: str
    users: int
    score: float | None = None
    low: int | None = None
    high: int | None = None
    surely: int | None = None
    """At least so many users score as high as they do; ``high`` where the community is known."""
    strength: float | None = None
    """None where the measure looks at words, not at closeness; so are the next two."""
    breadth: float | None = None
    persistence: float | None = None
    uncertainty: Uncertainty | None = None
    simulated: bool = False
    """Whether all others are made up, so that the place is one among people who do not exist."""

    @property
    def present(self) -> bool:
        """Whether they have any post."""
        return self.score is not None

    @property
    def evident(self) -> bool:
        """Whether anything puts them there: at a score of 0 or less they are only left over."""
        return evident(self.score)

    @property
    def band(self) -> str:
        """The narrowest band that surely holds them: ``top 5%``, or ``lower half``."""
        return band_of(self.high if self.evident else None, self.users)

    @property
    def best_band(self) -> str:
        """The narrowest band that may hold them; it differs from ``band`` for a histogram only."""
        return band_of(self.surely if self.evident else None, self.users)

    @property
    def percent(self) -> float | None:
        """The share of users who score at least as high as they do, in percent."""
        return None if self.high is None else _WHOLE * self.high / self.users

    @property
    def unsure(self) -> bool:
        """Whether several bands may hold them; then ``band`` is the widest of them."""
        return self.best_band != self.band

    def may_be_within(self, percent: int) -> bool:
        """Whether they are in the top ``percent`` as far as is known: `within`, or it is open."""
        least = self.high if self.surely is None else self.surely
        return self.evident and least is not None and least * _WHOLE <= percent * self.users

    def within(self, percent: int) -> bool:
        """Whether they are in the top ``percent``: at most so many score as high as they do."""
        return self.evident and self.high is not None and self.high * _WHOLE <= percent * self.users


def evident(score: float | None) -> bool:
    """Whether a score rests on anything: nobody is in a band for what they never mention."""
    return score is not None and score > 0


def band_of(at_least: int | None, users: int) -> str:
    """The narrowest band of who has ``at_least`` users scoring as high, themselves included."""
    if at_least is not None:
        for percent in BANDS:
            if at_least * _WHOLE <= percent * users:
                return f"top {percent}%"
    return REST


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
    """How far their place rests on single posts: see ``Uncertainty`` for the formulas."""
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
        return Standing(topic, domain, measure, users - 1, simulated=person.among_simulated)
    low, high, surely = (int(each[0, column]) for each in (seats.low, seats.high, seats.surely))
    found = Standing(topic, domain, measure, users, score, low, high, surely)
    return replace(found, simulated=person.among_simulated)


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
