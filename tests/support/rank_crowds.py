"""Simulated people: their scores, the buckets of these, and where each truly stands.

Also what a server that keeps all reports finds out about those whose bucket does not change, and
how far published ranks are off in many repetitions.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.description import Buckets, Description, Mode, RankedTopic
from sottovoce.advisor.rank.histogram import (
    BANDS,
    REST,
    Histogram,
    RankEstimate,
    band_of,
    estimate_rank,
)
from sottovoce.advisor.rank.noise import Noised, OneHotNoise, deviations
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.noise_law import noise_deviation
from sottovoce.report.result import Row

TOPIC = "topic"
BAND_NAMES = (*(f"top {band}%" for band in BANDS), REST)
# Most people hardly touch a topic; some do much.
_EXPOSED = 0.07


@dataclass(frozen=True, eq=False)
class BucketedCrowd:
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
        """The place in `BAND_NAMES` of each person's band, by their exact score."""
        positions = np.argsort(np.argsort(-self.scores)) + 1
        return np.searchsorted(np.array(BANDS) * self.people, positions * 100, side="left")

    def band(self, bucket: int) -> str:
        """The true band of everybody in ``bucket``."""
        return band_of(int(self.at_least[bucket]), self.people)


def crowd(people: int, rules: Description, seed: int) -> BucketedCrowd:
    """Scores between 0 and 1, drawn from two Beta laws."""
    generator = np.random.default_rng(seed)
    exposed = generator.random(people) < _EXPOSED
    scores = np.where(exposed, generator.beta(5, 6, people), generator.beta(1.2, 9, people))
    edges = rules.topic(TOPIC).buckets.edges
    buckets = np.searchsorted(edges, scores, side="right")
    return BucketedCrowd(buckets, scores, np.bincount(buckets, minlength=len(edges) + 1))


def rules_for(mode: Mode, epsilon: Fraction, buckets: int) -> Description:
    """The server's rules: even buckets between 0 and 1."""
    ranked = RankedTopic(TOPIC, "lda", Buckets.even(0, 1, buckets))
    return Description(mode, epsilon, (ranked,))


_PART = 1 << 14
Publish = Callable[[], Histogram]


def repeated(crowd: BucketedCrowd, rules: Description, publish: Publish, times: int) -> Row:
    """Publish ``times`` times, and compare with the truth: means over people or over borders."""
    tallies = [_tally(crowd, rules, publish()) for _ in range(times)]
    mean = {name: float(np.mean([tally[name] for tally in tallies])) for name in tallies[0]}
    error = mean.pop("squared_error") ** 0.5
    return {**mean, "error_over_predicted": error / predicted_error(rules, crowd.people)}


def predicted_error(rules: Description, people: int) -> float:
    """The root mean square error of "at least k" over all borders, from the noise's law alone."""
    noise = rules.noise(TOPIC)
    if rules.mode == "noise":
        variances = deviations(noise, people)[1:-1] ** 2
    else:
        above = np.arange(1, noise.buckets)
        fewer = np.minimum(above, noise.buckets - above)
        variances = 2 * fewer * noise_deviation(noise.guarantee.rate) ** 2
    return float(np.mean(variances) ** 0.5)


def noised(crowd: BucketedCrowd, rules: Description) -> Publish:
    """Everybody reports under noise of their own, and the server publishes."""
    noise = rules.noise(TOPIC)

    def publish() -> Histogram:
        # A part at a time, small enough for the processor's caches.
        parts = np.array_split(crowd.buckets, crowd.people // _PART + 1)
        total = np.sum([noise.reports(part).sum(axis=0) for part in parts], axis=0)
        return Histogram.of_noised(rules, TOPIC, 0, crowd.people, total)

    return publish


def opened(crowd: BucketedCrowd, rules: Description) -> Publish:
    """Two servers' noise on the exact counts: the law of an opened sum of shares."""
    mechanism = GeometricMechanism(rules.noise(TOPIC).guarantee.rate)

    def publish() -> Histogram:
        total = mechanism.dense(mechanism.dense(crowd.counts))
        return Histogram.of_opened(rules, TOPIC, 0, crowd.people, total.tolist())

    return publish


def _tally(crowd: BucketedCrowd, rules: Description, histogram: Histogram) -> dict[str, float]:
    true = crowd.at_least
    errors = (histogram.cumulative() - true)[1:-1]
    margins = histogram.margins(rules)[1:-1]
    found = [estimate_rank(histogram, rules, bucket) for bucket in range(crowd.counts.size)]
    weights = crowd.counts / crowd.people
    right = np.array([each.band == crowd.band(bucket) for bucket, each in enumerate(found)])
    return {
        "squared_error": float(np.mean(errors**2)),
        "coverage": float(np.mean(np.abs(errors) <= margins)),
        "rank_coverage": _share(weights, (_covers(true, k, each) for k, each in enumerate(found))),
        "bands_right": _share(weights, right),
        "bands_right_by_score": _by_score(crowd, found),
    }


def _covers(true: NDArray[np.int64], bucket: int, found: RankEstimate) -> bool:
    """Whether all positions of the bucket, however its people are ordered, lie in the interval."""
    return bool(found.low <= true[bucket + 1] + 1 and true[bucket] <= found.high)


def _share(weights: NDArray[np.float64], values: Iterable[float]) -> float:
    return float(weights @ np.fromiter(values, dtype=np.float64, count=weights.size))


def _by_score(crowd: BucketedCrowd, found: list[RankEstimate]) -> float:
    """The share of people whose told band is that of their exact score, not of their bucket."""
    told = np.array([BAND_NAMES.index(each.band) if each.band else -1 for each in found])
    return float(np.mean(told[crowd.buckets] == crowd.bands_by_score))


PERIODS = 52


def attacked(epsilon: Fraction, buckets: int, people: int, seed: int = 0) -> list[Row]:
    """How often adding up reports finds the bucket: kept for ever, drawn again, and unclamped."""
    bits = OneHotNoise(epsilon, buckets)
    generator = np.random.default_rng(seed)
    true = generator.integers(buckets, size=people)
    kept = bits.reports(true)
    cases = {
        "kept, 1 period": kept,
        f"kept, {PERIODS} periods": kept * PERIODS,
        f"drawn again, {PERIODS} periods": _sum_periods(bits.add_noise, true, buckets),
        f"drawn again and not clamped, {PERIODS} periods": _sum_periods(
            GeometricMechanism(bits.guarantee.rate).dense, true, buckets
        ),
    }
    return [
        {"case": case, "people": people, "found": _found(total, true, generator)}
        for case, total in cases.items()
    ]


def _sum_periods(noised: Noised, true: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    one_hot = np.eye(buckets, dtype=np.int64)[true]
    total = np.zeros_like(one_hot)
    for _ in range(PERIODS):
        total += noised(one_hot)
    return total


def _found(
    total: NDArray[np.int64], true: NDArray[np.int64], generator: np.random.Generator
) -> float:
    """The share of people whose largest entry, ties broken by chance, is that of their bucket."""
    guesses = np.argmax(total + generator.random(total.shape), axis=1)
    return float(np.mean(guesses == true))
