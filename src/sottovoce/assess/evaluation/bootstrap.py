"""Bootstrap over users, stratified by topic; all measures see the same draws.

B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993): percentile intervals. A user
who is drawn twice stands twice in the ranking, tied with herself. A draw without any sensitive
user has no metrics and is drawn anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.assess.evaluation.judged import JudgedTopic, Scores
from sottovoce.assess.evaluation.metrics import TopicMetrics, averaged, topic_metrics
from sottovoce.assess.evaluation.ties import Flags, Floats, TiedRanking, TieOrder, tie_order
from sottovoce.errors import ParameterError

REPLICATES = 1000
CONFIDENCE = 0.95
# Replicates times users held at once: a few megabytes, whatever the community's size.
CELLS_AT_ONCE = 250_000


@dataclass(frozen=True)
class Interval:
    """A value and its 95% bootstrap interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """How much one measure is above another, with the 95% interval of the paired bootstrap."""

    value: float
    low: float
    high: float
    p_value: float
    """Two-sided: twice the share of draws on the other side of 0."""


def percentile_interval(value: float, replicates: Floats) -> Interval:
    """The middle 95% of ``replicates`` around ``value``."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail])
    return Interval(float(value), float(low), float(high))


def paired_difference(value: float, ours: Floats, theirs: Floats) -> Difference:
    """Compare two measures by their metrics on the same draws."""
    differences = ours - theirs
    interval = percentile_interval(value, differences)
    other_side = min((differences <= 0).sum(), (differences >= 0).sum())
    p_value = min(1.0, 2.0 * (other_side + 1) / (len(differences) + 1))
    return Difference(interval.value, interval.low, interval.high, float(p_value))


def bootstrap_metrics(
    judged: Sequence[JudgedTopic],
    runs: Mapping[str, Scores],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> dict[str, Mapping[str, Floats]]:
    """For each measure and metric, its values on ``replicates`` draws of users."""
    if replicates < 1:
        raise ParameterError(f"replicates must be >= 1, got {replicates}.")
    streams = np.random.SeedSequence(seed).spawn(len(judged))
    by_topic = [
        _topic_replicates(
            topic,
            {measure: tie_order(scores[place]) for measure, scores in runs.items()},
            replicates,
            np.random.default_rng(streams[place]),
        )
        for place, topic in enumerate(judged)
    ]
    return {measure: averaged([topics[measure] for topics in by_topic]) for measure in runs}


def _topic_replicates(
    topic: JudgedTopic, orders: Mapping[str, TieOrder], replicates: int, rng: np.random.Generator
) -> dict[str, TopicMetrics]:
    parts: dict[str, list[TopicMetrics]] = {measure: [] for measure in orders}
    ideal_order = tie_order(topic.grades)
    for weights in _drawn_weights(topic.sensitive, replicates, rng):
        ideal = _weighted(ideal_order, topic, weights)
        for measure, order in orders.items():
            parts[measure].append(topic_metrics(_weighted(order, topic, weights), ideal))
    return {measure: TopicMetrics.joined(own) for measure, own in parts.items()}


def _weighted(order: TieOrder, topic: JudgedTopic, weights: Floats) -> TiedRanking:
    return TiedRanking(
        order.totals(weights),
        order.totals(weights * topic.sensitive),
        order.totals(weights * topic.grades),
    )


def _drawn_weights(sensitive: Flags, replicates: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each user is drawn, some replicates (rows) at a time."""
    at_once = max(1, CELLS_AT_ONCE // len(sensitive))
    for start in range(0, replicates, at_once):
        weights = _draws(min(at_once, replicates - start), len(sensitive), rng)
        while (without := ~weights[:, sensitive].any(axis=1)).any():
            weights[without] = _draws(int(without.sum()), len(sensitive), rng)
        yield weights


def _draws(rows: int, users: int, rng: np.random.Generator) -> Floats:
    drawn = rng.integers(0, users, (rows, users)) + users * np.arange(rows)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=rows * users)
    return counts.reshape(rows, users).astype(np.float64)
