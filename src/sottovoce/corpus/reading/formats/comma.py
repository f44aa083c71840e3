"""CSV: commas, double quotes, newlines allowed inside quotes."""

import csv as standard_csv
import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sottovoce.corpus.reading.formats.delimited import Layout, first_row_of, head
from sottovoce.corpus.reading.formats.rows import row_blocks
from sottovoce.corpus.reading.opening import UNDECODABLE, readable, utf8_chunks
from sottovoce.corpus.reading.options import ReadOptions
from sottovoce.corpus.reading.tally import Skip, Tally
from sottovoce.errors import CorpusError

_NONCHARACTERS = [chr(code).encode() for code in range(0xFDD0, 0xFDF0)]


class CommaReader:
    """Rows of a CSV file, parsed by Arrow a block of rows at a time."""

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        self._layout = Layout(path, schema, options, _first_row(path, options))
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        chunks = utf8_chunks(self._path, self._options)
        rows_to_skip = int(self._options.header is True)
        for block in row_blocks(chunks, self._options.max_line_bytes, str(self._path)):
            # Arrow would count blank rows before the header among those to skip.
            rows = block.lstrip(b"\r\n")
            if rows:
                with readable(str(self._path)):
                    table = self._parsed(rows, rows_to_skip, tally)
                rows_to_skip = 0
                yield from table.to_batches()

    def _parsed(self, block: bytes, rows_to_skip: int, tally: Tally) -> pa.Table:
        """Arrow hands bad rows over as text, so what it parses must be UTF-8 throughout."""
        try:
            block.decode()
        except UnicodeDecodeError:
            stand_in = next(mark for mark in _NONCHARACTERS if mark not in block)
            marked = block.decode("utf-8", UNDECODABLE).encode("utf-8", "surrogateescape")
            table = self._rows(marked.replace(b"\xff", stand_in), rows_to_skip, tally)
            return _replaced(table, stand_in, b"\xff")
        return self._rows(block, rows_to_skip, tally)

    def _rows(self, block: bytes, rows_to_skip: int, tally: Tally) -> pa.Table:
        def skip(_row: csv.InvalidRow) -> str:
            tally.skip(Skip.FIELDS)
            return "skip"

        table = csv.read_csv(
            pa.BufferReader(block),
            self._layout.read_options(len(block) + 1, rows_to_skip),
            csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
            self._layout.convert_options(),
        )
        return self._layout.renamed(table)


def _replaced(table: pa.Table, old: bytes, new: bytes) -> pa.Table:
    columns = [pc.replace_substring(column, old, new) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _first_row(path: Path, options: ReadOptions) -> list[str]:
    try:
        return first_row_of(standard_csv.reader(io.StringIO(head(path, options))), path)
    except standard_csv.Error:
        raise CorpusError(
            f"{path}: its first row holds a value over {standard_csv.field_size_limit()} "
            "characters; is it a CSV file, and are its quotes closed?"
        ) from None
