"""Who was judged sensitive, and the scores of the same users under each measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
        raise InputError(f"the ranks lack a judged topic: {where}. Rank it, or judge without it.")
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
        raise InputError(f"cannot read {path}: it is no whole Parquet file.") from None
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
