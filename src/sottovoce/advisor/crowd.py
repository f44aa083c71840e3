"""The others: where a score, or a person's words, would stand among them.

A community may be known user by user, or only by the histograms that a rank server publishes; then
places are known between bounds.
"""

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.person_values import AdvisorSetting, Variants, state_of_variants
from sottovoce.advisor.rank.description import COVERAGE, Description
from sottovoce.advisor.rank.histogram import Histogram as Published
from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.errors import InputError, ParameterError

Scores = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Seats:
    """Scores and places of variants (rows) for topics (columns); a score is NaN without posts."""

    scores: Scores
    low: Places
    """The place, equal scores sharing the better one."""
    high: Places
    """How many users score at least as high, themselves included; or at most so many."""
    surely: Places
    """At least so many users score at least as high, themselves included."""
    users: Places
    """How many users there are for each topic, themselves included."""


class Crowd(Protocol):
    """Everybody but them."""

    def seats(self, variants: Variants) -> Seats:
        """Where each variant of them would stand, for each topic."""
        ...

    def others(self, variants: Variants) -> Sequence[Scores]:
        """For each topic the others' scores, ascending, beside the first of ``variants``."""
        ...


@dataclass(frozen=True, eq=False)
class KnownCrowd:
    """Others whose scores do not depend on them: every measure of a vector space."""

    header: StateHeader
    setting: AdvisorSetting
    topics: tuple[str, ...]
    scores: Mapping[str, Scores]
    """Ascending, by topic."""

    def seats(self, variants: Variants) -> Seats:
        """Their scores by one small state, the places by searching among the others."""
        hers = own_scores(self.header, self.setting, self.topics, variants)
        low, high = places_by_topic(hers, self.topics, self._places)
        users = [self.scores[topic].size + 1 for topic in self.topics]
        return Seats(hers, low, high, high, np.array(users))

    def others(self, variants: Variants) -> Sequence[Scores]:  # noqa: ARG002 - they do not depend on them
        """For each topic, ascending."""
        return [self.scores[topic] for topic in self.topics]

    def _places(self, topic: str, hers: Scores) -> tuple[Places, Places]:
        others = self.scores[topic]
        first, last = (np.searchsorted(others, hers, side) for side in ("right", "left"))
        return others.size + 1 - first, others.size + 1 - last


@dataclass(frozen=True, eq=False)
class ReactingCrowd:
    """Others whose scores depend on them: ENT and DIFF-PRIV ask how rare a word is among all."""

    state: State
    """Of the others only."""
    setting: AdvisorSetting
    topics: tuple[str, ...]

    def seats(self, variants: Variants) -> Seats:
        """The whole community is scored again for each variant."""
        shape = (variants.count, len(self.topics))
        hers, low = np.full(shape, np.nan), np.zeros(shape, np.int64)
        high = low.copy()
        for variant in np.flatnonzero(~variants.empty()).tolist():
            bits = np.bitwise_or.reduce(variants.posts.words[variants.owner == variant], axis=0)
            for column, scores in enumerate(self._score_all(bits)):
                own = scores[-1]
                hers[variant, column] = own
                low[variant, column] = 1 + np.count_nonzero(scores > own)
                high[variant, column] = np.count_nonzero(scores >= own)
        return Seats(hers, low, high, high, np.full(len(self.topics), len(self.state) + 1))

    def others(self, variants: Variants) -> Sequence[Scores]:
        """For each topic, ascending, when they have the words of the first variant."""
        mine = variants.posts.words[variants.owner == 0]
        bits = np.bitwise_or.reduce(mine, axis=0)
        return [np.sort(scores[:-1]) for scores in self._score_all(bits)]

    def _score_all(self, bits: NDArray[np.uint8]) -> list[Scores]:
        """Everybody's scores, theirs last, had they used these words."""
        use = WordUse(self.state.header.words)
        use.admit(len(self.state) + 1)
        use.add_bits(np.arange(len(self.state)), self.state.word_use().bits)
        use.bits[-1] = bits
        community = copy.copy(self.state)
        community.words = use
        score = self.setting.how().score
        return [score(community, topic, self.setting.risk) for topic in self.topics]


def places_by_topic(
    hers: Scores, topics: Sequence[str], places: Callable[[str, Scores], tuple[Places, Places]]
) -> tuple[Places, Places]:
    """The best and the worst place of each variant for each topic, of which ``places`` tells."""
    found = [places(topic, hers[:, column]) for column, topic in enumerate(topics)]
    low, high = (np.column_stack(each) for each in zip(*found, strict=True))
    return low, high


def own_scores(
    header: StateHeader, setting: AdvisorSetting, topics: Sequence[str], variants: Variants
) -> Scores:
    """Variants x topics by a measure of a vector space; NaN for a variant without posts."""
    state = state_of_variants(header, setting, variants)
    score = setting.how().score
    found = np.column_stack([score(state, topic, setting.risk) for topic in topics])
    found[variants.empty()] = np.nan
    return found


@dataclass(frozen=True)
class ScoreHistogram:
    """How many users score at least so much, for one topic, between two bounds.

    Attributes:
        edges: ascending; bucket b holds the scores from edge b up to, not including, edge b+1, the
            last one all from its edge on. Scores below the first edge are in no bucket.
        low: for each edge, at least so many users score as much or more.
        high: for each edge, at most so many do; equal to ``low`` where nothing is uncertain.
        users: how many there are.
    """

    edges: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    users: int

    def __post_init__(self) -> None:
        edges, low, high = map(np.asarray, (self.edges, self.low, self.high))
        if not edges.size or not edges.size == low.size == high.size:
            raise InputError("a histogram must have as many bounds as edges, and at least one.")
        if not (np.diff(edges) > 0).all():
            raise InputError("the edges of a histogram must ascend.")
        if not ((low >= 0) & (low <= high) & (high <= self.users)).all():
            raise InputError("the bounds of a histogram must be in order, from 0 to its users.")

    @classmethod
    def of_counts(cls, edges: Sequence[float], counts: Sequence[int]) -> "ScoreHistogram":
        """From exact counts of each bucket."""
        at_least = tuple(np.cumsum(np.asarray(counts)[::-1])[::-1].astype(float).tolist())
        return cls(tuple(edges), at_least, at_least, int(sum(counts)))

    def bounds(self, scores: Scores) -> tuple[Places, Places]:
        """The best and the worst place of each score.

        The place is at least 1 + those surely above their bucket, and at most all who may be
        in their bucket or above, themselves included. Bounds on people move inwards to whole ones.
        """
        least, most = np.append(np.ceil(self.low), 0.0), np.append(np.floor(self.high), 0.0)
        bucket = np.searchsorted(np.array(self.edges), scores, "right") - 1
        low = np.minimum(1 + least[bucket + 1], 1 + self.users)
        high = 1 + np.where(bucket < 0, self.users, most[bucket])
        return low.astype(np.int64), np.maximum(low, high).astype(np.int64)


@dataclass(frozen=True, eq=False)
class HistogramCrowd:
    """Others of whom only histograms are known."""

    header: StateHeader
    setting: AdvisorSetting
    topics: tuple[str, ...]
    histograms: Mapping[str, ScoreHistogram]

    def __post_init__(self) -> None:
        if self.setting.how().space is None:
            raise ParameterError(
                f"the measure {self.setting.measure} needs the words of all users; with histograms "
                "choose one of a vector space, such as bow-dt."
            )

    def seats(self, variants: Variants) -> Seats:
        """Their scores exactly, the places between bounds."""
        hers = own_scores(self.header, self.setting, self.topics, variants)
        low, high = places_by_topic(hers, self.topics, self._bounds)
        known = [self.histograms[topic].users for topic in self.topics]
        return Seats(hers, low, high, low, np.array(known) + 1)

    def _bounds(self, topic: str, hers: Scores) -> tuple[Places, Places]:
        return self.histograms[topic].bounds(hers)

    def others(self, variants: Variants) -> Sequence[Scores]:  # noqa: ARG002 - they do not depend on them
        """The edges, each as often as users are in its bucket in the middle of the bounds."""
        found = []
        for topic in self.topics:
            histogram = self.histograms[topic]
            middle = (np.array(histogram.low) + np.array(histogram.high)) / 2
            counts = np.maximum(0, np.rint(-np.diff(np.append(middle, 0.0)))).astype(np.int64)
            found.append(np.repeat(np.array(histogram.edges), counts))
        return found


def published_histograms(
    description: Description,
    published: Iterable[Published],
    setting: AdvisorSetting,
    *,
    coverage: float = COVERAGE,
) -> dict[str, ScoreHistogram]:
    """For each topic that is not withheld, the counts with their margins.

    The bounds of somebody's places on all topics hold together with ``coverage``, so that a
    sentence over several topics does; what-if places are further ones.
    """
    found = {}
    published = tuple(published)
    each = 1.0 - (1.0 - coverage) / max(1, len(published))
    for histogram in published:
        measure = description.topic(histogram.topic).measure
        if measure != setting.measure:
            raise InputError(
                f"the rank server ranks by {measure}, the setting by {setting.measure}; choose "
                "the server's measure."
            )
        if histogram.counts is not None:
            found[histogram.topic] = _bound_counts(description, histogram, each)
    return found


def _bound_counts(
    description: Description, published: Published, coverage: float
) -> ScoreHistogram:
    """The lowest bucket is open below: everybody who reported is in it or a higher one."""
    edges = description.topic(published.topic).buckets.edges
    counts = published.cumulative()[1:-1]
    margins = published.margins(description, coverage)[1:-1]
    low, high = (np.clip(counts + sign * margins, 0, published.reports) for sign in (-1, 1))
    return ScoreHistogram(edges, tuple(low.tolist()), tuple(high.tolist()), published.reports)
