"""What is known of a community's users, to judge rankings by."""

from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read.bytes import as_bytes, strict
from sottovoce.corpus.read.corpus import Corpus, Source, reader_for
from sottovoce.corpus.read.tally import ReadOptions, Tally
from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import CorpusError, MissingColumnError


def read_truth(source: Source, *, options: ReadOptions = ReadOptions()) -> pa.Table:  # noqa: B008 - frozen
    """One row per user and topic: persona, whether the topic is sensitive, and grade from 0 to 1.

    Nothing is skipped: judging by half a truth would be worse than not judging.

    >>> read_truth([{"user": "ada", "topic": "debt", "sensitive": True, "grade": 0.8}]).num_rows
    1
    """
    tally = Tally()
    try:
        raw = reader_for(source, TRUTH, options).raw_batches(tally)
        table = pa.Table.from_batches([_conform_truth(batch) for batch in raw], TRUTH)
    except MissingColumnError as error:
        # No command maps the columns of a truth: it is somebody's judgement, made for this.
        raise CorpusError(f"{error.missing} A truth has {', '.join(TRUTH.names)}.") from None
    if tally.skipped:
        raise CorpusError(f"the truth must be readable throughout: {tally}.")
    _check(table)
    return table


class Coverage(NamedTuple):
    """How many users are in one of truth and posts but not in the other.

    >>> Coverage(truth_users_without_posts=1, post_users_without_truth=0)[0]
    1
    """

    truth_users_without_posts: int
    post_users_without_truth: int


def check_truth_against_posts(truth: pa.Table, posts: Corpus) -> Coverage:
    """Count the users that only the truth or only the posts know; reads the posts once.

    >>> from sottovoce.corpus.read.corpus import open_posts
    >>> truth = read_truth([{"user": "ada", "topic": "debt", "sensitive": True, "grade": 0.8}])
    >>> check_truth_against_posts(truth, open_posts([("ben", "2024-01-01", "the sea")]))
    Coverage(truth_users_without_posts=1, post_users_without_truth=1)
    """
    known = set(pc.unique(truth["user"]).to_pylist())
    posting: set[str] = set()
    for batch in posts:
        posting.update(pc.unique(batch["user"]).to_pylist())
    return Coverage(len(known - posting), len(posting - known))


def _conform_truth(raw: pa.RecordBatch) -> pa.RecordBatch:
    columns = {name: _column(raw, name) for name in TRUTH.names}
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=TRUTH)


def _column(raw: pa.RecordBatch, name: str) -> pa.Array:
    if name not in raw.schema.names:
        return pa.nulls(raw.num_rows, TRUTH.field(name).type)
    column, wanted = raw.column(name), TRUTH.field(name).type
    if pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
        return column.cast(wanted)
    try:
        return strict(as_bytes(column)).cast(wanted)
    except pa.ArrowInvalid:
        raise CorpusError(f"the truth's {name} must be {_WANTED[name]} in every row.") from None


_WANTED = {"sensitive": "true or false", "grade": "a number from 0 to 1"}


def _check(truth: pa.Table) -> None:
    if not truth.num_rows:
        raise CorpusError("the truth has no row.")
    for field in TRUTH:
        missing = truth[field.name].null_count
        if missing and not field.nullable:
            raise CorpusError(f"the truth has {missing} rows without a {field.name}.")
    grade = truth["grade"]
    inside = pc.sum(pc.and_(pc.greater_equal(grade, 0), pc.less_equal(grade, 1))).as_py()
    if inside < truth.num_rows:
        outside = truth.num_rows - inside
        raise CorpusError(f"grade must be from 0 to 1; {outside} rows of the truth are outside.")
    pairs = truth.group_by(["user", "topic"]).aggregate([]).num_rows
    if pairs < truth.num_rows:
        raise CorpusError(
            f"the truth has {truth.num_rows - pairs} rows that repeat a (user, topic) pair; "
            "keep one row for each."
        )
