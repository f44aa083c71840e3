"""Data frames and tables, anything that exports an Arrow stream, and rows given in Python."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from sottovoce.corpus.read.bytes import readable, without_views
from sottovoce.corpus.read.columns import check_types, locate
from sottovoce.corpus.read.tally import (
    ROWS_LOOKED_AT,
    ColumnSample,
    ReadOptions,
    Tally,
    sample_batch,
    sample_objects,
)
from sottovoce.corpus.schema import BATCH_ROWS
from sottovoce.errors import CorpusError

_NO_INDEX = SimpleNamespace(names=())
_WHERE = "the data frame"
_WHERE_ROWS = "the first row"

Row: TypeAlias = str | Mapping[str, object] | Sequence[object]
"""A text; the values by their columns' names; or the values in the order user, time, text."""


class ArrowStream(Protocol):
    """What polars, pandas, pyarrow and others offer: their rows as an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class FrameReader:
    """Rows of a data frame as it is now: what is done to the frame later does not show.

    Nothing is copied, but for what pandas holds outside Arrow in the columns that are read.
    """

    def __init__(self, frame: ArrowStream, schema: pa.Schema, options: ReadOptions) -> None:
        if isinstance(frame, pa.RecordBatchReader):
            raise CorpusError(
                "a RecordBatchReader can be read only once; pass its read_all(), or a file's path."
            )
        if hasattr(frame, "iloc"):
            frame, options = _of_pandas(frame, schema, options), _by_our_names(options)
        # The copy of a frame of polars shares its columns, which are never changed in place.
        self._frame: ArrowStream = frame.clone() if hasattr(frame, "clone") else frame
        with readable(_WHERE):
            found = pa.RecordBatchReader.from_stream(self._frame).schema
        self._places = locate(schema, options, found.names, _WHERE, surely_names=True)
        fields = [found.field(place).with_name(name) for name, place in self._places.items()]
        check_types(pa.schema(fields), _WHERE)

    def raw_batches(self, _tally: Tally) -> Iterator[pa.RecordBatch]:
        with readable(_WHERE):
            for batch in pa.RecordBatchReader.from_stream(self._frame):
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield self._pick_columns(batch.slice(start, BATCH_ROWS))

    def _pick_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        places = self._places.items()
        return pa.record_batch({name: without_views(batch.column(place)) for name, place in places})


def _of_pandas(frame: Any, schema: pa.Schema, options: ReadOptions) -> pa.Table:  # noqa: ANN401 - pandas ships no types
    """The columns of ``frame`` that are read, under our names; those of its index come last."""
    names = [*frame.columns, *(name for name in frame.index.names if name is not None)]
    places = locate(schema, options, [str(name) for name in names], _WHERE, surely_names=True)
    width = len(frame.columns)
    with readable(_WHERE):
        columns = {
            ours: frame.iloc[:, place]
            if place < width
            else frame.index.get_level_values(names[place]).to_series()
            for ours, place in places.items()
        }
        # Arrow shares the memory of numbers and times, which pandas may change in place.
        return pa.table(
            {ours: pa.array(column.copy(), from_pandas=True) for ours, column in columns.items()}
        )


def _by_our_names(options: ReadOptions) -> ReadOptions:
    return replace(options, columns=MappingProxyType({}))


def is_series(source: object) -> bool:
    """Whether ``source`` is one column: a series of pandas or polars, or an array of Arrow."""
    if isinstance(source, pa.Array | pa.ChunkedArray):
        return True
    return len(getattr(source, "shape", ())) == 1 and hasattr(source, "to_list")


def series_reader(series: Any, schema: pa.Schema, options: ReadOptions) -> FrameReader:  # noqa: ANN401 - of any library
    """The texts of one column."""
    if "user" in schema.names:
        raise CorpusError(
            "posts need a user, a time and a text, got one column; pass the whole data frame."
        )
    with readable("the series"):
        series = series.to_arrow() if hasattr(series, "to_arrow") else series
        texts = series if isinstance(series, pa.ChunkedArray) else pa.array(series)
    return FrameReader(pa.table({"text": texts}), schema, _by_our_names(options))


def rows_reader(rows: Iterable[Row], schema: pa.Schema, options: ReadOptions) -> FrameReader:
    """Rows given in Python, held in memory: they can be read again even if ``rows`` cannot."""
    held = [_by_name(row) for row in rows]
    if not held:
        raise CorpusError("there is no row to read.")
    first = held[0]
    if isinstance(first, Mapping):
        names = list(first)
        places = locate(
            schema, options, [str(name) for name in names], _WHERE_ROWS, surely_names=True
        )
        columns = {ours: _values(held, names[place]) for ours, place in places.items()}
    else:
        # In a row without names a column is known by its place, as in a file without a header.
        positions = _names_of_places(max(map(len, held)), schema, options)
        places = locate(schema, options, positions[: len(first)], _WHERE_ROWS)
        columns = {ours: _values(held, place) for ours, place in places.items()}
    table = pa.table({name: _array(name, values) for name, values in columns.items()})
    return FrameReader(table, schema, _by_our_names(options))


def _names_of_places(width: int, schema: pa.Schema, options: ReadOptions) -> list[str]:
    """What stands at each place of a row without names; "" where that is nothing of ours."""
    extra = width - len(schema)
    if extra <= 0 or "user" in schema.names:
        return [*schema.names, *[""] * extra][:width]
    if isinstance(options.columns.get("text"), int):
        return [""] * width
    raise CorpusError(
        f"a document is a text, or a tuple ({', '.join(schema.names)}); got one of {width} values. "
        "Say at which place its text is, counted from 0: text=2 of release_counts, or "
        "columns={'text': 2} of ReadOptions."
    )


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


def sample_frame(source: Any) -> tuple[ColumnSample, ...]:  # noqa: ANN401 - of any library
    """The first rows of a data frame or a list of dictionaries; none of what has no names."""
    if isinstance(source, list | tuple):
        first = source[:ROWS_LOOKED_AT]
        return sample_objects(row for row in first if isinstance(row, dict))
    if not hasattr(source, "__arrow_c_stream__") or isinstance(source, pa.RecordBatchReader):
        return ()
    head = source.head if hasattr(source, "head") else partial(source.slice, 0)
    try:
        first = head(ROWS_LOOKED_AT)
        # An index of pandas that has a name is a column like the others.
        first = first.reset_index() if any(getattr(first, "index", _NO_INDEX).names) else first
        with pa.RecordBatchReader.from_stream(first) as stream:
            rows = next(iter(stream), None)
    except (pa.ArrowException, TypeError, ValueError, AttributeError):
        return ()
    return () if rows is None else sample_batch(rows)
