"""TSV: one row per line, tabs between values, and no quoting: a double quote is a character."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read._csv import Layout, first_row_of
from sottovoce.corpus.read.bytes import head, line_blocks, split_lines, utf8_chunks
from sottovoce.corpus.read.reader import ColumnSample, FileReader, sample_rows
from sottovoce.corpus.read.tally import RAISE_THE_LIMIT, ReadOptions, Skip, Tally
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
