"""Data frames and tables: anything that exports an Arrow stream."""

from collections.abc import Iterator
from typing import Protocol

import pyarrow as pa

from sottovoce.corpus.reading.conform import check_types
from sottovoce.corpus.reading.mapping import locate
from sottovoce.corpus.reading.opening import readable
from sottovoce.corpus.reading.options import ReadOptions
from sottovoce.corpus.reading.strings import without_views
from sottovoce.corpus.reading.tally import Tally
from sottovoce.corpus.schema import BATCH_ROWS
from sottovoce.errors import CorpusError

_WHERE = "the data frame"


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
