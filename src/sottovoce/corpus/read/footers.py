"""The footer of a Parquet file, and the page headers: structs of Thrift's compact protocol.

pyarrow ends the whole process, where Python cannot catch it, when it is asked for a column of a
damaged footer. So row groups are read here: just enough of the protocol for numbers in structs and
lists. A field that stands twice is refused, for pyarrow would take the other one.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, cast

import pyarrow as pa
from pyarrow import parquet

BYTE_ARRAY = 6
CODECS = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
"""Those that pyarrow unpacks by itself; 0 is none."""
_MAGIC_BYTES = 4
_ROW_GROUPS = 4
_CHUNK_DETAILS = 3
_DEEPEST = 8
_STOP = 0
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_LONG_LIST = 15
_MOST_BITS = 70

Struct = dict[int, object]


class Seekable(Protocol):
    """A file, of Python's or Arrow's."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""

    def read(self, size: int = -1, /) -> bytes:
        """Read so many bytes."""


class Chunk(NamedTuple):
    """One column of a row group: numbers as the Parquet format has them."""

    kind: int
    codec: int
    values: int
    starts_at: int
    size: int


class RowGroup(NamedTuple):
    """Rows that stand together."""

    rows: int
    chunks: tuple[Chunk, ...]


def read_row_groups(file: Seekable, metadata: parquet.FileMetaData) -> list[RowGroup]:
    """All row groups, as many as Arrow found; raises ArrowInvalid where the footer is damaged."""
    end = file.seek(-2 * _MAGIC_BYTES, 2)
    size = int.from_bytes(file.read(_MAGIC_BYTES), "little")
    if size > end:
        raise pa.ArrowInvalid
    file.seek(end - size)
    try:
        found = list(_row_groups(_ThriftReader(file.read(size), lists=True)))
    except IndexError:
        raise pa.ArrowInvalid from None
    columns = len(metadata.schema)
    if len(found) != metadata.num_row_groups or any(len(g.chunks) != columns for g in found):
        raise pa.ArrowInvalid
    return found


def read_struct(data: bytes) -> tuple[Struct, int]:
    """The integer and struct fields by their numbers, and how many bytes the struct took.

    Raises IndexError when ``data`` ends before the struct does, ArrowInvalid when it is none.
    """
    reader = _ThriftReader(data)
    return reader.struct(_DEEPEST), reader.position


def number(fields: Struct, place: int) -> int:
    """A number that cannot be below 0; 0 where it is not there."""
    value = fields.get(place, 0)
    if not isinstance(value, int) or value < 0:
        raise pa.ArrowInvalid
    return value


def _row_groups(footer: "_ThriftReader") -> Iterator[RowGroup]:
    """One after the other, so that all that a footer says is never held at once."""
    for place, kind in footer.fields():
        if place == _ROW_GROUPS and kind == _LIST:
            for group in footer.values(_DEEPEST):
                yield _row_group(_struct(group))
        else:
            footer.value(kind, _DEEPEST)


def _row_group(fields: Struct) -> RowGroup:
    chunks = fields.get(1, [])
    if not isinstance(chunks, list):
        raise pa.ArrowInvalid
    return RowGroup(number(fields, 3), tuple(map(_chunk, chunks)))


def _chunk(value: object) -> Chunk:
    details = _struct(_struct(value).get(_CHUNK_DETAILS))
    starts = [number(details, 9), *filter(None, [number(details, 11)])]
    kind, codec, values, size = (number(details, place) for place in (1, 4, 5, 7))
    return Chunk(kind, codec, values, min(starts), size)


def _struct(value: object) -> Struct:
    if not isinstance(value, dict):
        raise pa.ArrowInvalid
    return cast("Struct", value)


class _ThriftReader:
    """Values of the compact protocol, one after the other."""

    def __init__(self, data: bytes, *, lists: bool = False) -> None:
        self._data = data
        self.position = 0
        self._lists = {_LIST, _SET} if lists else set()
        self._plain = self._readers()

    def struct(self, depth: int) -> Struct:
        if depth == 0:
            raise pa.ArrowInvalid
        return {place: self.value(kind, depth) for place, kind in self.fields()}

    def fields(self) -> Iterator[tuple[int, int]]:
        """The number and kind of each field, whose value whoever asks must read."""
        place, seen = 0, set[int]()
        while (byte := self._byte()) != _STOP:
            place = place + (byte >> 4) if byte >> 4 else self._integer()
            if place in seen:
                raise pa.ArrowInvalid
            seen.add(place)
            yield place, byte & 15

    def value(self, kind: int, depth: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind == _STRUCT:
            return self.struct(depth - 1)
        if kind in self._lists:
            return list(self.values(depth))
        read = self._plain.get(kind)
        if read is None:
            raise pa.ArrowInvalid
        return read()

    def values(self, depth: int) -> Iterator[object]:
        """What stands in a list; truths take a byte each there."""
        byte = self._byte()
        size, kind = byte >> 4, byte & 15
        if size == _LONG_LIST:
            size = self._varint()
        kind = _BYTE if kind in {_TRUE, _FALSE} else kind
        return (self.value(kind, depth) for _ in range(size))

    def _readers(self) -> dict[int, Callable[[], object]]:
        return {
            _BYTE: self._byte,
            _I16: self._integer,
            _I32: self._integer,
            _I64: self._integer,
            _DOUBLE: lambda: self._skip(8),
            _BINARY: lambda: self._skip(self._varint()),
        }

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _skip(self, size: int) -> None:
        self.position += size
        if self.position > len(self._data):
            raise IndexError

    def _varint(self) -> int:
        value = 0
        for shift in range(0, _MOST_BITS, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:  # noqa: PLR2004 - the bit that says that more follow
                return value
        raise pa.ArrowInvalid

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
