"""The AOL query log: tab-separated, one row per click, so one query may take several rows."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read._tsv import TabbedReader, first_tsv_row
from sottovoce.corpus.read.reader import ColumnSample, FileReader
from sottovoce.corpus.read.tally import Format, ReadOptions, Skip, Tally
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError

HEADER = ["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"]
_COLUMNS = {"user": "AnonID", "time": "QueryTime", "text": "Query"}


class AolReader(FileReader):
    """The log's queries: adjacent rows of one user, query and time are one query, clicked often.

    The log is sorted by user and time, so rows of one query are adjacent; the last row of a batch
    is remembered to compare the next batch's first with it.
    """

    suffixes = (".aol",)
    is_text = False
    has_columns = False

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        if first_tsv_row(path, options) != HEADER:
            raise CorpusError(f"{path} does not start with the AOL log's header: {HEADER}.")
        columns = _COLUMNS | dict(options.columns)
        self._rows = TabbedReader(path, POSTS, replace(options, columns=columns, header=True))
        self._names = [name for name in schema.names if name in columns]

    @classmethod
    def recognises(cls, path: Path, named: Format, options: ReadOptions) -> bool:
        might_be = named in {Format.TSV, Format.LINES}
        return might_be and first_tsv_row(path, options) == HEADER

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:
        return TabbedReader.sample(path, options)

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        last: list[pa.Scalar] | None = None
        for batch in self._rows.raw_batches(tally):
            if not batch.num_rows:
                continue
            fresh = _differs_from_row_above(batch, last)
            last = [column[-1] for column in batch.columns]
            tally.skip(Skip.REPEAT, int((~fresh).sum()))
            yield batch.filter(pa.array(fresh)).select(self._names)


def _differs_from_row_above(
    batch: pa.RecordBatch, above: list[pa.Scalar] | None
) -> np.typing.NDArray[np.bool_]:
    fresh = np.zeros(batch.num_rows, np.bool_)
    fresh[0] = above is None or above != [column[0] for column in batch.columns]
    for column in batch.columns:
        fresh[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return fresh
