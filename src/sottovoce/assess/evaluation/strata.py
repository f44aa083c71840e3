"""Does a measure find more than the volume of what people write?

Whoever writes more has more chances of a telling post. So the labels are shuffled among users
of like volume only: what a measure gains over that, it does not owe to volume.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.assess.evaluation.judged import JudgedTopic, Scores
from sottovoce.assess.evaluation.metrics import TopicMetrics, averaged, topic_metrics
from sottovoce.assess.evaluation.ties import Floats, Integers, TiedRanking, TieOrder, tie_order
from sottovoce.errors import ParameterError

# Volume is skewed: within tenths of a community the most active would still differ widely, and a
# measure of nothing but volume would pass the test.
USERS_PER_STRATUM = 10
PERMUTATIONS = 1000
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
    permutations: int = PERMUTATIONS,
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
