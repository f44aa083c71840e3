"""The five numbers of tables 4 and 5, for one measure over all its topics.

R-precision (micro and macro), precision at 5, MAP and NDCG, each expected over the orders of tied
users: F. McSherry and M. Najork, Computing information retrieval performance measures efficiently
in the presence of tied scores (ECIR 2008). NDCG is that of K. Järvelin and J. Kekäläinen, Cumulated
gain-based evaluation of IR techniques (TOIS 2002), with the discount 1/log2(1 + place).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.arrays import Flags, Floats, Integers
from sottovoce.assess.ranks_file import read_ranks_as_text
from sottovoce.errors import InputError

LEAST_USERS = 2


@dataclass(frozen=True, eq=False)
class JudgedTopic:
    """The judged users of one topic: R-Susceptibility, Section 5.1.3.

    ``sensitive`` is the majority's vote, ``grades`` the mean vote, from 0 to 1.
    """

    name: str
    users: pa.Array
    sensitive: Flags
    grades: Floats

    def __post_init__(self) -> None:
        """Refuse what no ranking can be judged by."""
        if len(self.users) < LEAST_USERS:
            raise InputError(
                f"topic {self.name!r} must have at least {LEAST_USERS} judged users, "
                f"got {len(self.users)}: one user cannot be ranked."
            )
        if not self.sensitive.any():
            raise InputError(
                f"topic {self.name!r} must have at least 1 sensitive user, got none: "
                "no ranking of it is better than another. Leave the topic out of the truth."
            )
        ungraded = int((self.grades[self.sensitive] <= 0.0).sum())
        if ungraded:
            raise InputError(
                f"a sensitive user's grade must be > 0, got {ungraded} of grade 0 "
                f"in topic {self.name!r}."
            )


Scores = Sequence[Floats]
"""The scores of one measure: an array per judged topic, in the order of its users."""


def judged_topics(truth: pa.Table) -> tuple[JudgedTopic, ...]:
    """Split a truth table (user, topic, persona, sensitive, grade) by topic, in its order."""
    names = pc.unique(truth["topic"])
    return tuple(_split_topic(truth.filter(pc.equal(truth["topic"], name)), name) for name in names)


def _split_topic(rows: pa.Table, name: pa.Scalar) -> JudgedTopic:
    return JudgedTopic(
        name=name.as_py(),
        users=rows["user"].combine_chunks(),
        sensitive=rows["sensitive"].to_numpy(),
        grades=rows["grade"].to_numpy(),
    )


def scores_by_measure(ranks: pa.Table, judged: Sequence[JudgedTopic]) -> Mapping[str, Scores]:
    """The judged users' scores in a table of ranks (measure, user, topic, score).

    Users and topics that nobody judged are left out; a judged one without a score is refused.
    """
    measures = pc.unique(ranks["measure"]).to_pylist()
    if not measures:
        raise InputError("the ranks must have at least 1 row, got none.")
    return {measure: _scores_of(ranks, measure, judged) for measure in measures}


def _scores_of(ranks: pa.Table, measure: str, judged: Sequence[JudgedTopic]) -> Scores:
    own = ranks.filter(pc.equal(ranks["measure"], measure))
    return tuple(_topic_scores(own, measure, topic) for topic in judged)


def _topic_scores(own: pa.Table, measure: str, topic: JudgedTopic) -> Floats:
    rows = own.filter(pc.equal(own["topic"], topic.name))
    where = f"measure {measure!r}, topic {topic.name!r}"
    if not rows.num_rows:
        raise InputError(
            f"the ranks lack a judged topic: {where}. Rank it, or leave it out of the truth."
        )
    repeated = rows.num_rows - len(pc.unique(rows["user"]))
    if repeated:
        raise InputError(f"a user must be ranked once, got {repeated} rows too many: {where}.")
    places = pc.index_in(topic.users, value_set=rows["user"].combine_chunks())
    if places.null_count:
        raise InputError(
            f"{places.null_count} of {len(topic.users)} judged users are missing in the ranks: "
            f"{where}. Rank the same community that was judged."
        )
    scores = rows["score"].cast(pa.float64()).combine_chunks().take(places)
    unknown = scores.null_count + int(pc.sum(pc.is_nan(scores)).as_py() or 0)
    if unknown:
        raise InputError(f"scores must be numbers, got {unknown} that are not: {where}.")
    values: Floats = scores.to_numpy()
    return values


def user_rows(topic: JudgedTopic, names: pa.Array) -> Integers:
    """Where each judged user stands among ``names``, those who have posts."""
    places = pc.index_in(topic.users, value_set=names)
    if places.null_count:
        raise InputError(
            f"{places.null_count} of {len(topic.users)} judged users of topic {topic.name!r} have "
            "no post; judge those who have."
        )
    rows: Integers = places.to_numpy().astype(np.int64)
    return rows


def places_of_users(judged: Sequence[JudgedTopic]) -> list[Integers]:
    """For each topic the number of each of its users: one for a person, whatever the topics."""
    everyone = pa.chunked_array([topic.users.cast(pa.string()) for topic in judged])
    names = pc.unique(everyone)
    return [
        pc.index_in(topic.users.cast(pa.string()), value_set=names).to_numpy().astype(np.int64)
        for topic in judged
    ]


def constant_scores(judged: Sequence[JudgedTopic]) -> Scores:
    """The random baseline: all users tie, so that every metric is its mean over all rankings."""
    return tuple(np.zeros(len(topic.users)) for topic in judged)


NEEDED = ("measure", "user", "topic", "score")


def read_ranks(path: Path) -> pa.Table:
    """Ranks as ``sottovoce assess`` writes them (on Spark a folder)."""
    as_text = path.suffix.lower() in {".csv", ".jsonl"}
    if not path.exists():
        raise InputError(f"cannot read {path}: No such file or directory.")
    try:
        table = read_ranks_as_text(path) if as_text else pq.read_table(path)
    except (pa.ArrowException, OSError):
        raise InputError(f"cannot read {path}: it is not a complete Parquet file.") from None
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        raise InputError(f"the ranks must have a column {missing[0]!r}; {path} has none.")
    return _cast_ranks(path, table)


def _cast_ranks(path: Path, table: pa.Table) -> pa.Table:
    for name in NEEDED:
        if name != "score" and table[name].null_count:
            raise InputError(f"{path} has {table[name].null_count} rows without a {name}.")
    try:
        typed = [table[name].cast(pa.string()) for name in NEEDED[:3]]
        score = table["score"].cast(pa.float64())
    except pa.ArrowException:
        raise InputError(f"the columns of {path} must be text, and score a number.") from None
    return pa.table([*typed, score], names=list(NEEDED))


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
