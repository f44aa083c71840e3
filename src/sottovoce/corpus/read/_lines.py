"""Plain text: one document per line."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.read.bytes import line_blocks, split_lines, utf8_chunks
from sottovoce.corpus.read.tally import FileReader, ReadOptions, Skip, Tally
from sottovoce.errors import CorpusError


class LinesReader(FileReader):
    """Each line that is not blank is a document's text."""

    suffixes = (".txt",)
    is_text = False
    has_columns = False

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        if not {field.name for field in schema if not field.nullable} <= {"text"}:
            raise CorpusError(
                f"{path} is read as plain lines, without users and times; posts need "
                "CSV, TSV, JSONL or Parquet."
            )
        self._path = path
        self._options = options

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        chunks = utf8_chunks(self._path, self._options)
        for block in line_blocks(chunks, self._options.max_line_bytes, tally):
            lines = split_lines(block)
            blank = pc.match_substring_regex(lines, r"^[ \t\v\f\r]*$")
            tally.skip(Skip.BLANK, pc.sum(blank).as_py() or 0)
            yield pa.record_batch({"text": lines.filter(pc.invert(blank))})
