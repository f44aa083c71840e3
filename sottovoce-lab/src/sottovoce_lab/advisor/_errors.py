"""How far published ranks are off, in many repetitions: errors, coverage, widths and bands.

A histogram is published by its law alone, or by the whole protocol of shares in one process.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram, RankEstimate, deviations, estimate_rank
from sottovoce.advisor.rank.shares import (
    ServerSide,
    SharedReport,
    answer_shares,
    ask_shares,
    decide_reports,
    demand_sum,
    join_sums,
    yield_sum,
)
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.noise_law import noise_deviation
from sottovoce.report.result import Row
from sottovoce_lab.advisor._people import BAND_NAMES, TOPIC, BucketedCrowd

_POINTS = 100.0
_PART = 1 << 14
_VERIFIED = 1000
Publish = Callable[[], Histogram]


@dataclass(frozen=True)
class RepetitionErrors:
    """What one repetition showed, each a mean over people or over the borders of buckets."""

    squared_error: float
    covered_borders: float
    covered_people: float
    width: float
    told: float
    right: float
    exact: float


def repeated(crowd: BucketedCrowd, rules: Description, publish: Publish, times: int) -> Row:
    """Publish ``times`` times, and compare with the truth."""
    tallies = [_tally(crowd, rules, publish()) for _ in range(times)]
    mean = {
        name: float(np.mean([getattr(tally, name) for tally in tallies]))
        for name in RepetitionErrors.__dataclass_fields__
    }
    error = _POINTS * mean["squared_error"] ** 0.5 / crowd.people
    predicted = _POINTS * predicted_error(rules, crowd.people) / crowd.people
    return {
        "error_points": error,
        "predicted_points": predicted,
        "error_over_predicted": error / predicted,
        "coverage": mean["covered_borders"],
        "rank_coverage": mean["covered_people"],
        "width_points": _POINTS * mean["width"],
        "bands_told": mean["told"],
        "bands_right": mean["right"],
        "bands_right_by_score": mean["exact"],
    }


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


def published(crowd: BucketedCrowd, rules: Description) -> Publish:
    """As the mode of ``rules`` has it."""
    return noised(crowd, rules) if rules.mode == "noise" else opened(crowd, rules)


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


def _tally(crowd: BucketedCrowd, rules: Description, histogram: Histogram) -> RepetitionErrors:
    true, estimates = crowd.at_least, histogram.cumulative()
    errors = (estimates - true)[1:-1]
    margins = histogram.margins(rules)[1:-1]
    found = [estimate_rank(histogram, rules, bucket) for bucket in range(crowd.counts.size)]
    weights = crowd.counts / crowd.people
    told = np.array([each.band is not None for each in found])
    right = np.array([each.band == crowd.band(bucket) for bucket, each in enumerate(found)])
    return RepetitionErrors(
        squared_error=float(np.mean(errors**2)),
        covered_borders=float(np.mean(np.abs(errors) <= margins)),
        covered_people=_share(weights, (_covers(true, k, each) for k, each in enumerate(found))),
        width=_share(weights, (each.width for each in found)),
        told=_share(weights, told),
        right=_share(weights, right),
        exact=_by_score(crowd, found),
    )


def _covers(true: NDArray[np.int64], bucket: int, found: RankEstimate) -> bool:
    """Whether all positions of the bucket, however its people are ordered, lie in the interval."""
    return bool(found.low <= true[bucket + 1] + 1 and true[bucket] <= found.high)


def _share(weights: NDArray[np.float64], values: Iterable[float]) -> float:
    return float(weights @ np.fromiter(values, dtype=np.float64, count=weights.size))


def _by_score(crowd: BucketedCrowd, found: list[RankEstimate]) -> float:
    """The share of people whose told band is that of their exact score, not of their bucket."""
    told = np.array([BAND_NAMES.index(each.band) if each.band else -1 for each in found])
    return float(np.mean(told[crowd.buckets] == crowd.bands_by_score))


def opened_by_protocol(crowd: BucketedCrowd, rules: Description) -> Publish:
    """Everybody sends shares; the two servers verify all of them and open their noised sum."""

    def publish() -> Histogram:
        key = os.urandom(32)
        outputs: tuple[dict[str, bytes], dict[str, bytes]] = ({}, {})
        first, second = (ServerSide(rules, TOPIC, 0, key, place) for place in range(2))
        for some in np.array_split(crowd.buckets, crowd.people // _VERIFIED + 1):
            made = [SharedReport.of(rules, TOPIC, 0, os.urandom(16).hex(), int(b)) for b in some]
            begun = [
                side.begin({report.token: report.payload(side.server) for report in made})
                for side in (first, second)
            ]
            answered, found = answer_shares(second, begun[1], ask_shares(first, begun[0]))
            outputs[1].update(found)
            outputs[0].update(decide_reports(first, begun[0], answered))
        told = yield_sum(second, outputs[1], demand_sum(first, outputs[0]))
        return Histogram.of_opened(rules, TOPIC, 0, *join_sums(first, outputs[0], told))

    return publish
