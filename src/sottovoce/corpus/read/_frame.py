"""Data frames and tables, anything that exports an Arrow stream, and rows given in Python."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol, TypeAlias

import pyarrow as pa

from sottovoce.corpus._schema import BATCH_ROWS
from sottovoce.corpus.read._bytes import readable
from sottovoce.corpus.read._columns import check_types, locate
from sottovoce.corpus.read._strings import without_views
from sottovoce.corpus.read._tally import ReadOptions, Tally
from sottovoce.errors import CorpusError

_WHERE = "the data frame"
_WHERE_ROWS = "the first row"

Row: TypeAlias = str | Mapping[str, object] | Sequence[object]
"""A text; the values by their columns' names; or the values in the order user, time, text."""


class ArrowStream(Protocol):
    """What polars, pandas, pyarrow and others offer: their rows as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class FrameReader:
    """Rows of a data frame, without copying it."""

    def __init__(self, frame: ArrowStream, schema: pa.Schema, options: ReadOptions) -> None:
        if isinstance(frame, pa.RecordBatchReader):
            raise CorpusError(
                "a RecordBatchReader can be read only once; pass its read_all(), or a file's path."
            )
        self._frame = frame
        with readable(_WHERE):
            found = pa.RecordBatchReader.from_stream(frame).schema
        self._places = locate(schema, options, found.names, _WHERE)
        fields = [found.field(place).with_name(name) for name, place in self._places.items()]
        check_types(pa.schema(fields), _WHERE)

    def raw_batches(self, _tally: Tally) -> Iterator[pa.RecordBatch]:
        with readable(_WHERE):
            for batch in pa.RecordBatchReader.from_stream(self._frame):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield self._picked(batch.slice(start, BATCH_ROWS))

    def _picked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        places = self._places.items()
        return pa.record_batch({name: without_views(batch.column(place)) for name, place in places})


def rows_reader(rows: Iterable[Row], schema: pa.Schema, options: ReadOptions) -> FrameReader:
    """Rows given in Python, held in memory: they can be read again even if ``rows`` cannot."""
    held = [_by_name(row) for row in rows]
    if not held:
        raise CorpusError("there is no row to read.")
    first = held[0]
    if isinstance(first, Mapping):
        names = list(first)
        places = locate(schema, options, [str(name) for name in names], _WHERE_ROWS)
        columns = {ours: _values(held, names[place]) for ours, place in places.items()}
    else:
        # In a row without names a column is known by its place, as in a file without a header.
        named = [name for name, _ in zip(schema.names, first, strict=False)]
        positions = [*named, *("" for _ in range(len(first) - len(named)))]
        places = locate(schema, options, positions, _WHERE_ROWS)
        columns = {ours: _values(held, place) for ours, place in places.items()}
    table = pa.table({name: _array(name, values) for name, values in columns.items()})
    return FrameReader(table, schema, replace(options, columns=MappingProxyType({})))


def _by_name(row: object) -> Mapping[str, object] | Sequence[object]:
    if isinstance(row, str):
        return (row,)
    if hasattr(row, "_asdict"):
        return dict(row._asdict())
    if isinstance(row, Mapping) or (isinstance(row, Sequence) and not isinstance(row, bytes)):
        return row
    raise CorpusError(
        "a row must be a dictionary, a tuple or a list, or a text for documents; got one of type "
        f"{type(row).__name__}."
    )


def _values(
    rows: Sequence[Mapping[str, object] | Sequence[object]], key: str | int
) -> list[object]:
    """One value of each row; None where it has none, which is skipped and counted later."""
    return [_value(row, key) for row in rows]


def _value(row: Mapping[str, object] | Sequence[object], key: str | int) -> object:
    if isinstance(key, int):
        return row[key] if not isinstance(row, Mapping) and key < len(row) else None
    return row.get(key) if isinstance(row, Mapping) else None


def _array(name: str, values: list[object]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        raise CorpusError(
            f"the values of the rows for {name} are not of one kind; convert them first."
        ) from None
