"""Whose profiles are judged: a list of users and topics, or a sample of a ranking.

Apart from the other sheets, since Arrow and the rankings would slow down every --help.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of
from sottovoce.topics.judgements.profiles import sample_users
from sottovoce.topics.judgements.votes import read_rows

_NEEDED = ("user", "topic")


def require_consent(with_texts: bool) -> None:
    """Refuse to write people's texts unasked."""
    if not with_texts:
        raise ParameterError(
            "judges of profiles read what people wrote; think about who will see the sheets, then "
            "add --with-texts to write the texts into them."
        )


def read_profiles(
    path: Path, *, sample: int | None, base: float, seed: int
) -> list[tuple[str, str]]:
    """The (user, topic) pairs of a CSV or Parquet file, or a sample of them by score."""
    table = _parquet(path) if path.suffix in {".parquet", ".pq"} else _csv(path)
    missing = [
        name
        for name in (*_NEEDED, *(["score"] if sample else []))
        if name not in table.column_names
    ]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}.")
    if any(table[name].null_count for name in _NEEDED):
        raise InputError(f"{path}: every row needs a user and a topic.")
    _require_one_measure(table, path)
    if sample is None:
        return list(
            zip(*(table[name].cast(pa.string()).to_pylist() for name in _NEEDED), strict=True)
        )
    return [
        pair
        for topic in pc.unique(table["topic"]).to_pylist()
        for pair in _sample_ranking(
            table.filter(pc.equal(table["topic"], topic)), sample, base, seed
        )
    ]


def _sample_ranking(ranking: pa.Table, count: int, base: float, seed: int) -> list[tuple[str, str]]:
    users = ranking["user"].cast(pa.string()).to_pylist()
    scores = ranking["score"].cast(pa.float64()).to_numpy()
    places = sample_users(users, scores, min(count, len(users)), base=base, seed=seed)
    return [(users[place], str(ranking["topic"][0])) for place in places.tolist()]


def _require_one_measure(table: pa.Table, path: Path) -> None:
    if "measure" in table.column_names and len(pc.unique(table["measure"])) > 1:
        raise InputError(f"{path} ranks by several measures; keep the rows of one of them.")


def _parquet(path: Path) -> pa.Table:
    try:
        return pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(f"cannot read {path}: {cause_of(error)}.") from None


def _csv(path: Path) -> pa.Table:
    rows = [row for _, row in read_rows(path)]
    if not rows:
        raise InputError(f"{path} has no row.")
    table = pa.Table.from_pylist(rows)
    if "score" not in table.column_names:
        return table
    try:
        return table.set_column(
            table.column_names.index("score"), "score", table["score"].cast(pa.float64())
        )
    except pa.ArrowInvalid:
        raise InputError(f"{path}: score must be a number in every row.") from None
