"""The posts of one half of the bloggers, and which topics each post or user has as labels."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError
from sottovoce.files import cause_of
from sottovoce.study.assess_parts.blogs.halves import Half, half_of

POST_LABELS = "label_post"
USER_LABELS = "label"
GENDER = "gender"
SEPARATOR = ";"


@dataclass(frozen=True, eq=False)
class Timelines:
    """Posts by user and then time, a row each."""

    posts: pa.Table
    """user, time and text, as all readers give them."""
    users: tuple[str, ...]
    """In the order of their ids."""
    user: NDArray[np.int64]
    """The place of each post's writer among ``users``."""
    day: NDArray[np.int64]
    """Days since 1970."""
    words: NDArray[np.int64]
    """The length of each post: runs between spaces."""
    post_labels: tuple[frozenset[str], ...]
    user_labels: tuple[frozenset[str], ...]
    women: NDArray[np.bool_] | None
    """None where nothing is said of gender."""


def read_timelines(path: Path, half: Half, labels_column: str = POST_LABELS) -> Timelines:
    """Read the posts of one half; of the other half nothing but the ids is read.

    ``labels_column`` holds the topics of each post, separated by semicolons. A user has the topics
    of the column ``label`` where the posts' own are in ``label_post``, else those of her posts.
    """
    columns = _columns(path, labels_column)
    table = _rows_of_half(path, half, columns).sort_by(
        [("user", "ascending"), ("time", "ascending")]
    )
    if not table.num_rows:
        raise InputError(f"{path} must hold posts of the {half} half, got none.")
    names, user = np.unique(np.array(table["user"].to_pylist(), object), return_inverse=True)
    post_labels = tuple(map(_topics, table[labels_column].to_pylist()))
    return Timelines(
        posts=_posts(table),
        users=tuple(names.tolist()),
        user=user.astype(np.int64),
        day=table["time"].cast(pa.date32()).cast(pa.int32()).to_numpy().astype(np.int64),
        words=pc.count_substring_regex(table["text"], r"\S+").to_numpy().astype(np.int64),
        post_labels=post_labels,
        user_labels=_user_labels(table, user, len(names), labels_column, post_labels),
        women=_women(table, user, len(names)) if GENDER in columns else None,
    )


def _columns(path: Path, labels_column: str) -> list[str]:
    try:
        present = pq.read_schema(path).names
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"cannot read {path} as Parquet: {cause_of(error)}.") from None
    needed = ["user", "time", "text", labels_column]
    if missing := [name for name in needed if name not in present]:
        raise InputError(f"{path} must have the columns {', '.join(missing)}.")
    wanted = [USER_LABELS, GENDER] if labels_column == POST_LABELS else [GENDER]
    return [*needed, *(name for name in wanted if name in present)]


def _rows_of_half(path: Path, half: Half, columns: list[str]) -> pa.Table:
    if half == "all":
        return pq.read_table(path, columns=columns)
    names = pc.unique(pq.read_table(path, columns=["user"])["user"]).to_pylist()
    own = pa.array([name for name in names if half_of(name) == half], pa.large_string())
    return pq.read_table(path, columns=columns, filters=pc.field("user").isin(own))


def _posts(table: pa.Table) -> pa.Table:
    columns = [table[name].cast(kind) for name, kind in zip(POSTS.names, POSTS.types, strict=True)]
    return pa.table(columns, schema=POSTS)


def _topics(written: str | None) -> frozenset[str]:
    return frozenset(filter(None, (written or "").split(SEPARATOR)))


def _user_labels(
    table: pa.Table,
    user: NDArray[np.int64],
    users: int,
    labels_column: str,
    post_labels: tuple[frozenset[str], ...],
) -> tuple[frozenset[str], ...]:
    of_post = post_labels
    if labels_column == POST_LABELS and USER_LABELS in table.column_names:
        of_post = tuple(map(_topics, table[USER_LABELS].to_pylist()))
    gathered: list[set[str]] = [set() for _ in range(users)]
    for place, topics in zip(user.tolist(), of_post, strict=True):
        gathered[place] |= topics
    return tuple(map(frozenset, gathered))


def _women(table: pa.Table, user: NDArray[np.int64], users: int) -> NDArray[np.bool_]:
    women = np.zeros(users, np.bool_)
    women[user[pc.equal(table[GENDER], "female").to_numpy(zero_copy_only=False).astype(bool)]] = (
        True
    )
    return women
