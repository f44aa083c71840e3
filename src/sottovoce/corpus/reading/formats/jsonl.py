"""JSON Lines: one object per line."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import json

from sottovoce.corpus.reading.blocks import line_blocks
from sottovoce.corpus.reading.formats.jsonline import kind_of, parsed, row_of
from sottovoce.corpus.reading.mapping import locate
from sottovoce.corpus.reading.opening import utf8_chunks
from sottovoce.corpus.reading.options import ReadOptions
from sottovoce.corpus.reading.tally import Skip, Tally
from sottovoce.errors import CorpusError, ParameterError

LINES_SNIFFED = 100
# Below this many bytes a block with a bad line is read line by line rather than halved again.
SMALLEST_BLOCK = 4096


class JsonLinesReader:
    """Objects parsed by Arrow a block of lines at a time; only around a bad line one by one."""

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        if any(isinstance(wanted, int) for wanted in options.columns.values()):
            raise ParameterError(
                "columns of JSONL are mapped by name; positions are for CSV and TSV."
            )
        self._path = path
        self._options = options
        sample = list(islice(self._objects(), LINES_SNIFFED))
        if not sample:
            raise CorpusError(f"{path} holds no line that is a JSON object.")
        found = list(dict.fromkeys(key for item in sample for key in item))
        places = locate(schema, options, found, str(path))
        self._keys = {name: found[place] for name, place in places.items()}
        self._raw_schema = pa.schema(
            {
                key: kind_of(name, [item.get(key) for item in sample])
                for name, key in self._keys.items()
            }
        )

    def raw_batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        for block in self._blocks(tally):
            yield from self._batches(block, tally)

    def _blocks(self, tally: Tally) -> Iterator[bytes]:
        chunks = utf8_chunks(self._path, self._options)
        return line_blocks(chunks, self._options.max_line_bytes, tally)

    def _objects(self) -> Iterator[dict[str, object]]:
        for block in self._blocks(Tally()):
            for line in block.split(b"\n"):
                if (item := parsed(line)) is not None:
                    yield item

    def _batches(self, block: bytes, tally: Tally) -> Iterator[pa.RecordBatch]:
        if (table := self._at_once(block)) is not None:
            yield from map(self._renamed, table.to_batches())
            return
        middle = block.find(b"\n", len(block) // 2) + 1
        if len(block) <= SMALLEST_BLOCK or middle in {0, len(block)}:
            yield self._one_by_one(block, tally)
        else:
            yield from self._batches(block[:middle], tally)
            yield from self._batches(block[middle:], tally)

    def _at_once(self, block: bytes) -> pa.Table | None:
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        try:
            table = json.read_json(
                pa.BufferReader(block),
                json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                json.ParseOptions(
                    explicit_schema=self._raw_schema, unexpected_field_behavior="ignore"
                ),
            )
        except pa.ArrowException:
            return None
        # Arrow does not mind two objects on a line, nor one over several; we do.
        return table if table.num_rows == lines else None

    def _renamed(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch({name: batch.column(key) for name, key in self._keys.items()})

    def _one_by_one(self, block: bytes, tally: Tally) -> pa.RecordBatch:
        rows = []
        for line in block.split(b"\n"):
            if not line.strip():
                continue
            item = parsed(line)
            row = None if item is None else row_of(item, self._keys)
            if row is None:
                tally.skip(Skip.JSON if item is None else Skip.TYPE)
            else:
                rows.append(row)
        schema = pa.schema(dict.fromkeys(self._keys, pa.binary()))
        return pa.RecordBatch.from_pylist(rows, schema)
