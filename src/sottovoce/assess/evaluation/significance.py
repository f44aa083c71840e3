"""Is one measure better than another, or than volume, by more than the choice of users explains?

Intervals come from a bootstrap over users (B. Efron and R. Tibshirani, An Introduction to the
Bootstrap, 1993); all topics and measures see the same draws. A user who is judged for several
topics is one person: drawn for all of them or for none. A draw without any sensitive user of a
topic has no metrics there, so one of them joins it.

Whoever writes more has more chances of a telling post. So the test against volume shuffles labels
among users of like volume only: what a measure gains over that, it does not owe to volume.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation.metrics import (
    JudgedTopic,
    Scores,
    TiedRanking,
    TieOrder,
    TopicMetrics,
    average_topics,
    hits_of_sensitive_users,
    places_of_users,
    tie_order,
    topic_metrics,
)
from sottovoce.errors import InputError, ParameterError

PERMUTATIONS = 10_000
# Up to this many users on whom two measures differ, all sign changes are tried.
EXACT_UP_TO = 16
# Sums of the same numbers in another order differ by rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PairedTest:
    """The mean difference of per-user hits and its two-sided p-values."""

    difference: float
    t: float
    p_t: float
    p_permutation: float


def user_hits(judged: Sequence[JudgedTopic], scores: Scores) -> Floats:
    """The hits of every sensitive user, expected over ties; their mean is R-precision (micro).

    R-Susceptibility, Section 5.1.6: its "individual test samples". A user who is sensitive in
    several topics is one sample, as their hits depend on one another. Users who are not sensitive
    never hit, whatever the measure, so they are left out.
    """
    pairs = zip(judged, scores, strict=True)
    hits = np.concatenate(
        [hits_of_sensitive_users(tie_order(own), topic.sensitive) for topic, own in pairs]
    )
    places = zip(places_of_users(judged), judged, strict=True)
    person = np.concatenate([own[topic.sensitive] for own, topic in places])
    samples, sample = np.unique(person, return_inverse=True)
    totals = np.bincount(sample, hits) * (len(samples) / len(hits))
    return totals.astype(np.float64)


def paired_test(ours: Floats, theirs: Floats, *, seed: int = 0) -> PairedTest:
    """The paper's paired t-test (Section 5.1.6), and a permutation test beside it."""
    if len(ours) != len(theirs):
        raise InputError(f"paired hits must be equally many, got {len(ours)} and {len(theirs)}.")
    differences = ours - theirs
    t, p_value = paired_t(differences)
    return PairedTest(float(differences.mean()), t, p_value, sign_flip_p(differences, seed=seed))


def paired_t(differences: Floats) -> tuple[float, float]:
    """Student's t of the mean difference, and its two-sided p-value.

    Equal measures have t = 0 and p = 1; so has a single user, of whom nothing can be said.
    """
    count = len(differences)
    if count < 2 or not differences.any():  # noqa: PLR2004 - a variance needs two
        return 0.0, 1.0
    error = float(differences.std(ddof=1)) / np.sqrt(count)
    if error <= ROUNDING * abs(float(differences.mean())):
        return float(np.copysign(np.inf, differences.mean())), 0.0
    t = float(differences.mean()) / float(error)
    return t, float(2.0 * special.stdtr(count - 1, -abs(t)))


def sign_flip_p(differences: Floats, *, seed: int = 0) -> float:
    """How often swapping the two measures, user by user at random, differs as much (two-sided).

    Exact where the measures differ on few users, else by 10,000 random swaps.
    """
    changed = differences[differences != 0.0]
    observed = abs(float(changed.sum())) * (1.0 - ROUNDING)
    if len(changed) <= EXACT_UP_TO:
        return float((np.abs(_all_signed_sums(changed)) >= observed).mean())
    rng = np.random.default_rng(seed)
    extreme = sum(
        int((np.abs(_random_signs(len(changed), rng) @ changed) >= observed).sum())
        for _ in range(PERMUTATIONS // 1000)
    )
    return (extreme + 1) / (PERMUTATIONS + 1)


def _all_signed_sums(values: Floats) -> Floats:
    sums: Floats = np.zeros(1)
    for value in values.tolist():
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _random_signs(count: int, rng: np.random.Generator) -> Floats:
    return rng.integers(0, 2, (1000, count)).astype(np.float64) * 2.0 - 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of several tests (S. Holm, Scandinavian Journal of Statistics, 1979).

    The i-th smallest of n is multiplied by n - i + 1, and none is below a smaller one.
    """
    order = np.argsort(p_values, kind="stable")
    ordered = np.asarray(p_values, dtype=np.float64)[order]
    raised = np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))
    adjusted = np.empty(len(ordered))
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted.tolist()


# Volume is skewed: within tenths of a community the most active would still differ widely, and a
# measure of nothing but volume would pass the test.
USERS_PER_STRATUM = 10
STRATA_PERMUTATIONS = 1000
CELLS_AT_ONCE = 250_000


@dataclass(frozen=True)
class StratifiedTest:
    """A metric, its mean when labels are shuffled within strata, and the one-sided p-value."""

    value: float
    by_volume: float
    p_value: float


def volume_strata(volumes: Floats, users: int = USERS_PER_STRATUM) -> Integers:
    """Strata of about ``users`` users of like volume; equal volumes share a stratum."""
    if users < 1:
        raise ParameterError(f"users per stratum must be >= 1, got {users}.")
    strata = max(1, len(volumes) // users)
    edges = np.quantile(volumes, np.arange(1, strata) / strata)
    return np.searchsorted(edges, volumes, side="left").astype(np.int64)


def stratified_test(
    judged: Sequence[JudgedTopic],
    scores: Scores,
    strata: Sequence[Integers],
    *,
    metric: str = "map",
    permutations: int = STRATA_PERMUTATIONS,
    seed: int = 0,
) -> StratifiedTest:
    """Compare ``metric`` with its values when each stratum's labels are shuffled in each topic."""
    if permutations < 1:
        raise ParameterError(f"permutations must be >= 1, got {permutations}.")
    streams = np.random.SeedSequence(seed).spawn(len(judged))
    pools = _pools(judged)
    parts = [
        _shuffled_metrics(
            topic, tie_order(own), stratum, permutations, np.random.default_rng(streams[pool])
        )
        for topic, own, stratum, pool in zip(judged, scores, strata, pools, strict=True)
    ]
    # The first repetition keeps the true labels.
    values = average_topics(parts)[metric]
    true, shuffled = float(values[0]), values[1:]
    extreme = int((shuffled >= true * (1.0 - 1e-12)).sum())
    return StratifiedTest(true, float(shuffled.mean()), (extreme + 1) / (permutations + 1))


def _pools(judged: Sequence[JudgedTopic]) -> list[int]:
    """The first topic with the same users: they are shuffled alike, all labels of a user at once.

    Else labels that agree over topics would look like as many finds as there are topics.
    """
    return [
        next(place for place, other in enumerate(judged) if other.users.equals(topic.users))
        for topic in judged
    ]


def _shuffled_metrics(
    topic: JudgedTopic,
    order: TieOrder,
    strata: Integers,
    permutations: int,
    rng: np.random.Generator,
) -> TopicMetrics:
    users = len(topic.users)
    size = order.totals(np.ones(users))
    ideal_order = tie_order(topic.grades)
    ideal = TiedRanking(
        ideal_order.totals(np.ones(users)),
        ideal_order.totals(topic.sensitive),
        ideal_order.totals(topic.grades),
    )

    def metrics(places: Integers) -> TopicMetrics:
        relevant = order.totals(topic.sensitive[places])
        gain = order.totals(topic.grades[places])
        return topic_metrics(TiedRanking(np.broadcast_to(size, gain.shape), relevant, gain), ideal)

    return TopicMetrics.join([metrics(places) for places in _shuffles(strata, permutations, rng)])


def _shuffles(strata: Integers, permutations: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Rows of places: first everyone's own, then exchanges within strata."""
    users = len(strata)
    yield np.arange(users)[None, :]
    grouped = np.argsort(strata, kind="stable")
    at_once = max(1, CELLS_AT_ONCE // users)
    for start in range(0, permutations, at_once):
        rows = min(at_once, permutations - start)
        shuffled = np.argsort(strata + rng.random((rows, users)), axis=1)
        places = np.empty_like(shuffled)
        places[:, grouped] = shuffled
        yield places


REPLICATES = 1000
CONFIDENCE = 0.95
# Replicates times users held at once: a few megabytes, whatever the community's size.
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
    return {
        name: average_topics([TopicMetrics.join(found[name]) for found in parts]) for name in runs
    }


def _add_metrics(
    topic: JudgedTopic,
    orders: Mapping[str, TieOrder],
    weights: Floats,
    found: Mapping[str, list[TopicMetrics]],
) -> None:
    """Every measure's metrics on some draws."""
    ideal = _weigh_ranking(tie_order(topic.grades), topic, weights)
    for measure, order in orders.items():
        found[measure].append(topic_metrics(_weigh_ranking(order, topic, weights), ideal))


def _weigh_ranking(order: TieOrder, topic: JudgedTopic, weights: Floats) -> TiedRanking:
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
