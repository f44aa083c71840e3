"""CSV, whose first row may name the columns.

It has double quotes and commas, or what else its first rows have between values; a newline inside
quotes does not end a row, so that its blocks are cut where rows end.
"""

import csv as standard_csv
import io
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from sottovoce.corpus.read.bytes import UNDECODABLE, head, readable, utf8_chunks
from sottovoce.corpus.read.columns import locate
from sottovoce.corpus.read.tally import (
    RAISE_THE_LIMIT,
    ColumnSample,
    FileReader,
    ReadOptions,
    Skip,
    Tally,
    sample_rows,
)
from sottovoce.errors import CorpusError

# A quote opens a value only where a value starts; elsewhere it is a character. The last group is
# empty when the quote is still open at the end.
_QUOTED = rb'(?:\A|(?<=[%s\r\n]))"[^"]*(?:""[^"]*)*("?)'
OTHER_DELIMITERS = (";", "\t", "|")
# Excel's own first line, which names the delimiter and is no row.
_SEP_LINE = re.compile(r'\A[\r\n]*"?sep=([^\w"\r\n])"?\r?\n', re.ASCII)
_SEP_BYTES = re.compile(_SEP_LINE.pattern.encode())
_ROWS_COMPARED = 50
_DELIMITER_NAMES = {"\t": "a tab", ";": "a semicolon", "|": "a bar"}
_NONCHARACTERS = [chr(code).encode() for code in range(0xFDD0, 0xFDF0)]


def named_columns(first_row: list[str], options: ReadOptions) -> list[str]:
    """The columns' names: from the header row, from the options, or their positions."""
    if options.header is True:
        return first_row
    if options.header is False:
        return [str(position) for position in range(len(first_row))]
    return list(options.header)


class Layout:
    """The file's columns by position, and those that are wanted."""

    def __init__(
        self, path: Path, schema: pa.Schema, options: ReadOptions, first_row: list[str]
    ) -> None:
        found = named_columns(first_row, options)
        if len(found) != len(first_row):
            raise CorpusError(
                f"{path} has {len(first_row)} columns in its first row, but the header names "
                f"{len(found)}."
            )
        told = isinstance(options.header, tuple)
        self.places = locate(schema, options, found, str(path), surely_names=told)
        # Arrow is told positions as names: a file's own names may repeat or be empty.
        self.width = len(found)
        self._names = [str(place) for place in range(len(found))]

    def read_options(self, block_bytes: int, rows_to_skip: int) -> csv.ReadOptions:
        return csv.ReadOptions(
            use_threads=False,
            block_size=block_bytes,
            column_names=self._names,
            skip_rows_after_names=rows_to_skip,
        )

    def convert_options(self) -> csv.ConvertOptions:
        wanted = sorted({str(place) for place in self.places.values()})
        return csv.ConvertOptions(
            check_utf8=False,
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.binary()),
            strings_can_be_null=False,
        )

    def rename_columns(self, table: pa.Table) -> pa.Table:
        return pa.table({name: table.column(str(place)) for name, place in self.places.items()})


def first_row_of(rows: Iterator[list[str]], path: Path) -> list[str]:
    """The first row that is not blank."""
    for row in rows:
        if row:
            return row
    raise CorpusError(f"{path} is empty.")


def row_blocks(
    chunks: Iterator[bytes], max_row_bytes: int, where: str, delimiter: str = ","
) -> Iterator[bytes]:
    """Yield blocks that end where a row does; the last is what remains.

    A longer row is an error, not a skip: after a quote left open nobody can tell where the next row
    starts.
    """
    rest, scan_at = b"", 0
    for chunk in chunks:
        rest += chunk
        # A long row is not scanned again until it has doubled, so the cost stays linear.
        if len(rest) < min(scan_at, max_row_bytes + 1):
            continue
        end = end_of_last_row(rest, delimiter)
        if end:
            yield rest[:end]
            rest = rest[end:]
        scan_at = 0 if end else 2 * len(rest)
        if len(rest) > max_row_bytes:
            raise CorpusError(
                f"{where} has a row longer than {max_row_bytes} bytes, or a quote that is not "
                f"closed. Fix it, or {RAISE_THE_LIMIT}."
            )
    if rest:
        yield rest


def end_of_last_row(data: bytes, delimiter: str = ",") -> int:
    """The position after the last newline outside quotes; 0 if there is none."""
    starts, ends = [], []
    for match in _quoted_values(delimiter).finditer(data):
        starts.append(match.start())
        ends.append(match.end() if match[1] else len(data))
    limit = len(data)
    while (newline := data.rfind(b"\n", 0, limit)) >= 0:
        before = bisect_right(starts, newline) - 1
        if before < 0 or ends[before] <= newline:
            return newline + 1
        limit = starts[before]
    return 0


@cache
def _quoted_values(delimiter: str) -> re.Pattern[bytes]:
    return re.compile(_QUOTED % re.escape(delimiter.encode()))


def found_delimiter(start: str, options: ReadOptions) -> str:
    """What stands between the values of a CSV file that begins like this.

    What a first line ``sep=;`` says. Else a comma, unless the row of names has none outside
    quotes: then the one of ``OTHER_DELIMITERS`` that parts it, and most of the next as often. A
    first row that is somebody's text says nothing.
    """
    if told := _SEP_LINE.match(start):
        return told[1]
    if options.header is False or len(next(_rows(start, ","), [])) > 1:
        return ","
    widths = {each: _common_width(start, each) for each in OTHER_DELIMITERS}
    best = max(OTHER_DELIMITERS, key=lambda each: widths[each])
    return best if widths[best] > 1 else ","


def without_sep_line(start: str) -> str:
    """The start of a CSV file without Excel's line ``sep=;``."""
    return _SEP_LINE.sub("", start, count=1)


def _rows_only(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same of a whole file."""
    yield _SEP_BYTES.sub(b"", next(chunks, b""), count=1)
    yield from chunks


def _common_width(start: str, delimiter: str) -> int:
    """How many columns the first row has, if most of the next have as many; else 0."""
    widths = [len(row) for row in islice(_rows(start, delimiter), _ROWS_COMPARED)]
    alike = sum(width == widths[0] for width in widths)
    return widths[0] if widths and 2 * alike > len(widths) else 0


def _rows(start: str, delimiter: str) -> Iterator[list[str]]:
    """The rows of a text that may end within one; none after what is no row."""
    rows = standard_csv.reader(io.StringIO(start), delimiter=delimiter)
    try:
        yield from (row for row in rows if row)
    except standard_csv.Error:
        return


class CommaReader(FileReader):
    """Rows of a CSV file, parsed by Arrow a block of rows at a time."""

    suffixes = (".csv",)

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        start = head(path, options)
        self._delimiter = options.delimiter or found_delimiter(start, options)
        row = _first_csv_row(path, without_sep_line(start), self._delimiter)
        self._layout = Layout(path, schema, options, row)
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        chunks = _rows_only(utf8_chunks(self._path, self._options))
        rows_to_skip = int(self._options.header is True)
        limit, where = self._options.max_line_bytes, str(self._path)
        for block in row_blocks(chunks, limit, where, self._delimiter):
            # Arrow would count blank rows before the header among those to skip.
            rows = block.lstrip(b"\r\n")
            if rows:
                with readable(str(self._path)):
                    table = self._parse_rows(rows, rows_to_skip, tally)
                rows_to_skip = 0
                # Without a row there is still a batch: whoever counts the others wants to know.
                yield from table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:
        text = head(path, options)
        delimiter = options.delimiter or found_delimiter(text, options)
        rows = standard_csv.reader(io.StringIO(without_sep_line(text)), delimiter=delimiter)
        try:
            return sample_rows(rows, options)
        except standard_csv.Error:
            return ()

    @classmethod
    def describe(cls, path: Path, options: ReadOptions) -> tuple[str, ...]:
        if options.delimiter is not None:
            return ()
        delimiter = found_delimiter(head(path, options), options)
        if delimiter == ",":
            return ()
        name = _DELIMITER_NAMES.get(delimiter, delimiter)
        return (f"values are separated by {name}: --delimiter",)

    def _parse_rows(self, block: bytes, rows_to_skip: int, tally: Tally) -> pa.Table:
        """Arrow hands bad rows over as text, so what it parses must be UTF-8 throughout."""
        try:
            block.decode()
        except UnicodeDecodeError:
            stand_in = next(mark for mark in _NONCHARACTERS if mark not in block)
            marked = block.decode("utf-8", UNDECODABLE).encode("utf-8", "surrogateescape")
            table = self._rows(marked.replace(b"\xff", stand_in), rows_to_skip, tally)
            return _replace_bytes(table, stand_in, b"\xff")
        return self._rows(block, rows_to_skip, tally)

    def _rows(self, block: bytes, rows_to_skip: int, tally: Tally) -> pa.Table:
        def skip(_row: csv.InvalidRow) -> str:
            tally.skip(Skip.FIELDS)
            return "skip"

        table = csv.read_csv(
            pa.BufferReader(block),
            self._layout.read_options(len(block) + 1, rows_to_skip),
            csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            self._layout.convert_options(),
        )
        return self._layout.rename_columns(table)


def _replace_bytes(table: pa.Table, old: bytes, new: bytes) -> pa.Table:
    columns = [pc.replace_substring(column, old, new) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _first_csv_row(path: Path, start: str, delimiter: str) -> list[str]:
    try:
        rows = standard_csv.reader(io.StringIO(start), delimiter=delimiter)
        return first_row_of(rows, path)
    except standard_csv.Error:
        raise CorpusError(
            f"{path}: its first row holds a value over {standard_csv.field_size_limit()} "
            "characters; is it a CSV file, and are its quotes closed?"
        ) from None
