"""Where a person stands for one topic, as an adversary who ranks the community sees it.

The score and its place, with their parts (strength, breadth, persistence) and their uncertainty.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.advisor.crowd import Seats
from sottovoce.advisor.person_values import PostMatrix, Variants, state_of_variants
from sottovoce.assess.measures.interest import breadth_of_interest, domain_columns, time_aware_risk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sottovoce.advisor.person import Person
    from sottovoce.assess.state.state import State
from functools import cached_property

from numpy.typing import NDArray

from sottovoce.advisor.crowd import Crowd

# Of no time that there is.
_NO_BUCKET = np.iinfo(np.int32).min


@dataclass(frozen=True, eq=False)
class BucketTops:
    """Of each bucket and topic: the strongest value, the post that has it, the second strongest."""

    posts: PostMatrix

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.posts.buckets, kind="stable")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.diff(self.posts.buckets[self._order], prepend=_NO_BUCKET))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """How many posts each bucket has."""
        return np.diff(np.append(self._starts, len(self.posts)))

    @cached_property
    def buckets(self) -> NDArray[np.int32]:
        """The buckets that have posts, ascending."""
        return self.posts.buckets[self._order][self._starts]

    @cached_property
    def first(self) -> NDArray[np.float64]:
        """Buckets x topics."""
        if not len(self.posts):
            return self.posts.strengths
        return np.maximum.reduceat(self.posts.strengths[self._order], self._starts, axis=0)

    @cached_property
    def rows(self) -> PostMatrix:
        """One row for each bucket: as good as all the posts."""
        return PostMatrix(self.buckets, self.first, _empty_words(self.buckets.size))

    @cached_property
    def holder(self) -> NDArray[np.int64]:
        """Buckets x topics: the post that alone has the strongest value; -1 where several do."""
        strengths = self.posts.strengths[self._order]
        bucket_of = np.repeat(np.arange(self.sizes.size), self.sizes)
        top = strengths == self.first[bucket_of]
        several = np.add.reduceat(top, self._starts, axis=0, dtype=np.int64) > 1
        places = np.where(top, self._order[:, np.newaxis], -1)
        found: NDArray[np.int64] = np.maximum.reduceat(places, self._starts, axis=0)
        return np.where(several, -1, found)

    @cached_property
    def second(self) -> NDArray[np.float64]:
        """Buckets x topics: the strongest value without its only holder, -inf if none is left."""
        strengths = self.posts.strengths[self._order]
        bucket_of = np.repeat(np.arange(self.sizes.size), self.sizes)
        own = self.holder[bucket_of] == self._order[:, np.newaxis]
        return np.maximum.reduceat(np.where(own, -np.inf, strengths), self._starts, axis=0)

    def mattering(self, m: int) -> NDArray[np.bool_]:
        """Buckets x topics: whether the m best values change when this one is left out."""
        if self.buckets.size <= m:
            # A missing bucket counts 0, and so more than one whose best is below 0.
            return np.not_equal(self.first, np.where(np.isneginf(self.second), 0, self.second))
        following = np.partition(self.first, -m - 1, axis=0)[-m - 1]
        found: NDArray[np.bool_] = self.first > following
        return found


def without_each(posts: PostMatrix, m: int) -> tuple[NDArray[np.int64], Variants]:
    """The posts that may matter, and for each a version of them without it."""
    tops = BucketTops(posts)
    mattering = np.unique(tops.holder[tops.mattering(m)])
    mattering = mattering[mattering >= 0]
    # One bucket more than counts, since the one left out may fall behind it.
    kept = np.flatnonzero(_mark_best(tops.first, m + 1))
    where = np.searchsorted(tops.buckets[kept], posts.buckets[mattering])
    first, second = tops.first[kept], tops.second[kept]
    strengths = np.repeat(first[np.newaxis], mattering.size, axis=0)
    version = np.arange(mattering.size)
    own = tops.holder[kept][where] == mattering[:, np.newaxis]
    strengths[version, where] = np.where(own, second[where], first[where])
    stays = np.ones(strengths.shape[:2], np.bool_)
    stays[version, where] = tops.sizes[kept][where] > 1
    owner, bucket = np.nonzero(stays)
    rows = PostMatrix(tops.buckets[kept][bucket], strengths[stays], _empty_words(owner.size))
    return mattering, Variants(rows, owner, mattering.size)


def essential(posts: PostMatrix, m: int) -> PostMatrix:
    """As few rows as give every score of ``posts``, also when others are added."""
    tops = BucketTops(posts)
    return tops.rows.take(_mark_best(tops.first, m))


def remaining(tops: BucketTops, gone: NDArray[np.bool_], m: int) -> PostMatrix:
    """As few rows as give every score of the posts that are not ``gone``.

    Only buckets that lose a post are looked at again, so that a long history costs little.
    """
    posts = tops.posts
    touched = np.isin(posts.buckets, posts.buckets[gone])
    again = BucketTops(posts.take(touched & ~gone)).rows
    same = tops.rows.take(~np.isin(tops.buckets, posts.buckets[gone]))
    rows = same.join(again)
    return rows.take(_mark_best(rows.strengths, m))


def words_without_each(
    posts: PostMatrix, salient: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Variants]:
    """The same for measures of word use: only who alone holds one of ``salient`` may matter."""
    bits = np.unpackbits(posts.words, axis=1, bitorder="little")[:, salient]
    holders = bits.sum(axis=0, dtype=np.int64)
    mattering = np.flatnonzero(bits[:, holders == 1].any(axis=1))
    union = np.bitwise_or.reduce(posts.words, axis=0)
    others = np.repeat(union[np.newaxis], mattering.size, axis=0)
    alone = np.unpackbits(posts.words[mattering], axis=1, bitorder="little").astype(np.bool_)
    everywhere = np.unpackbits(posts.words, axis=1, bitorder="little").sum(axis=0, dtype=np.int64)
    gone = np.packbits(alone & (everywhere == 1), axis=1, bitorder="little")
    rows = PostMatrix(
        np.zeros(mattering.size, np.int32), np.zeros((mattering.size, 0)), others & ~gone
    )
    return mattering, Variants(rows, np.arange(mattering.size), mattering.size)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Their seats without each of the posts that may matter; the others change nothing."""

    whole: Seats
    posts: NDArray[np.int64]
    seats: Seats

    def falls(self, topic: int, count: int) -> NDArray[np.float64]:
        """By how much their score would fall without each of their ``count`` posts."""
        own, without = self.whole.scores[0, topic], self.seats.scores[:, topic]
        if count == 1:
            return np.array([own])
        found = np.zeros(count)
        with np.errstate(invalid="ignore"):
            # Infinity less infinity is no change.
            found[self.posts] = np.where(without == own, 0.0, own - without)
        return found


def left_out(crowd: Crowd, posts: PostMatrix, m: int, salient: NDArray[np.int64] | None) -> LeftOut:
    """Their seats, whole and without each post; without their only one they have no seat."""
    whole = crowd.seats(Variants.one(posts))
    if len(posts) == 1:
        none = np.zeros(0, np.int64)
        return LeftOut(whole, none, crowd.seats(Variants(posts.take(none), none, 0)))
    if salient is None:
        mattering, variants = without_each(posts, m)
    else:
        mattering, variants = words_without_each(posts, salient)
    return LeftOut(whole, mattering, crowd.seats(variants))


def _mark_best(strengths: NDArray[np.float64], m: int) -> NDArray[np.bool_]:
    """The buckets (rows) that are among the m best of any topic (column)."""
    if len(strengths) <= m:
        return np.ones(len(strengths), np.bool_)
    order = np.argpartition(-strengths, m - 1, axis=0)[:m]
    needed = np.zeros(len(strengths), np.bool_)
    needed[order.ravel()] = True
    return needed


def _empty_words(rows: int) -> NDArray[np.uint8]:
    return np.zeros((rows, 0), np.uint8)


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

    def is_within(self, percent: int) -> bool:
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
        standing = _place_person(person, seats, column)
        if left_out is not None:
            standing = replace(
                standing, uncertainty=uncertainty(left_out, column, len(person.posts))
            )
        found.append(parts.add_parts(standing))
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


def _place_person(person: "Person", seats: Seats, column: int) -> Standing:
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

    def add_parts(self, standing: Standing) -> Standing:
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
