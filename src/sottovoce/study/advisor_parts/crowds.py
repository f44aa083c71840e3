"""Simulated people: their scores, the buckets of these, and where each truly stands."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.buckets import Buckets
from sottovoce.advisor.rank.description import Description, Mode, RankedTopic
from sottovoce.advisor.rank.estimate import BANDS, REST, band_of

TOPIC = "topic"
BAND_NAMES = (*(f"top {band}%" for band in BANDS), REST)
# Most people hardly touch a topic; some do much.
_EXPOSED = 0.07


@dataclass(frozen=True, eq=False)
class Crowd:
    """People by bucket; everybody in a bucket counts as tied."""

    buckets: NDArray[np.int64]
    scores: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def people(self) -> int:
        """How many there are."""
        return self.buckets.size

    @property
    def at_least(self) -> NDArray[np.int64]:
        """How many people are in bucket k or higher, k = 0 to B."""
        return np.append(np.cumsum(self.counts[::-1])[::-1], 0)

    @cached_property
    def bands_by_score(self) -> NDArray[np.int64]:
        """The place in `BAND_NAMES` of each person's band, by her exact score."""
        positions = np.argsort(np.argsort(-self.scores)) + 1
        return np.searchsorted(np.array(BANDS) * self.people, positions * 100, side="left")

    def band(self, bucket: int) -> str:
        """The true band of everybody in ``bucket``."""
        return band_of(int(self.at_least[bucket]), self.people)


def crowd(people: int, rules: Description, seed: int) -> Crowd:
    """Scores between 0 and 1, drawn from two Beta laws."""
    generator = np.random.default_rng(seed)
    exposed = generator.random(people) < _EXPOSED
    scores = np.where(exposed, generator.beta(5, 6, people), generator.beta(1.2, 9, people))
    edges = rules.topic(TOPIC).buckets.edges
    buckets = np.searchsorted(edges, scores, side="right")
    return Crowd(buckets, scores, np.bincount(buckets, minlength=len(edges) + 1))


def rules_for(mode: Mode, epsilon: Fraction, buckets: int) -> Description:
    """The server's rules: even buckets between 0 and 1."""
    ranked = RankedTopic(TOPIC, "lda", Buckets.even(0, 1, buckets))
    return Description(mode, epsilon, (ranked,))
