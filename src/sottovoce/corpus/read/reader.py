"""What a reader of a file offers, and the first rows of it: what a guess, or a person, sees."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar, Protocol

import pyarrow as pa

from sottovoce.corpus.read.tally import Format, ReadOptions, Tally

ROWS_LOOKED_AT = 200
MOST_COLUMNS = 1000


@dataclass(frozen=True)
class ColumnSample:
    """One column: how a reader is to be told of it, its name, and the values of the first rows."""

    key: str | int
    """Its position in CSV and TSV, counted from 0; elsewhere its name."""
    name: str
    values: tuple[str, ...]
    nested: bool = False
    """Whether it holds objects or lists and no single value."""


class Reader(Protocol):
    """Raw record batches, one column per field wanted, under our names.

    Each call of ``raw_batches`` reads from the start. Rows that cannot even be told apart into
    columns are counted in the tally and left out.
    """

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]: ...


class FileReader(Reader, Protocol):
    """One format: what its files are called, how they are recognised, sampled and read.

    Attributes:
        suffixes: of its files' names.
        is_text: whether the encoding can be guessed from the bytes.
        has_columns: whether the columns can be guessed from the first rows.
    """

    suffixes: ClassVar[tuple[str, ...]]
    is_text: ClassVar[bool] = True
    has_columns: ClassVar[bool] = True

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None: ...

    @classmethod
    def recognises(cls, path: Path, named: Format, options: ReadOptions) -> bool:  # noqa: ARG003 - for formats that need it
        """Whether a file whose name says another format is of this one."""
        return False

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:  # noqa: ARG003 - for formats that need it
        """The columns with their first values; none where there are no columns."""
        return ()

    @classmethod
    def describe(cls, path: Path, options: ReadOptions) -> tuple[str, ...]:  # noqa: ARG003 - for formats that need it
        """A line for each thing about the layout that was guessed."""
        return ()


def sample_batch(rows: pa.RecordBatch) -> tuple[ColumnSample, ...]:
    """Of columns of Arrow."""
    held = zip(rows.schema.names, rows.columns, strict=True)
    return tuple(
        ColumnSample(name, name, tuple(map(_write_value, column.to_pylist())))
        for name, column in islice(held, MOST_COLUMNS)
    )


def sample_objects(items: Iterable[dict[str, object]]) -> tuple[ColumnSample, ...]:
    """Of objects whose keys name the columns."""
    held = list(items)
    names = list(dict.fromkeys(name for item in held for name in item))[:MOST_COLUMNS]
    return tuple(
        ColumnSample(name, name, tuple(map(_write_value, values)), nested=_is_nested(values))
        for name in names
        if (values := [item.get(name) for item in held])
    )


def _is_nested(values: Sequence[object]) -> bool:
    told = [value for value in values if value is not None]
    return bool(told) and all(isinstance(value, dict | list) for value in told)


def sample_rows(lines: Iterable[Sequence[str]], options: ReadOptions) -> tuple[ColumnSample, ...]:
    """Of rows of cells, the first of which may name the columns."""
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


def _write_value(value: object) -> str:
    """As a file of text would have it; what is no single value is nothing."""
    is_single = isinstance(value, str | int | float) or hasattr(value, "year")
    # JSON may hold half a character, as where an emoji was cut.
    return str(value).encode("utf-8", "replace").decode() if is_single else ""
