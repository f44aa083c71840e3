"""How well the afflicted are found: metrics over samples, paired bootstrap, shuffled labels.

Users are drawn once for all topics, measures and samples: a user who is ranked for several topics
is one person, and all measures see the same people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce._arrays import Flags, Floats, Integers
from sottovoce.assess.evaluation import TiedRanking, TieOrder, tie_order, topic_metrics

METRICS = ("r_precision", "average_precision", "ndcg")
ROWS_AT_ONCE = 250
# Active weeks are many for few and few for many: about equal shares of the afflicted.
WEEK_EDGES = (3, 5, 8, 12, 17, 25)


@dataclass(frozen=True, eq=False)
class BlogTopicRanks:
    """One topic's users under every measure, each by one or more samples of posts."""

    name: str
    users: Integers
    """Places among all users, so that a draw of people is the same for every topic."""
    afflicted: Flags
    orders: Mapping[str, tuple[TieOrder, ...]]
    """By measure, one ranking for each sample."""
    weeks: Integers
    """The stratum of each user by the weeks of their whole timeline."""
    words: Integers
    """The stratum of each user by the words of the posts by which they are ranked."""


def week_strata(weeks: Floats) -> Integers:
    """Users who were active in about as many weeks."""
    return np.digitize(weeks, WEEK_EDGES).astype(np.int64)


def orders_of(scores: Sequence[Mapping[str, Floats]]) -> dict[str, tuple[TieOrder, ...]]:
    """By measure, the rankings of the samples."""
    return {name: tuple(tie_order(each[name]) for each in scores) for name in scores[0]}


def draw_people(users: int, replicates: int, seed: int) -> NDArray[np.float64]:
    """How often each of ``users`` is drawn, a row for each replicate; the first draws all once."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, users, (replicates, users)) + users * np.arange(replicates)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=replicates * users).reshape(replicates, users)
    return np.concatenate([np.ones((1, users)), counts])


def drawn_metrics(topic: BlogTopicRanks, measure: str, people: Floats) -> dict[str, Floats]:
    """Each metric's mean over samples, for each draw of people (a row)."""
    parts = [
        _metrics(topic, topic.orders[measure], people[first : first + ROWS_AT_ONCE, topic.users])
        for first in range(0, len(people), ROWS_AT_ONCE)
    ]
    return {name: np.concatenate([part[name] for part in parts]) for name in METRICS}


def _metrics(
    topic: BlogTopicRanks, orders: Sequence[TieOrder], weights: Floats
) -> dict[str, Floats]:
    ideal = _ranking(tie_order(topic.afflicted.astype(np.float64)), topic.afflicted, weights)
    found = [topic_metrics(_ranking(order, topic.afflicted, weights), ideal) for order in orders]
    return {name: np.mean([getattr(each, name) for each in found], axis=0) for name in METRICS}


def _ranking(order: TieOrder, afflicted: Flags, weights: Floats) -> TiedRanking:
    relevant = order.totals(weights * afflicted)
    return TiedRanking(order.totals(weights), relevant, relevant)


def matched_precision(topic: BlogTopicRanks, measure: str, people: Floats) -> Floats:
    """Average precision among users of like active weeks, for each draw of people.

    Each stratum is a ranking of its own and counts by its afflicted.
    """
    weights = people[:, topic.users]
    total, afflicted = np.zeros(len(people)), np.zeros(len(people))
    for stratum in np.unique(topic.weeks):
        inside = topic.weeks == stratum
        if topic.afflicted[inside].any():
            found = weights[:, inside & topic.afflicted].sum(axis=1)
            precision = _stratum_precision(topic, measure, inside, weights)
            total += np.where(found > 0, found * precision, 0.0)
            afflicted += found
    matched: Floats = total / np.maximum(afflicted, 1.0)
    return matched


def _stratum_precision(
    topic: BlogTopicRanks, measure: str, inside: Flags, weights: Floats
) -> Floats:
    """Mean over samples of the average precision within one stratum; 0 where nobody was drawn."""
    own = weights * inside
    drawn = (own * topic.afflicted).sum(axis=1) > 0
    result = np.zeros(len(weights))
    values = [
        topic_metrics(ranking, ranking).average_precision
        for ranking in (
            _ranking(order, topic.afflicted, own[drawn]) for order in topic.orders[measure]
        )
    ]
    result[drawn] = np.mean(values, axis=0)
    return result


def shuffled_precision(
    topic: BlogTopicRanks, measure: str, strata: Integers, permutations: int, seed: int
) -> Floats:
    """Average precision with the true labels, then with labels shuffled within strata."""
    rng = np.random.default_rng([seed, *topic.name.encode()])
    grouped = np.argsort(strata, kind="stable")
    shuffled = np.argsort(strata + rng.random((permutations, strata.size)), axis=1)
    places = np.empty_like(shuffled)
    places[:, grouped] = shuffled
    labels = np.concatenate([topic.afflicted[None, :], topic.afflicted[places]])
    everyone = np.ones(strata.size)
    values = []
    for order in topic.orders[measure]:
        relevant = order.totals(labels)
        size = np.broadcast_to(order.totals(everyone), relevant.shape)
        ranking = TiedRanking(size, relevant, relevant)
        values.append(topic_metrics(ranking, ranking).average_precision)
    mean: Floats = np.mean(values, axis=0)
    return mean


def one_sided_p(values: Floats) -> float:
    """How often shuffled labels do as well as the true ones, which come first."""
    extreme = int((values[1:] >= values[0] * (1.0 - 1e-12)).sum())
    return (extreme + 1) / len(values)
