"""What CSV and TSV share: the first row, and which columns are wanted."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sottovoce.corpus.reading.mapping import locate
from sottovoce.corpus.reading.opening import utf8_chunks
from sottovoce.corpus.reading.options import MIB, ReadOptions
from sottovoce.errors import CorpusError

HEAD_BYTES = 4 * MIB


def head(path: Path, options: ReadOptions) -> str:
    """The start of the file, enough to hold its first row."""
    start = b""
    for chunk in utf8_chunks(path, options):
        start += chunk
        if len(start) >= HEAD_BYTES:
            break
    if not start.strip():
        raise CorpusError(f"{path} is empty.")
    return start[:HEAD_BYTES].decode("utf-8", "replace")


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
                f"{path} has {len(first_row)} columns in its first row, header names {len(found)}."
            )
        self.places = locate(schema, options, found, str(path))
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

    def renamed(self, table: pa.Table) -> pa.Table:
        return pa.table({name: table.column(str(place)) for name, place in self.places.items()})


def first_row_of(rows: Iterator[list[str]], path: Path) -> list[str]:
    """The first row that is not blank."""
    for row in rows:
        if row:
            return row
    raise CorpusError(f"{path} is empty.")
