"""Open posts, documents or a truth, from a file of any known format, a data frame or rows.

Every format offers a `Reader`. Which one a source needs is decided by the options, by the file's
name, and by its first row. To add a format, write a module with a `FileReader`, name it in
`Format`, and list it in `FORMATS`. A truth is what is known of a community's users, to judge
rankings by.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read._csv import CommaReader
from sottovoce.corpus.read._frame import (
    ArrowStream,
    FrameReader,
    Row,
    is_series,
    rows_reader,
    sample_frame,
    series_reader,
)
from sottovoce.corpus.read._jsonl import JsonLinesReader
from sottovoce.corpus.read._lines import LinesReader
from sottovoce.corpus.read._parquet import ParquetReader
from sottovoce.corpus.read._tsv import AolReader, TabbedReader
from sottovoce.corpus.read.bytes import as_bytes, check_file, strict, without_compression
from sottovoce.corpus.read.columns import check_mapping, split_batch, to_documents, to_posts
from sottovoce.corpus.read.tally import (
    MIB,
    ColumnSample,
    FileReader,
    Format,
    Reader,
    ReadOptions,
    Tally,
)
from sottovoce.corpus.read.times import in_iso_order
from sottovoce.corpus.schema import BATCH_BYTES, BATCH_ROWS, DOCUMENTS, POSTS, TRUTH
from sottovoce.errors import CorpusError, MissingColumnError, SottovoceError
from sottovoce.steps import while_wanted

FORMATS: dict[Format, type[FileReader]] = {
    Format.CSV: CommaReader,
    Format.TSV: TabbedReader,
    Format.JSONL: JsonLinesReader,
    Format.PARQUET: ParquetReader,
    Format.AOL: AolReader,
    Format.LINES: LinesReader,
}
SUFFIXES = {suffix: kind for kind, reader in FORMATS.items() for suffix in reader.suffixes}


def format_by_name(path: Path) -> Format | None:
    """What the name says, with or without a compression's after it; None: it does not say."""
    return SUFFIXES.get(without_compression(path).suffix.lower())


def find_format(path: Path, options: ReadOptions) -> Format | None:
    """The format that was asked for, or that the name or the first rows say; None: none of them."""
    named = options.format or format_by_name(path)
    if options.format is not None or named is None:
        return named
    for kind, reader in FORMATS.items():
        if named in reader.named_as and reader.recognises(path, options):
            return kind
    return named


def require_format(path: Path, options: ReadOptions) -> Format:
    """The format of a file; where nothing says it, an error that says what to do."""
    if (found := find_format(path, options)) is not None:
        return found
    if path.suffix.lower() == ".json":
        raise CorpusError(
            f"{path}: this looks like a JSON document; only JSON Lines can be read. If it is that, "
            "add --format jsonl (in Python format='jsonl'); an array becomes JSON Lines by "
            "jq -c '.[]'."
        )
    raise CorpusError(
        f"{path}: I can't tell the format from the file name. Name the file with one of "
        f"{', '.join(SUFFIXES)}, or add --format (in Python format=), one of "
        f"{', '.join(Format)}."
    )


def sample_columns(
    path: Path,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> tuple[ColumnSample, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    kind = options.format or format_by_name(path) or Format.CSV
    try:
        return FORMATS[kind].sample(path, options)
    # A name or a value that is no text is a ValueError.
    except (SottovoceError, pa.ArrowException, OSError, ValueError):
        return ()


def sample_source(source: object, options: ReadOptions) -> tuple[ColumnSample, ...]:
    """The same of whatever a call takes."""
    if isinstance(source, str | PathLike):
        return sample_columns(Path(source), options)
    return sample_frame(source)


Source = str | PathLike[str] | ArrowStream | Iterable[Row]
"""A file's path, a data frame, or rows: dictionaries, tuples, or texts."""
Sources = Source | Sequence[Source]
"""One of them, or several."""
Conform = Callable[[pa.RecordBatch, str, Tally], pa.RecordBatch]

# A batch smaller than both waits for the next, so that no consumer pays per handful of rows.
ENOUGH_ROWS = 4096
ENOUGH_BYTES = MIB


class Corpus:
    """A stream of record batches of one schema that can be read again: each pass opens it again.

    ``tally`` counts what the latest pass has seen so far. One without a usable row is refused, but
    where it ``may_be_empty``.

    >>> posts = open_posts([("ada", "2024-01-01", "a loan"), ("ben", "yesterday", "the sea")])
    >>> posts.read_all().num_rows, str(posts.tally)
    (1, '2 rows read, 1 kept; skipped: 1 unreadable time')
    """

    def __init__(
        self,
        reader: Reader,
        schema: pa.Schema,
        conform: Conform,
        options: ReadOptions,
        *,
        may_be_empty: bool = False,
    ) -> None:
        self.schema = schema
        self._may_be_empty = may_be_empty
        self.tally = Tally()
        self._reader = reader
        self._conform = conform
        self._options = options

    def __repr__(self) -> str:
        return f"Corpus({', '.join(self.schema.names)}; rows_kept={self.tally.rows_kept})"

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.tally = tally = Tally()
        return join_batches(self._batches(tally))

    def _batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        for raw in while_wanted(self._reader.raw_batches(tally)):
            for part in split_batch(raw, self._options.max_line_bytes, tally):
                yield self._conform(_in_order(part, self._options), self._options.timezone, tally)
            tally.refuse_malformed()
        if not tally.rows_kept and not self._may_be_empty:
            raise CorpusError(_nothing_kept(tally))

    def read_all(self) -> pa.Table:
        """Everything in memory at once; for corpora that fit."""
        return pa.Table.from_batches(iter(self), self.schema)


def _nothing_kept(tally: Tally) -> str:
    if not tally.rows_read:
        return "no usable row: it is empty, or has only a header."
    return f"no usable row: {tally}."


def _in_order(raw: pa.RecordBatch, options: ReadOptions) -> pa.RecordBatch:
    """The same, dates that are written day or month first put into one order."""
    if options.dates == "iso" or "time" not in raw.schema.names:
        return raw
    columns = dict(zip(raw.schema.names, raw.columns, strict=True))
    return pa.record_batch({**columns, "time": in_iso_order(columns["time"], options.dates)})


def open_posts(source: Source, *, options: ReadOptions = ReadOptions()) -> Corpus:  # noqa: B008 - frozen
    """Posts (user, time, text) from a path, a data frame or rows.

    >>> open_posts([{"user": "ada", "time": "2024-01-01", "text": "a loan"}]).read_all().num_rows
    1
    """
    return Corpus(reader_for(source, POSTS, options), POSTS, to_posts, options)


def open_documents(source: Source, *, options: ReadOptions = ReadOptions()) -> Corpus:  # noqa: B008 - frozen
    """Documents (text, and a label if there is one) from a path, a data frame or rows.

    >>> open_documents(["a loan", "the sea"]).read_all().num_rows
    2
    """
    return Corpus(reader_for(source, DOCUMENTS, options), DOCUMENTS, to_documents, options)


def join_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows, small batches joined and empty ones left out."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        if waiting and (rows + batch.num_rows > BATCH_ROWS or size + batch.nbytes > BATCH_BYTES):
            yield pa.concat_batches(waiting)
            waiting, rows, size = [], 0, 0
        if batch.num_rows:
            waiting.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= ENOUGH_ROWS or size >= ENOUGH_BYTES:
            yield pa.concat_batches(waiting)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield pa.concat_batches(waiting)


def reader_for(source: Source, schema: pa.Schema, options: ReadOptions) -> Reader:
    """The reader of ``source`` for the fields of ``schema``."""
    check_mapping(schema, options)
    if not isinstance(source, str | PathLike):
        return _frame_reader(source, schema, options)
    path = Path(source)
    check_file(path)
    return FORMATS[require_format(path, options)](path, schema, options)


def _frame_reader(source: object, schema: pa.Schema, options: ReadOptions) -> Reader:
    if type(source).__name__ == "LazyFrame":
        raise CorpusError("a LazyFrame has no rows before it is collected; pass its .collect().")
    if is_series(source):
        return series_reader(source, schema, options)
    if hasattr(source, "__arrow_c_stream__"):
        return FrameReader(cast("ArrowStream", source), schema, options)
    # What has columns is a frame that does not export Arrow: its rows are not what it iterates.
    no_rows = isinstance(source, bytes | Mapping) or hasattr(source, "columns")
    if isinstance(source, Iterable) and not no_rows:
        return rows_reader(source, schema, options)
    raise CorpusError(
        "a corpus is a file's path, a data frame that exports Arrow (polars, pandas 2.2 or newer, "
        f"pyarrow) or rows, as dictionaries or tuples; got {type(source).__name__}."
    )


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
        raise CorpusError(f"every row of the truth must be readable: {tally}.")
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
