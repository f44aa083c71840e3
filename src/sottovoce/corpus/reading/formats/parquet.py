"""Parquet: only the columns wanted, a bounded number of bytes at a time."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from sottovoce.corpus.reading.conform import check_types
from sottovoce.corpus.reading.formats.pages import rows_per_batch
from sottovoce.corpus.reading.mapping import locate
from sottovoce.corpus.reading.opening import readable
from sottovoce.corpus.reading.options import MIB, ReadOptions
from sottovoce.corpus.reading.tally import Tally
from sottovoce.errors import CorpusError


class ParquetReader:
    """Rows of a Parquet file, row group by row group."""

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        self._path = path
        self._max_page_bytes = 8 * options.max_line_bytes
        with readable(str(path)), self._open() as file:
            found = file.schema_arrow
        self._places = locate(schema, options, found.names, str(path))
        fields = [found.field(place).with_name(name) for name, place in self._places.items()]
        check_types(pa.schema(fields), str(path))
        self._columns = [found.names[place] for place in self._places.values()]
        if any(found.names.count(column) > 1 for column in self._columns):
            raise CorpusError(f"{path} has several columns of one name; rename them first.")

    def _open(self) -> parquet.ParquetFile:
        # A buffered stream, no pre-buffering: else a whole column chunk is read at once.
        return parquet.ParquetFile(
            self._path, buffer_size=MIB, pre_buffer=False, page_checksum_verification=True
        )

    def raw_batches(self, _tally: Tally) -> Iterator[pa.RecordBatch]:
        with readable(str(self._path)), self._open() as file:
            for group in range(file.num_row_groups):
                rows = rows_per_batch(
                    self._path, file.metadata, group, self._columns, self._max_page_bytes
                )
                batches = file.iter_batches(
                    rows, row_groups=[group], columns=list(set(self._columns)), use_threads=False
                )
                yield from map(self._renamed, batches)

    def _renamed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        names = zip(self._places, self._columns, strict=True)
        return pa.record_batch({name: batch.column(column) for name, column in names})
