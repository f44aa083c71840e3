"""CSV: commas, double quotes, newlines allowed inside quotes."""

import csv as standard_csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from sottovoce.corpus.formats.delimited import Layout, counting_bad_rows, first_row_of, head
from sottovoce.corpus.opening import ChunkFile, readable, utf8_chunks
from sottovoce.corpus.options import MIB, ReadOptions
from sottovoce.corpus.tally import Tally
from sottovoce.errors import CorpusError


class CommaReader:
    """Rows of a CSV file, streamed by Arrow.

    A row longer than ``max_line_bytes`` (or 1 MiB, if that is more) is an error, not a skip: after
    an unclosed quote nobody can tell where the next row starts.
    """

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        first_row, taken = _first_row(path, options)
        self._layout = Layout(path, schema, options, first_row)
        self._rows_to_skip = taken if options.header is True else 0
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        block_bytes = max(self._options.max_line_bytes, MIB)
        chunks = utf8_chunks(self._path, self._options)
        with _readable_rows(self._path, block_bytes), pa.PythonFile(ChunkFile(chunks), "r") as file:
            reader = csv.open_csv(
                file,
                self._layout.read_options(block_bytes, self._rows_to_skip),
                csv.ParseOptions(
                    newlines_in_values=True, invalid_row_handler=counting_bad_rows(tally)
                ),
                self._layout.convert_options(),
            )
            for batch in reader:
                yield self._layout.renamed(batch)


def _first_row(path: Path, options: ReadOptions) -> tuple[list[str], int]:
    try:
        return first_row_of(standard_csv.reader(io.StringIO(head(path, options))), path)
    except standard_csv.Error:
        raise CorpusError(
            f"{path}: its first row holds a value over {standard_csv.field_size_limit()} "
            "characters; is it a CSV file, and are its quotes closed?"
        ) from None


@contextmanager
def _readable_rows(path: Path, block_bytes: int) -> Iterator[None]:
    with readable(str(path)):
        try:
            yield
        except pa.ArrowInvalid as error:
            if "straddling" not in str(error):
                raise
            raise CorpusError(
                f"{path} has a row longer than {block_bytes} bytes, or a quote that is not closed. "
                "Mend it, or raise max_line_bytes."
            ) from None
