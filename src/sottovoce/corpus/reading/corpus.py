"""Open posts or documents, from a file of any known format or from a data frame."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from sottovoce.corpus.reading.conform import bounded, to_documents, to_posts
from sottovoce.corpus.reading.formats.choose import Source, reader_for
from sottovoce.corpus.reading.formats.reader import Reader
from sottovoce.corpus.reading.options import MIB, ReadOptions
from sottovoce.corpus.reading.tally import Tally
from sottovoce.corpus.schema import BATCH_BYTES, BATCH_ROWS, DOCUMENTS, POSTS
from sottovoce.errors import CorpusError

Conform = Callable[[pa.RecordBatch, str, Tally], pa.RecordBatch]

# A batch smaller than both waits for the next, so that no consumer pays per handful of rows.
ENOUGH_ROWS = 4096
ENOUGH_BYTES = MIB


class Corpus:
    """A stream of record batches of one schema that can be read again: each pass opens it anew.

    ``tally`` counts what the latest pass has seen so far.

    >>> posts = open_posts([("ada", "2024-01-01", "a loan"), ("ben", "yesterday", "the sea")])
    >>> posts.read_all().num_rows, str(posts.tally)
    (1, '2 rows read, 1 kept; skipped: 1 unreadable time')
    """

    def __init__(
        self, reader: Reader, schema: pa.Schema, conform: Conform, options: ReadOptions
    ) -> None:
        self.schema = schema
        self.tally = Tally()
        self._reader = reader
        self._conform = conform
        self._options = options

    def __repr__(self) -> str:
        return f"Corpus({', '.join(self.schema.names)}; rows_kept={self.tally.rows_kept})"

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.tally = tally = Tally()
        return gathered(self._batches(tally))

    def _batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        for raw in self._reader.raw_batches(tally):
            for part in bounded(raw, self._options.max_line_bytes, tally):
                yield self._conform(part, self._options.timezone, tally)
        if not tally.rows_kept:
            raise CorpusError(f"no usable row: {tally}.")

    def read_all(self) -> pa.Table:
        """Everything in memory at once; for corpora that fit."""
        return pa.Table.from_batches(iter(self), self.schema)


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


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
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
