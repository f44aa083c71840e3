"""How well the afflicted are found: metrics over samples, paired bootstrap, shuffled labels.

Users are drawn once for all topics, measures and samples: a user who is ranked for several topics
is one person, and all measures see the same people.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.assess.evaluation.metrics import TieOrder, tie_order
from sottovoce.assess.ranking import BANDS
from sottovoce.compiled import kernel

METRICS = ("r_precision", "average_precision", "auc")
BAND_COUNTS = tuple(f"{what}_{percent}" for percent in BANDS for what in ("flagged", "found"))
ROWS_AT_ONCE = 512
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
    strata: Mapping[str, Integers]
    """Users alike in ``weeks`` or ``posts`` of their timeline, or ``words`` of the ranked posts."""


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


class SampleOrders(NamedTuple):
    """The rankings of all samples as arrays: samples x users."""

    users: NDArray[np.int64]
    """By falling score."""
    begins: NDArray[np.bool_]
    """Where a tie begins."""

    def restrict_to(self, inside: Flags) -> "SampleOrders":
        """The same among some of the users, as many in each sample."""
        kept = inside[self.users]
        shape = (len(self.users), -1)
        ties = np.cumsum(self.begins, axis=1)[kept].reshape(shape)
        begins = np.diff(ties, prepend=0, axis=1) != 0
        return SampleOrders(self.users[kept].reshape(shape), begins)


def sample_orders(orders: Sequence[TieOrder]) -> SampleOrders:
    """The rankings of one measure."""
    begins = np.zeros((len(orders), orders[0].users.size), np.bool_)
    for row, order in zip(begins, orders, strict=True):
        row[order.starts] = True
    return SampleOrders(np.stack([order.users for order in orders]).astype(np.int64), begins)


def drawn_metrics(topic: BlogTopicRanks, measure: str, people: Floats) -> dict[str, Floats]:
    """Each metric's mean over samples, for each draw of people (a row).

    Also for each band how many users were in it (``flagged_5``) and how many of these were
    afflicted (``found_5``); and how many were ``drawn``, and ``afflicted``.
    """
    orders, weights = sample_orders(topic.orders[measure]), people[:, topic.users]
    found = judged_draws(orders, weights, topic.afflicted)
    return {
        **dict(zip((*METRICS, *BAND_COUNTS), found.T, strict=True)),
        "drawn": weights.sum(axis=1),
        "afflicted": weights[:, topic.afflicted].sum(axis=1),
    }


def judged_draws(orders: SampleOrders, weights: Floats, afflicted: Flags) -> Floats:
    """For each row of ``weights`` the means over samples of the metrics and counts of bands.

    As `topic_metrics` has them, expected over the orders of tied users; 0 where nobody who is
    ranked and afflicted was drawn.
    """
    harmonic = _harmonic(int(weights[:, orders.users[0]].sum(axis=1).max()))
    bands = np.array(BANDS, np.int64)
    parts = []
    for first in range(0, len(weights), ROWS_AT_ONCE):
        # Draws side by side, so that a processor adds up many at once.
        drawn = np.ascontiguousarray(weights[first : first + ROWS_AT_ONCE].T, np.int32)
        out = np.zeros((len(METRICS) + len(BAND_COUNTS), drawn.shape[1]))
        for users, begins in zip(*orders, strict=True):
            judge_draws(users, begins, drawn, afflicted, harmonic, bands, out)
        parts.append(out.T / len(orders.users))
    return np.concatenate(parts)


def _harmonic(most: int) -> Floats:
    """Sums of 1/place over the first places."""
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])


@kernel
def judge_draws(
    users: NDArray[np.int64],
    begins: NDArray[np.bool_],
    drawn: NDArray[np.int32],
    afflicted: NDArray[np.bool_],
    harmonic: NDArray[np.float64],
    bands: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Add one ranking's metrics and counts of bands, of each draw."""
    rows = drawn.shape[1]
    people, wanted = _count_drawn(users, drawn, afflicted)
    above, before = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    within = np.zeros((2 * bands.size, rows), np.int32)
    place, near = 0, True
    while place < users.size:
        size, found = drawn[users[place]].copy(), np.zeros(rows, np.int32)
        told = afflicted[users[place]]
        if told:
            found += drawn[users[place]]
        place += 1
        while place < users.size and not begins[place]:
            size += drawn[users[place]]
            if afflicted[users[place]]:
                told = True
                found += drawn[users[place]]
            place += 1
        if told:
            _judge_tie(size, found, above, before, people, wanted, harmonic, out)
        above += size
        before += found
        if near:
            near = _count_bands(above, before, people, bands, within)
    out[3:] += within


@kernel
def _count_drawn(
    users: NDArray[np.int64], drawn: NDArray[np.int32], afflicted: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """How many of the ranked were drawn, and how many of the afflicted."""
    people, wanted = np.zeros_like(drawn[0]), np.zeros_like(drawn[0])
    for user in users:
        people += drawn[user]
        if afflicted[user]:
            wanted += drawn[user]
    return people, wanted


@kernel
def _judge_tie(
    size: NDArray[np.int32],
    found: NDArray[np.int32],
    above: NDArray[np.int32],
    before: NDArray[np.int32],
    people: NDArray[np.int32],
    wanted: NDArray[np.int32],
    harmonic: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    for row in range(size.size):
        n, t, s = float(size[row]), float(found[row]), above[row]
        if t > 0.0:
            last = s + size[row]
            d = (t - 1.0) / (n - 1.0) if n > 1.0 else 0.0
            sums = harmonic[last] - harmonic[s]
            hits = t / n * min(max(float(wanted[row] - s), 0.0), n)
            precision = t / n * (n * d + (before[row] + 1.0 - d * (s + 1.0)) * sums)
            out[0, row] += hits / wanted[row]
            out[1, row] += precision / wanted[row]
            others = float(people[row] - wanted[row])
            first = s - before[row] + (n - t) / 2.0
            out[2, row] += t * (1.0 - first / max(others, 1.0)) / wanted[row]


@kernel
def _count_bands(
    above: NDArray[np.int32],
    before: NDArray[np.int32],
    people: NDArray[np.int32],
    bands: NDArray[np.int64],
    within: NDArray[np.int32],
) -> bool:
    """Note who is in each band so far; whether any draw may have more."""
    more = False
    for row in range(above.size):
        for band in range(bands.size):
            if above[row] * 100 <= bands[band] * people[row]:
                within[2 * band, row] = above[row]
                within[2 * band + 1, row] = before[row]
                more = True
    return more


def matched_metrics(
    topic: BlogTopicRanks, measure: str, people: Floats, alike: str
) -> dict[str, Floats]:
    """Each metric among users ``alike`` in weeks or posts, for each draw of people.

    Each stratum is a ranking of its own and counts by its afflicted.
    """
    weights, strata = people[:, topic.users], topic.strata[alike]
    orders = sample_orders(topic.orders[measure])
    total, afflicted = np.zeros((len(METRICS), len(people))), np.zeros(len(people))
    for stratum in np.unique(strata[topic.afflicted]):
        inside = strata == stratum
        found = weights[:, inside & topic.afflicted].sum(axis=1)
        # Nobody drawn gives 0, and counts for nothing.
        judged = judged_draws(orders.restrict_to(inside), weights, topic.afflicted)
        total += found * judged[:, : len(METRICS)].T
        afflicted += found
    return dict(zip(METRICS, total / np.maximum(afflicted, 1.0), strict=True))


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
    labelled = np.nonzero(labels)[1].reshape(len(labels), -1)
    orders, harmonic = sample_orders(topic.orders[measure]), _harmonic(strata.size)
    out = np.zeros(len(labels))
    for users, begins in zip(*orders, strict=True):
        starts = np.append(np.flatnonzero(begins), users.size)
        tie = np.empty(users.size, np.int64)
        tie[users] = np.cumsum(begins) - 1
        judge_labels(tie, starts, labelled, harmonic, out)
    return out / len(orders.users)


@kernel
def judge_labels(
    tie: NDArray[np.int64],
    starts: NDArray[np.int64],
    labelled: NDArray[np.int64],
    harmonic: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Add one ranking's average precision with the users of each row of ``labelled`` afflicted."""
    for row in range(len(labelled)):
        ties = np.sort(tie[labelled[row]])
        place, precision = 0, 0.0
        while place < ties.size:
            first = place
            while place < ties.size and ties[place] == ties[first]:
                place += 1
            s, last, t = starts[ties[first]], starts[ties[first] + 1], float(place - first)
            n = float(last - s)
            d = (t - 1.0) / (n - 1.0) if n > 1.0 else 0.0
            sums = harmonic[last] - harmonic[s]
            precision += t / n * (n * d + (first + 1.0 - d * (s + 1.0)) * sums)
        out[row] += precision / ties.size


def one_sided_p(values: Floats) -> float:
    """How often shuffled labels do as well as the true ones, which come first."""
    extreme = int((values[1:] >= values[0] * (1.0 - 1e-12)).sum())
    return (extreme + 1) / len(values)
