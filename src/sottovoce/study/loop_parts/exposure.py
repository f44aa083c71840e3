"""How much of a ranking survives a release, and how many of the afflicted are still found."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from sottovoce.assess.evaluation import JudgedTopic
from sottovoce.assess.evaluation.judged import user_rows
from sottovoce.assess.evaluation.metrics import averaged, metrics_by_topic
from sottovoce.release.counts import Floats
from sottovoce.study.loop_parts.adversary import TopicScores

SHARES = (1, 5, 10)
"""Per cent of the community."""


def r_precision(judged: Sequence[JudgedTopic], users: pa.Array, scores: TopicScores) -> float:
    """Of as many users as are afflicted, taken from the top, the share who are (micro-average)."""
    own = [scores[topic.name][user_rows(topic, users)] for topic in judged]
    return float(averaged(metrics_by_topic(judged, own))["r_precision_micro"])


def chance(judged: Sequence[JudgedTopic]) -> float:
    """The R-precision of a random order, on average."""
    hits = sum(topic.sensitive.sum() ** 2 / len(topic.users) for topic in judged)
    return float(hits / sum(topic.sensitive.sum() for topic in judged))


def place_of_afflicted(
    judged: Sequence[JudgedTopic], users: pa.Array, scores: TopicScores
) -> float:
    """The median place of the afflicted, as a percentage of the community from the top."""
    places = [
        100 * mean_ranks(scores[topic.name])[user_rows(topic, users)][topic.sensitive] / len(users)
        for topic in judged
    ]
    return float(np.median(np.concatenate(places)))


def correlation(before: TopicScores, after: TopicScores) -> float:
    """Spearman's rho between two rankings of the same users, the mean over topics."""
    return float(np.mean([_rho(before[topic], after[topic]) for topic in before]))


def overlap(before: TopicScores, after: TopicScores, share: int) -> float:
    """Of those at the top before, the part at the top after; the mean over topics.

    Users who tie at the edge count by the chance that they are inside.
    """
    return float(np.mean([_shared(before[topic], after[topic], share) for topic in before]))


def surviving(before: TopicScores, after: TopicScores) -> Mapping[str, float]:
    """Everything about two rankings that needs no truth."""
    return {
        "rank_correlation": correlation(before, after),
        **{f"overlap_{share}": overlap(before, after, share) for share in SHARES},
    }


def mean_ranks(scores: Floats) -> Floats:
    """Places from 1, the highest score first; who ties shares the middle place."""
    return stats.rankdata(-scores, method="average")


def _rho(before: Floats, after: Floats) -> float:
    one, other = mean_ranks(before), mean_ranks(after)
    if not (np.ptp(one) and np.ptp(other)):
        return 0.0  # where everybody ties no order is left to agree with
    return float(np.corrcoef(one, other)[0, 1])


def _shared(before: Floats, after: Floats, share: int) -> float:
    size = max(1, round(before.size * share / 100))
    inside, still = _inside(before, size), _inside(after, size)
    return float((inside * still).sum() / size)


def _inside(scores: Floats, size: int) -> NDArray[np.float64]:
    """Each user's chance to stand within the first ``size`` places."""
    edge = np.partition(scores, scores.size - size)[scores.size - size]
    above, tied = scores > edge, scores == edge
    inside: Floats = above + tied * ((size - above.sum()) / tied.sum())
    return inside
