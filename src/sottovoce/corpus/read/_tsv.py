"""TSV, and the AOL query log, which is TSV too.

One row per line, tabs between values, and no quoting: a double quote is a character. The log has
one row per click, so that one query may take several rows.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read._csv import Layout, first_row_of
from sottovoce.corpus.read.bytes import head, line_blocks, split_lines, utf8_chunks
from sottovoce.corpus.read.tally import (
    RAISE_THE_LIMIT,
    ColumnSample,
    FileReader,
    Format,
    ReadOptions,
    Skip,
    Tally,
    sample_rows,
)
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError


def first_tsv_row(path: Path, options: ReadOptions) -> list[str]:
    """The first row that is not blank."""
    lines = head(path, options).split("\n")
    return first_row_of((_cells(line) for line in lines), path)


def _cells(line: str) -> list[str]:
    line = line.removesuffix("\r")
    return line.split("\t") if line else []


class TabbedReader(FileReader):
    """Rows of a TSV file, split a block of lines at a time."""

    suffixes = (".tsv", ".tab")

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        row = first_tsv_row(path, options)
        if len("\t".join(row).encode()) > options.max_line_bytes:
            raise CorpusError(
                f"{path}: its first line is longer than {options.max_line_bytes} bytes; "
                f"{RAISE_THE_LIMIT}."
            )
        self._layout = Layout(path, schema, options, row)
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        chunks = utf8_chunks(self._path, self._options)
        blocks = line_blocks(chunks, self._options.max_line_bytes, tally)
        lines_to_skip = int(self._options.header is True)
        for block in blocks:
            lines = split_lines(block)
            lines = lines.filter(pc.greater(pc.binary_length(lines), 0))
            yield self._split(lines[lines_to_skip:], tally)
            lines_to_skip = 0 if len(lines) else lines_to_skip

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:
        lines = (line.rstrip("\r") for line in head(path, options).split("\n") if line.strip())
        return sample_rows((line.split("\t") for line in lines), options)

    def _split(self, lines: pa.Array, tally: Tally) -> pa.RecordBatch:
        width = self._layout.width
        fitting = pc.equal(pc.count_substring(lines, b"\t"), width - 1)
        whole = lines.filter(fitting)
        tally.skip(Skip.FIELDS, len(lines) - len(whole))
        cells = pc.split_pattern(whole, b"\t").flatten()
        return pa.record_batch(
            {
                name: cells.take(pa.array(np.arange(place, len(cells), width)))
                for name, place in self._layout.places.items()
            }
        )


HEADER = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
_COLUMNS = {"user": "AnonID", "time": "QueryTime", "text": "Query"}


class AolReader(FileReader):
    """The log's queries: adjacent rows of one user, query and time are one query, clicked often.

    The log is sorted by user and time, so rows of one query are adjacent; the last row of a batch
    is remembered to compare the next batch's first with it.
    """

    suffixes = (".aol",)
    named_as = (Format.TSV, Format.LINES)
    is_text = False
    has_columns = False

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        if first_tsv_row(path, options) != HEADER:
            raise CorpusError(f"{path} does not start with the AOL log's header: {HEADER}.")
        columns = _COLUMNS | dict(options.columns)
        self._rows = TabbedReader(path, POSTS, replace(options, columns=columns, header=True))
        self._names = [name for name in schema.names if name in columns]

    @classmethod
    def recognises(cls, path: Path, options: ReadOptions) -> bool:
        return first_tsv_row(path, options) == HEADER

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:
        return TabbedReader.sample(path, options)

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        last: list[pa.Scalar] | None = None
        for batch in self._rows.raw_batches(tally):
            if not batch.num_rows:
                continue
            fresh = _differs_from_row_above(batch, last)
            last = [column[-1] for column in batch.columns]
            tally.skip(Skip.REPEAT, int((~fresh).sum()))
            yield batch.filter(pa.array(fresh)).select(self._names)


def _differs_from_row_above(
    batch: pa.RecordBatch, above: list[pa.Scalar] | None
) -> np.typing.NDArray[np.bool_]:
    fresh = np.zeros(batch.num_rows, np.bool_)
    fresh[0] = above is None or above != [column[0] for column in batch.columns]
    for column in batch.columns:
        fresh[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return fresh
