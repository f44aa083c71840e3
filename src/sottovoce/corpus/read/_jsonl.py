"""JSON Lines: one object per line.

Arrow parses JSON a block at a time. Python's own parser is for looking ahead, and for lines that
Arrow refuses.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import json as arrow_json

from sottovoce.corpus.read.bytes import head, line_blocks, utf8_chunks
from sottovoce.corpus.read.columns import locate
from sottovoce.corpus.read.tally import (
    ROWS_LOOKED_AT,
    ColumnSample,
    FileReader,
    ReadOptions,
    Skip,
    Tally,
    sample_objects,
)
from sottovoce.corpus.read.times import from_number
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.parsing import parse_json

LINES_SNIFFED = 100
# A block with a bad line is cut into so many; a piece of so few bytes is read line by line.
PIECES = 16
SMALLEST_BLOCK = 8192


class JsonLinesReader(FileReader):
    """Objects parsed by Arrow a block of lines at a time; only around a bad line one by one."""

    suffixes = (".jsonl", ".ndjson")

    def __init__(self, path: Path, schema: pa.Schema, options: ReadOptions) -> None:
        if any(isinstance(wanted, int) for wanted in options.columns.values()):
            raise ParameterError(
                "columns of JSONL are mapped by name; positions are for CSV and TSV."
            )
        self._path = path
        self._options = options
        sample = list(islice(self._objects(), LINES_SNIFFED))
        if not sample:
            raise CorpusError(f"no line of {path} is a JSON object.")
        found = list(dict.fromkeys(key for item in sample for key in item))
        places = locate(schema, options, found, str(path), surely_names=True)
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

    @classmethod
    def sample(cls, path: Path, options: ReadOptions) -> tuple[ColumnSample, ...]:
        lines = islice(head(path, options).split("\n"), ROWS_LOOKED_AT)
        found = map(_parse_or_none, lines)
        return sample_objects(item for item in found if isinstance(item, dict))

    def _blocks(self, tally: Tally) -> Iterator[bytes]:
        chunks = utf8_chunks(self._path, self._options)
        return line_blocks(chunks, self._options.max_line_bytes, tally)

    def _objects(self) -> Iterator[dict[str, object]]:
        tally = Tally()
        for block in self._blocks(tally):
            for line in filter(bytes.strip, block.split(b"\n")):
                if (item := parse_line(line)) is not None:
                    yield item
                else:
                    tally.skip(Skip.JSON)
                    tally.refuse_malformed()

    def _batches(self, block: bytes, tally: Tally) -> Iterator[pa.RecordBatch]:
        if (table := self._at_once(block)) is not None:
            yield from map(self._rename_columns, table.to_batches())
        elif block.strip():
            pieces = list(_pieces(block))
            if len(block) <= SMALLEST_BLOCK or len(pieces) == 1:
                yield self._one_by_one(block, tally)
                return
            for piece in pieces:
                yield from self._batches(piece, tally)

    def _at_once(self, block: bytes) -> pa.Table | None:
        try:
            table = arrow_json.read_json(
                pa.BufferReader(block),
                arrow_json.ReadOptions(use_threads=False, block_size=len(block) + 1),
                arrow_json.ParseOptions(
                    explicit_schema=self._raw_schema, unexpected_field_behavior="ignore"
                ),
            )
        except pa.ArrowException:
            return None
        # Arrow does not mind two objects on a line, nor one over several; we do.
        return table if table.num_rows == _filled_lines(block) else None

    def _rename_columns(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch({name: batch.column(key) for name, key in self._keys.items()})

    def _one_by_one(self, block: bytes, tally: Tally) -> pa.RecordBatch:
        rows = []
        for line in filter(bytes.strip, block.split(b"\n")):
            item = parse_line(line)
            row = None if item is None else row_of(item, self._keys)
            if row is None:
                tally.skip(Skip.JSON if item is None else Skip.TYPE)
            else:
                rows.append(row)
        schema = pa.schema(dict.fromkeys(self._keys, pa.binary()))
        return pa.RecordBatch.from_pylist(rows, schema)


def _filled_lines(block: bytes) -> int:
    return sum(map(bool, map(bytes.strip, block.split(b"\n"))))


def _pieces(block: bytes) -> Iterator[bytes]:
    """A block in about so many parts that end where lines do."""
    start, size = 0, len(block) // PIECES
    while start < len(block):
        end = block.find(b"\n", start + size) + 1 or len(block)
        yield block[start:end]
        start = end


def parse_line(line: bytes) -> dict[str, object] | None:
    """The object on this line, or None. Bytes that are no UTF-8 are kept as lone surrogates."""
    try:
        item = parse_json(line.decode("utf-8", "surrogateescape"), parse_constant=_refuse)
    except ValueError:
        return None
    return item if isinstance(item, dict) else None


def _parse_or_none(line: str) -> object:
    try:
        return parse_json(line)
    except ValueError:
        return None


def _refuse(_constant: str) -> None:
    raise ValueError


def kind_of(name: str, values: Sequence[object]) -> pa.DataType:
    """The Arrow type that suits a sample of values: numbers where numbers are allowed."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int} and name != "text":
        return pa.int64()
    if kinds and kinds <= {int, float} and name in {"time", "grade"}:
        return pa.float64()
    if kinds == {bool} and name in {"label", "sensitive"}:
        return pa.bool_()
    return pa.string()


def row_of(item: Mapping[str, object], keys: Mapping[str, str]) -> dict[str, bytes | None] | None:
    """The wanted values as bytes; None when one of them has a type that cannot be read."""
    try:
        return {name: _encode_text(_as_string(name, item.get(key))) for name, key in keys.items()}
    except TypeError:
        return None


def _as_string(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        if name in {"label", "sensitive"}:
            return str(value).lower()
    elif name == "time" and isinstance(value, int | float):
        time = from_number(value)
        return time.isoformat() if time else None
    elif name == "grade" and isinstance(value, float):
        return repr(value)
    elif name != "text" and isinstance(value, int):
        return str(value)
    raise TypeError


def _encode_text(value: str | None) -> bytes | None:
    if value is None:
        return None
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
