"""Bootstrap over users; all topics and all measures see the same draws.

B. Efron and R. Tibshirani, An Introduction to the Bootstrap (1993): percentile intervals. A user
who is judged for several topics is one person: they are drawn for all of them or for none. A user
who is drawn twice stands twice in the ranking, tied with themselves. A draw without any sensitive
user of a topic has no metrics there, so one of them joins it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation._ties import TiedRanking, TieOrder, tie_order
from sottovoce.assess.evaluation.judged import JudgedTopic, Scores, places_of_users
from sottovoce.assess.evaluation.metrics import TopicMetrics, averaged, topic_metrics
from sottovoce.errors import ParameterError

REPLICATES = 1000
CONFIDENCE = 0.95
# Replicates times users held at once: a few megabytes, whatever the community's size.
CELLS_AT_ONCE = 250_000
# A stratum of n draws has (n - 1) / n of the variance that it should have.
LEAST_IN_STRATUM = 20


@dataclass(frozen=True)
class Interval:
    """A value and its 95% bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


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
    orders = [
        {measure: tie_order(scores[place]) for measure, scores in runs.items()}
        for place in range(len(judged))
    ]
    parts: list[dict[str, list[TopicMetrics]]] = [{name: [] for name in runs} for _ in judged]
    people = places_of_users(judged)
    rng = np.random.default_rng(seed)
    for drawn in _drawn_weights(judged, people, replicates, rng):
        for topic, places, own, found in zip(judged, people, orders, parts, strict=True):
            _add_metrics(topic, own, drawn[:, places], found)
    return {name: averaged([TopicMetrics.joined(found[name]) for found in parts]) for name in runs}


def _add_metrics(
    topic: JudgedTopic,
    orders: Mapping[str, TieOrder],
    weights: Floats,
    found: Mapping[str, list[TopicMetrics]],
) -> None:
    """Every measure's metrics on some draws."""
    ideal = _weighted(tie_order(topic.grades), topic, weights)
    for measure, order in orders.items():
        found[measure].append(topic_metrics(_weighted(order, topic, weights), ideal))


def _weighted(order: TieOrder, topic: JudgedTopic, weights: Floats) -> TiedRanking:
    return TiedRanking(
        order.totals(weights),
        order.totals(weights * topic.sensitive),
        order.totals(weights * topic.grades),
    )


def _drawn_weights(
    judged: Sequence[JudgedTopic],
    people: Sequence[Integers],
    replicates: int,
    rng: np.random.Generator,
) -> Iterator[Floats]:
    """How often each person is drawn, some replicates (rows) at a time."""
    strata = judging_strata(people)
    at_once = max(1, CELLS_AT_ONCE // len(strata))
    for start in range(0, replicates, at_once):
        weights = np.zeros((min(at_once, replicates - start), len(strata)))
        for stratum in np.unique(strata):
            inside = np.flatnonzero(strata == stratum)
            weights[:, inside] = _draws(len(weights), len(inside), rng)
        for topic, places in zip(judged, people, strict=True):
            _add_sensitive(weights, places[topic.sensitive], rng)
        yield weights


def judging_strata(people: Sequence[Integers]) -> Integers:
    """People who were judged for the same topics, so that every topic keeps its size in a draw.

    Those who share their topics with few others are drawn together: a stratum of one would be
    drawn always, as if they were known to be in every community.
    """
    population = 1 + max(int(places.max()) for places in people)
    topics = np.zeros((population, len(people)), dtype=np.bool_)
    for topic, places in enumerate(people):
        topics[places, topic] = True
    _, strata = np.unique(topics, axis=0, return_inverse=True)
    few = np.bincount(strata.ravel()) < LEAST_IN_STRATUM
    return np.where(few[strata.ravel()], -1, strata.ravel()).astype(np.int64)


def _add_sensitive(weights: Floats, sensitive: Integers, rng: np.random.Generator) -> None:
    without = np.flatnonzero(~weights[:, sensitive].any(axis=1))
    weights[without, rng.choice(sensitive, len(without))] += 1.0


def _draws(rows: int, users: int, rng: np.random.Generator) -> Floats:
    drawn = rng.integers(0, users, (rows, users)) + users * np.arange(rows)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=rows * users)
    return counts.reshape(rows, users).astype(np.float64)
