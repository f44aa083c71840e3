"""The first rows of a file, whatever its format: what a guess at its columns, or a person, sees."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from pyarrow import ArrowException, parquet

from sottovoce.corpus.read._delimited import found_delimiter, head, without_sep_line
from sottovoce.corpus.read._parquet import PagesAhead
from sottovoce.corpus.read.bytes import format_by_name
from sottovoce.corpus.read.tally import MIB, Format, ReadOptions
from sottovoce.errors import CorpusError, SottovoceError
from sottovoce.json import parse_json

ROWS_LOOKED_AT = 200
MOST_COLUMNS = 1000
_NO_INDEX = SimpleNamespace(names=())
_LARGEST_ROW = 16 * MIB


@dataclass(frozen=True)
class ColumnSample:
    """One column: how a reader is to be told of it, its name, and the values of the first rows."""

    key: str | int
    """Its position in CSV and TSV, counted from 0; elsewhere its name."""
    name: str
    values: tuple[str, ...]
    nested: bool = False
    """Whether it holds objects or lists and no single value."""


def sample_columns(
    path: Path,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> tuple[ColumnSample, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    try:
        kind = options.format or format_by_name(path)
        if kind is Format.PARQUET:
            return _of_parquet(path)
        text = head(path, options)
        if kind is Format.JSONL:
            return _of_objects(_objects(text))
        if kind is Format.TSV:
            lines = (line.rstrip("\r") for line in text.split("\n") if line.strip())
            return _of_rows((line.split("\t") for line in lines), options)
        delimiter = options.delimiter or found_delimiter(text, options)
        rows = csv.reader(io.StringIO(without_sep_line(text)), delimiter=delimiter)
        return _of_rows(rows, options)
    # A name or a value that is no text is a ValueError.
    except (SottovoceError, ArrowException, OSError, ValueError, csv.Error):
        return ()


def _of_parquet(path: Path) -> tuple[ColumnSample, ...]:
    with parquet.ParquetFile(path, buffer_size=MIB, pre_buffer=False) as file:
        names = file.schema_arrow.names[:MOST_COLUMNS]
        simple = [
            name for name in names if not pa.types.is_nested(file.schema_arrow.field(name).type)
        ]
        rows = _first_rows(path, file, simple)
    found = {} if rows is None else {each.name: each for each in _of_batch(rows)}
    return tuple(found.get(name, ColumnSample(name, name, ())) for name in names)


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


def _of_batch(rows: pa.RecordBatch) -> tuple[ColumnSample, ...]:
    held = zip(rows.schema.names, rows.columns, strict=True)
    return tuple(
        ColumnSample(name, name, tuple(map(_written, column.to_pylist())))
        for name, column in islice(held, MOST_COLUMNS)
    )


def sample_frame(source: Any) -> tuple[ColumnSample, ...]:  # noqa: ANN401 - of any library
    """The same of a data frame or a list of dictionaries; none of what has no names."""
    if isinstance(source, list | tuple):
        first = source[:ROWS_LOOKED_AT]
        return _of_objects(row for row in first if isinstance(row, dict))
    if not hasattr(source, "__arrow_c_stream__") or isinstance(source, pa.RecordBatchReader):
        return ()
    head = source.head if hasattr(source, "head") else partial(source.slice, 0)
    try:
        first = head(ROWS_LOOKED_AT)
        # An index of pandas that has a name is a column like the others.
        first = first.reset_index() if any(getattr(first, "index", _NO_INDEX).names) else first
        with pa.RecordBatchReader.from_stream(first) as stream:
            rows = next(iter(stream), None)
    except (ArrowException, TypeError, ValueError, AttributeError):
        return ()
    return () if rows is None else _of_batch(rows)


def sample_source(source: object, options: ReadOptions) -> tuple[ColumnSample, ...]:
    """The same of whatever a call takes."""
    if isinstance(source, str | PathLike):
        return sample_columns(Path(source), options)
    return sample_frame(source)


def _objects(text: str) -> Iterator[dict[str, object]]:
    for line in islice(text.split("\n"), ROWS_LOOKED_AT):
        try:
            item = parse_json(line)
        except ValueError:
            continue
        if isinstance(item, dict):
            yield item


def _of_objects(items: Iterable[dict[str, object]]) -> tuple[ColumnSample, ...]:
    held = list(items)
    names = list(dict.fromkeys(name for item in held for name in item))[:MOST_COLUMNS]
    return tuple(
        ColumnSample(name, name, tuple(map(_written, values)), nested=_is_nested(values))
        for name in names
        if (values := [item.get(name) for item in held])
    )


def _is_nested(values: Sequence[object]) -> bool:
    told = [value for value in values if value is not None]
    return bool(told) and all(isinstance(value, dict | list) for value in told)


def _of_rows(lines: Iterable[Sequence[str]], options: ReadOptions) -> tuple[ColumnSample, ...]:
    rows = list(islice((row for row in lines if row), ROWS_LOOKED_AT + 1))
    if not rows or any("\0" in value for value in rows[0]):
        return ()
    names = rows[0] if options.header is True else _told_names(options, len(rows[0]))
    held = rows[1:] if options.header is True else rows
    return tuple(
        ColumnSample(place, name, tuple(row[place] for row in held if len(row) > place))
        for place, name in enumerate(names[:MOST_COLUMNS])
    )


def _told_names(options: ReadOptions, width: int) -> Sequence[str]:
    return options.header if isinstance(options.header, tuple) else [""] * width


def _written(value: object) -> str:
    """As a file of text would have it; what is no single value is nothing."""
    is_single = isinstance(value, str | int | float) or hasattr(value, "year")
    # JSON may hold half a character, as where an emoji was cut.
    return str(value).encode("utf-8", "replace").decode() if is_single else ""
