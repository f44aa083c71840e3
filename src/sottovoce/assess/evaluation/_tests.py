"""Is one measure better than another, or than volume, by more than the choice of users explains?

Whoever writes more has more chances of a telling post. So for the second question labels are
shuffled among users of like volume only: what a measure gains over that, it does not owe to volume.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation._ties import TiedRanking, TieOrder, tie_order
from sottovoce.assess.evaluation.judged import JudgedTopic, Scores, places_of_users
from sottovoce.assess.evaluation.metrics import (
    TopicMetrics,
    averaged,
    hits_of_sensitive_users,
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
    values = averaged(parts)[metric]
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

    return TopicMetrics.joined([metrics(places) for places in _shuffles(strata, permutations, rng)])


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
