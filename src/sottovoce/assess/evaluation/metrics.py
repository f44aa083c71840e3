"""The five numbers of tables 4 and 5, for one measure over all its topics.

R-precision (micro and macro), precision at 5, MAP and NDCG, each expected over the orders of tied
users: F. McSherry and M. Najork, Computing information retrieval performance measures efficiently
in the presence of tied scores (ECIR 2008). NDCG is that of K. Järvelin and J. Kekäläinen, Cumulated
gain-based evaluation of IR techniques (TOIS 2002), with the discount 1/log2(1 + place).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.assess.evaluation.judged import JudgedTopic, Scores
from sottovoce.errors import InputError


@dataclass(frozen=True, eq=False)
class TieOrder:
    """Users by falling score: ``users`` are their places, ``starts`` where each tie begins."""

    users: Integers
    starts: Integers

    def totals(self, values: NDArray[np.generic]) -> Floats:
        """The sum of each tie, the highest first; the last axis of ``values`` runs over users."""
        ordered = np.asarray(values, dtype=np.float64)[..., self.users]
        return np.add.reduceat(ordered, self.starts, axis=-1)

    def share_values(self, values: Floats) -> Floats:
        """What each user gets when each tie's value is given to all its users."""
        lengths = np.diff(self.starts, append=len(self.users))
        result = np.empty(len(self.users))
        result[self.users] = np.repeat(values, lengths)
        return result


@dataclass(frozen=True, eq=False)
class TiedRanking:
    """Ties from the highest score to the lowest, on the last axis; axes before it are repetitions.

    A tie may be empty: a bootstrap may draw none of its users.
    """

    size: Floats
    """Users in each tie."""
    relevant: Floats
    """Of these, the sensitive ones."""
    gain: Floats
    """The sum of their grades."""

    @property
    def users_above(self) -> Floats:
        """Users ranked above each tie."""
        return np.cumsum(self.size, axis=-1) - self.size

    def share_within(self, cutoff: Floats | float) -> Floats:
        """The share of each tie that stands within the first ``cutoff`` places, on average."""
        places = np.clip(np.asarray(cutoff)[..., None] - self.users_above, 0.0, self.size)
        return places / np.maximum(self.size, 1.0)


def tie_order(scores: Floats) -> TieOrder:
    """Sort users by falling score and find where the score changes."""
    if len(scores) < 1:
        raise InputError("a ranking needs at least 1 user, got none.")
    if np.isnan(scores).any():
        raise InputError(
            f"scores must be numbers, got {int(np.isnan(scores).sum())} that are not (NaN)."
        )
    users = np.argsort(-scores, kind="stable")
    ordered = scores[users]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return TieOrder(users, starts)


def tied_ranking(scores: Floats, sensitive: Flags, grades: Floats | None = None) -> TiedRanking:
    """The ranking of users by ``scores``; without ``grades`` the sensitive ones have grade 1."""
    order = tie_order(scores)
    gains = np.asarray(sensitive, dtype=np.float64) if grades is None else grades
    return TiedRanking(
        order.totals(np.ones(len(scores))), order.totals(sensitive), order.totals(gains)
    )


def average_precision(ranking: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, MAP for one topic.

    In a tie of n users, t of them sensitive, with s users and R sensitive ones above it, place
    s + i is sensitive with probability t/n, and then has R + 1 + (i-1)(t-1)/(n-1) sensitive users
    at or above it. Summed over i, with harmonic numbers H, the tie adds
    t/n (n d + (R + 1 - d (s + 1)) (H(s+n) - H(s))), where d = (t-1)/(n-1).
    """
    n, t, s = ranking.size, ranking.relevant, ranking.users_above
    before = np.cumsum(t, axis=-1) - t
    d = (t - 1.0) / np.maximum(n - 1.0, 1.0)
    d = np.where(n > 1, d, 0.0)
    harmonic = _harmonic_numbers(int(n.sum(axis=-1).max()))
    first, last = s.astype(np.intp), (s + n).astype(np.intp)
    reciprocals = harmonic[last] - harmonic[first]
    added = t / np.maximum(n, 1.0) * (n * d + (before + 1.0 - d * (s + 1.0)) * reciprocals)
    result: Floats = added.sum(axis=-1) / t.sum(axis=-1)
    return result


@lru_cache(maxsize=8)
def _harmonic_numbers(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])


def discounted_gain(ranking: TiedRanking) -> Floats:
    """Sum over places of the expected grade there, discounted."""
    discounts = _summed_discounts(int(ranking.size.sum(axis=-1).max()))
    first = ranking.users_above.astype(np.intp)
    last = first + ranking.size.astype(np.intp)
    mean = ranking.gain / np.maximum(ranking.size, 1.0)
    total: Floats = (mean * (discounts[last] - discounts[first])).sum(axis=-1)
    return total


def ndcg(ranking: TiedRanking, ideal: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, NDCG: linear gain on the mean judgement.

    ``ideal`` ranks the same users by their grades.
    """
    return discounted_gain(ranking) / discounted_gain(ideal)


@lru_cache(maxsize=8)
def _summed_discounts(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, most + 2)))])


def precision_at(ranking: TiedRanking, cutoff: int = 5) -> Floats:
    """R-Susceptibility, Table 4, Prec@5: the share of sensitive users in the first places.

    A community of fewer than ``cutoff`` users leaves places empty, and these count as misses.
    """
    found: Floats = (ranking.relevant * ranking.share_within(float(cutoff))).sum(axis=-1)
    return found / cutoff


def expected_hits(ranking: TiedRanking) -> Floats:
    """How many of the r sensitive users stand within the first r places, on average over ties."""
    wanted = ranking.relevant.sum(axis=-1)
    hits: Floats = (ranking.relevant * ranking.share_within(wanted)).sum(axis=-1)
    return hits


def r_precision(ranking: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, R-Precision: the share of hits among the first r users."""
    share: Floats = expected_hits(ranking) / ranking.relevant.sum(axis=-1)
    return share


def hits_of_sensitive_users(order: TieOrder, sensitive: Flags) -> Floats:
    """For each sensitive user, the probability that they stand within the first r places.

    Their mean over topics and users is the micro-averaged R-precision (Section 5.1.6).
    """
    size = order.totals(np.ones(len(sensitive)))
    ranking = TiedRanking(size, order.totals(sensitive), np.zeros_like(size))
    share = ranking.share_within(ranking.relevant.sum(axis=-1))
    return order.share_values(share)[sensitive]


METRICS = ("r_precision_micro", "r_precision_macro", "precision_at_5", "map", "ndcg")


@dataclass(frozen=True, eq=False)
class TopicMetrics:
    """One topic's metrics; arrays where the ranking has repetitions."""

    hits: Floats
    sensitive: Floats
    precision_at_5: Floats
    average_precision: Floats
    ndcg: Floats

    @property
    def r_precision(self) -> Floats:
        """Precision at the number of sensitive users."""
        return self.hits / self.sensitive

    @classmethod
    def join(cls, parts: Sequence["TopicMetrics"]) -> "TopicMetrics":
        """Repetitions one after the other."""
        names = [field.name for field in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def topic_metrics(ranking: TiedRanking, ideal: TiedRanking) -> TopicMetrics:
    """All metrics of one ranking; ``ideal`` ranks the same users by grade."""
    return TopicMetrics(
        hits=expected_hits(ranking),
        sensitive=ranking.relevant.sum(axis=-1),
        precision_at_5=precision_at(ranking, 5),
        average_precision=average_precision(ranking),
        ndcg=ndcg(ranking, ideal),
    )


def metrics_by_topic(judged: Sequence[JudgedTopic], scores: Scores) -> list[TopicMetrics]:
    """The metrics of each topic of one measure."""
    return [
        topic_metrics(
            tied_ranking(own, topic.sensitive, topic.grades),
            tied_ranking(topic.grades, topic.sensitive, topic.grades),
        )
        for topic, own in zip(judged, scores, strict=True)
    ]


def average_topics(topics: Sequence[TopicMetrics]) -> Mapping[str, Floats]:
    """Over topics: R-precision by users (micro) and by topics (macro), the others by topics."""
    hits, sensitive = (
        _stack_values(t.hits for t in topics),
        _stack_values(t.sensitive for t in topics),
    )
    return {
        "r_precision_micro": hits.sum(axis=0) / sensitive.sum(axis=0),
        "r_precision_macro": (hits / sensitive).mean(axis=0),
        "precision_at_5": _stack_values(t.precision_at_5 for t in topics).mean(axis=0),
        "map": _stack_values(t.average_precision for t in topics).mean(axis=0),
        "ndcg": _stack_values(t.ndcg for t in topics).mean(axis=0),
    }


def _stack_values(values: Iterable[Floats]) -> Floats:
    return np.stack(list(values))
