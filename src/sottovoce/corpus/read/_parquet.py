"""Parquet: only the columns wanted, a bounded number of bytes at a time.

How many rows of a row group can be read at once depends on the sizes of its pages. The footer tells
only the size of a whole column chunk; those of its pages stand in the page headers, which are
walked before anything is decompressed.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from sottovoce.corpus.read.bytes import Growth, readable
from sottovoce.corpus.read.columns import check_types, locate, unfolded_bytes
from sottovoce.corpus.read.footers import (
    BYTE_ARRAY,
    CODECS,
    Chunk,
    number,
    read_row_groups,
    read_struct,
)
from sottovoce.corpus.read.tally import (
    MIB,
    MOST_COLUMNS,
    RAISE_THE_LIMIT,
    ROWS_LOOKED_AT,
    ColumnSample,
    FileReader,
    ReadOptions,
    Tally,
    sample_batch,
)
from sottovoce.corpus.schema import BATCH_BYTES
from sottovoce.errors import CorpusError

# Arrow holds a batch several times over while it decodes it.
TARGET_BYTES = BATCH_BYTES // 4
# So few that whoever counts or scores them need not wait long for the first.
_ROWS = 32 * 1024
_HEADER_BYTES = 256
# What looking at a page costs, in bytes read as fast.
_PAGE_COSTS = 4096
_ROW_COSTS = 16
_LARGEST_HEADER_BYTES = 16 * MIB
# Kinds of pages, fields and encodings, as the Parquet format numbers them.
_DATA_PAGE, _DICTIONARY_PAGE, _DATA_PAGE_V2 = 0, 2, 3
_DETAILS = {_DATA_PAGE: 5, _DICTIONARY_PAGE: 7, _DATA_PAGE_V2: 8}
_DICTIONARY_ENCODINGS = {2, 8}
_DELTA_BYTE_ARRAY = 7
_FEW_VALUES = 10_000
_LARGEST_ROW = 16 * MIB


class ParquetReader(FileReader):
    """Rows of a Parquet file, row group by row group."""

    suffixes = (".parquet", ".pq")
    is_text = False

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        self._path = path
        self._max_page_bytes = 8 * options.max_line_bytes
        with readable(str(path)), self._open() as file:
            found = file.schema_arrow
            names = found.names
        self._places = locate(schema, options, names, str(path), surely_names=True)
        fields = [found.field(place).with_name(name) for name, place in self._places.items()]
        check_types(pa.schema(fields), str(path))
        self._columns = [names[place] for place in self._places.values()]
        if any(names.count(column) > 1 for column in self._columns):
            raise CorpusError(f"{path} has several columns with the same name; rename them first.")

    def _open(self) -> parquet.ParquetFile:
        # A buffered stream, no pre-buffering: else a whole column chunk is read at once.
        return parquet.ParquetFile(
            self._path, buffer_size=MIB, pre_buffer=False, page_checksum_verification=True
        )

    def raw_batches(self, _tally: Tally) -> Iterator[pa.RecordBatch]:
        rows_read = Growth(self._path)
        with readable(str(self._path)), self._open() as file:
            pages = PagesAhead(self._path, file.metadata, self._columns, self._max_page_bytes)
            for groups, rows in pages.groups_at_once():
                batches = file.iter_batches(
                    rows, row_groups=groups, columns=list(set(self._columns)), use_threads=False
                )
                for batch in map(self._rename_columns, batches):
                    rows_read.add(unfolded_bytes(batch) + _ROW_COSTS * batch.num_rows)
                    yield batch

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:  # noqa: ARG003 - as other formats
        with parquet.ParquetFile(path, buffer_size=MIB, pre_buffer=False) as file:
            names = file.schema_arrow.names[:MOST_COLUMNS]
            simple = [
                name for name in names if not pa.types.is_nested(file.schema_arrow.field(name).type)
            ]
            rows = _first_rows(path, file, simple)
        found = {} if rows is None else {each.name: each for each in sample_batch(rows)}
        return tuple(found.get(name, ColumnSample(name, name, ())) for name in names)

    def _rename_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        names = zip(self._places, self._columns, strict=True)
        return pa.record_batch({name: batch.column(column) for name, column in names})


class PageHeader(NamedTuple):
    """What a page header tells."""

    kind: int
    bytes_plain: int
    bytes_stored: int
    values: int
    encoding: int
    starts_at: int


class PagesAhead:
    """The pages of some columns, looked at before anything of them is unfolded.

    All that is looked at and unpacked is counted, so that a file of many tiny pages, or of row
    groups that share pages, is refused rather than looked through.
    """

    def __init__(
        self, path: Path, metadata: pa.parquet.FileMetaData, columns: Sequence[str], max_page: int
    ) -> None:
        self._path, self._max_page = path, max_page
        with path.open("rb") as file:
            self._groups = read_row_groups(file, metadata)
        schema, wanted = metadata.schema, set(columns)
        self._places = [
            place for place in range(len(schema)) if schema.column(place).path in wanted
        ]
        self._growth = Growth(path, f"has pages, each as dear as {_PAGE_COSTS} bytes, that come to")

    def groups_at_once(self) -> Iterator[tuple[list[int], int]]:
        """Row groups to read together, small ones as one, and how many rows at a time."""
        groups: list[int] = []
        rows, held = _ROWS, 0
        with self._path.open("rb") as file:
            for place, group in enumerate(self._groups):
                if not group.rows:
                    continue
                groups.append(place)
                rows = min(rows, self._rows_per_batch(file, group.chunks))
                held += group.rows
                if held >= rows:
                    yield groups, rows
                    groups, rows, held = [], _ROWS, 0
        if groups:
            yield groups, rows

    def _rows_per_batch(self, file: BinaryIO, chunks: Sequence[Chunk]) -> int:
        """Rows such that a batch holds about TARGET_BYTES, whatever the pages hold.

        Exact for pages that store each value; a value kept once in a dictionary is counted at its
        longest for each row, for a few stored bytes may stand for any number of long values.
        """
        row = sum(self._bytes_per_row(file, chunks[place]) for place in self._places)
        if row > self._max_page:
            raise self._too_large("a row that may have", int(row))
        return min(_ROWS, max(1, int(TARGET_BYTES / max(row, 1))))

    def _bytes_per_row(self, file: BinaryIO, chunk: Chunk) -> float:
        """An upper bound of the mean bytes per row, over all pages of the chunk."""
        largest = longest_in_dictionary = 0.0
        for page in _pages(file, chunk):
            self._growth.add(_PAGE_COSTS + page.bytes_plain)
            if page.bytes_plain > self._max_page:
                raise self._too_large("a page of", page.bytes_plain)
            if chunk.kind != BYTE_ARRAY:
                continue
            if page.kind == _DICTIONARY_PAGE:
                longest_in_dictionary = _longest_entry(file, page, chunk.codec)
            elif page.encoding in _DICTIONARY_ENCODINGS:
                largest = max(largest, longest_in_dictionary)
            elif page.encoding == _DELTA_BYTE_ARRAY:
                # Each value may repeat all of the one before.
                largest = max(largest, page.bytes_plain)
            else:
                largest = max(largest, page.bytes_plain / max(page.values, 1))
        return largest

    def _too_large(self, what: str, size: int) -> CorpusError:
        return CorpusError(
            f"{self._path} has {what} {size} bytes; at most {self._max_page}, 8 times the longest "
            f"line, are read at once. Write it with smaller pages, or {RAISE_THE_LIMIT}."
        )


def _pages(file: BinaryIO, chunk: Chunk) -> Iterator[PageHeader]:
    position, end = chunk.starts_at, chunk.starts_at + chunk.size
    while position < end:
        page = _page_at(file, position)
        yield page
        position = page.starts_at + page.bytes_stored


def _page_at(file: BinaryIO, position: int) -> PageHeader:
    size = _HEADER_BYTES
    while size <= _LARGEST_HEADER_BYTES:
        file.seek(position)
        try:
            header, length = read_struct(file.read(size))
        except IndexError:
            size *= 16
            continue
        return _page(header, position + length)
    raise pa.ArrowInvalid


def _page(header: dict[int, object], starts_at: int) -> PageHeader:
    """Field numbers as in the Parquet format's PageHeader; an index page has no details."""
    kind = number(header, 1)
    details = header.get(_DETAILS.get(kind, 0), {})
    if not isinstance(details, dict):
        raise pa.ArrowInvalid
    return PageHeader(
        kind=kind,
        bytes_plain=number(header, 2),
        bytes_stored=number(header, 3),
        values=number(details, 1),
        encoding=number(details, 4 if kind == _DATA_PAGE_V2 else 2),
        starts_at=starts_at,
    )


def _longest_entry(file: BinaryIO, page: PageHeader, codec: int) -> int:
    """The longest value of a dictionary page: length (4 bytes) and value, one after the other."""
    file.seek(page.starts_at)
    stored = file.read(page.bytes_stored)
    try:
        plain = _decompress_page(stored, page.bytes_plain, codec)
    except (pa.ArrowException, KeyError, OSError):
        # Unknown compression: no entry can be longer than the page.
        return page.bytes_plain
    return min(_longest_value(plain, page.values), page.bytes_plain)


def _longest_value(plain: bytes, values: int) -> int:
    """Few values need no compiler, which takes more memory than most files."""
    if values <= _FEW_VALUES and "numba" not in sys.modules:
        return int(longest_value(plain, values))
    return int(compile_longest_value()(np.frombuffer(plain, np.uint8), values))


def longest_value(plain: bytes | NDArray[np.uint8], values: Any) -> Any:  # noqa: ANN401 - a kernel too
    """The longest of the first ``values``, one after the other, each behind its length of 4 bytes.

    A reader takes no more of them than the header announces, so neither need this.
    """
    longest = position = number = 0
    while number < values and position + 4 <= len(plain):
        number += 1
        length = 0
        for place in range(4):
            length |= int(plain[position + place]) << (8 * place)
        longest = max(longest, length)
        position += 4 + length
    return longest


@cache
def compile_longest_value() -> "Callable[[NDArray[np.uint8], Any], Any]":
    """The same as a kernel, compiled late: commands that read nothing load no compiler."""
    from sottovoce.compiled import kernel  # noqa: PLC0415 - see above

    return kernel(longest_value)


def _decompress_page(stored: bytes, size: int, codec: int) -> bytes:
    if codec == 0:
        return stored
    plain: bytes = pa.Codec(CODECS[codec]).decompress(stored, size, asbytes=True)
    return plain


def _first_rows(path: Path, file: parquet.ParquetFile, names: list[str]) -> pa.RecordBatch | None:
    """None where they unfold to more than is held at once."""
    pages = PagesAhead(path, file.metadata, names, _LARGEST_ROW)
    try:
        groups, most = next(pages.groups_at_once(), ([], 1))
    except CorpusError:
        return None
    return next(
        file.iter_batches(min(most, ROWS_LOOKED_AT), row_groups=groups, columns=names), None
    )
