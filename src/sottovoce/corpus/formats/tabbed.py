"""TSV: one row per line, tabs between values, no quoting: a double quote is a character."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sottovoce.corpus.blocks import line_blocks
from sottovoce.corpus.formats.delimited import Layout, counting_bad_rows, first_row_of, head
from sottovoce.corpus.opening import readable, utf8_chunks
from sottovoce.corpus.options import ReadOptions
from sottovoce.corpus.tally import Tally


def first_row(path: Path, options: ReadOptions) -> tuple[list[str], int]:
    """The first row that is not blank, and how many lines were taken to get to it."""
    lines = head(path, options).split("\n")
    return first_row_of((_cells(line) for line in lines), path)


def _cells(line: str) -> list[str]:
    line = line.removesuffix("\r")
    return line.split("\t") if line else []


class TabbedReader:
    """Rows of a TSV file, parsed by Arrow a block of lines at a time."""

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        row, taken = first_row(path, options)
        self._layout = Layout(path, schema, options, row)
        self._lines_to_skip = taken if options.header is True else 0
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        chunks = utf8_chunks(self._path, self._options)
        blocks = line_blocks(chunks, self._options.max_line_bytes, tally)
        for block in _after_lines(blocks, self._lines_to_skip):
            if block.strip(b"\r\n"):
                with readable(str(self._path)):
                    batches = self._parsed(block, tally).to_batches()
                yield from map(self._layout.renamed, batches)

    def _parsed(self, block: bytes, tally: Tally) -> pa.Table:
        return csv.read_csv(
            pa.BufferReader(block),
            self._layout.read_options(len(block) + 1, rows_to_skip=0),
            csv.ParseOptions(
                delimiter="\t", quote_char=False, invalid_row_handler=counting_bad_rows(tally)
            ),
            self._layout.convert_options(),
        )


def _after_lines(blocks: Iterator[bytes], lines: int) -> Iterator[bytes]:
    for block in blocks:
        rest = block
        while lines and rest:
            rest = rest.partition(b"\n")[2]
            lines -= 1
        yield rest
