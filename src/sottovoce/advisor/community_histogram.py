"""A community known by a histogram of scores only, as a rank server publishes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.advisor.community_crowd import Places, Scores, Seats, own_scores, places_by_topic
from sottovoce.advisor.community_setting import Setting
from sottovoce.advisor.what_if_variants import Variants
from sottovoce.assess.header import Header
from sottovoce.errors import InputError, ParameterError


@dataclass(frozen=True)
class Histogram:
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
    def of_counts(cls, edges: Sequence[float], counts: Sequence[int]) -> "Histogram":
        """From exact counts of each bucket."""
        at_least = tuple(np.cumsum(np.asarray(counts)[::-1])[::-1].astype(float).tolist())
        return cls(tuple(edges), at_least, at_least, int(sum(counts)))

    def bounds(self, scores: Scores, included: float | None) -> tuple[Places, Places]:
        """The best and the worst place of each score; ``included``: her score in the histogram.

        The place is at least 1 + those surely above her bucket, and at most all who may be in her
        bucket or above, she included. Bounds on people move inwards to whole numbers.
        """
        own = np.zeros(len(self.edges)) if included is None else np.array(self.edges) <= included
        least = np.append(np.maximum(np.ceil(self.low) - own, 0), 0.0)
        most = np.append(np.maximum(np.floor(self.high) - own, 0), 0.0)
        others = self.users - (included is not None)
        bucket = np.searchsorted(np.array(self.edges), scores, "right") - 1
        low = np.minimum(1 + least[bucket + 1], 1 + others)
        high = 1 + np.where(bucket < 0, others, most[bucket])
        return low.astype(np.int64), np.maximum(low, high).astype(np.int64)


@dataclass(frozen=True, eq=False)
class HistogramCrowd:
    """Others of whom only histograms are known."""

    header: Header
    setting: Setting
    topics: tuple[str, ...]
    histograms: Mapping[str, Histogram]
    included: Mapping[str, float] | None = None
    """Her own scores by topic, where the histograms count her too."""

    def __post_init__(self) -> None:
        if self.setting.how().space is None:
            raise ParameterError(
                f"the measure {self.setting.measure} needs the words of all users; with histograms "
                "choose one of a vector space, such as bow-dt."
            )

    def seats(self, variants: Variants) -> Seats:
        """Her scores exactly, the places between bounds."""
        hers = own_scores(self.header, self.setting, self.topics, variants)
        low, high = places_by_topic(hers, self.topics, self._bounds)
        known = [self.histograms[topic].users for topic in self.topics]
        return Seats(hers, low, high, low, np.array(known) + (self.included is None))

    def _bounds(self, topic: str, hers: Scores) -> tuple[Places, Places]:
        own = None if self.included is None else self.included[topic]
        return self.histograms[topic].bounds(hers, own)

    def others(self, variants: Variants) -> Sequence[Scores]:  # noqa: ARG002 - they do not depend on her
        """The edges, each as often as users are in its bucket in the middle of the bounds."""
        found = []
        for topic in self.topics:
            histogram = self.histograms[topic]
            middle = (np.array(histogram.low) + np.array(histogram.high)) / 2
            counts = np.maximum(0, np.rint(-np.diff(np.append(middle, 0.0)))).astype(np.int64)
            found.append(np.repeat(np.array(histogram.edges), counts))
        return found
