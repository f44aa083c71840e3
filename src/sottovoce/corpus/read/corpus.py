"""Open posts or documents, from a file of any known format, a data frame or rows.

Every format offers a `Reader`. Which one a source needs is decided by the options, by the file's
name, and by its first row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import cast

import pyarrow as pa

from sottovoce.corpus.read._frame import (
    ArrowStream,
    FrameReader,
    Row,
    is_series,
    rows_reader,
    series_reader,
)
from sottovoce.corpus.read.bytes import check_file
from sottovoce.corpus.read.columns import check_mapping, split_batch, to_documents, to_posts
from sottovoce.corpus.read.formats import FORMATS, require_format
from sottovoce.corpus.read.reader import Reader
from sottovoce.corpus.read.tally import MIB, ReadOptions, Tally
from sottovoce.corpus.read.times import in_iso_order
from sottovoce.corpus.schema import BATCH_BYTES, BATCH_ROWS, DOCUMENTS, POSTS
from sottovoce.errors import CorpusError
from sottovoce.steps import while_wanted

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
        return "no usable row: there is no row at all, or only a header."
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
