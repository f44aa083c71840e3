"""Just enough of Thrift's compact protocol to read the integers of a small struct."""

from collections.abc import Callable

import pyarrow as pa

_DEEPEST = 8
_STOP = 0
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)


def read_struct(data: bytes) -> tuple[dict[int, object], int]:
    """The integer and struct fields by their numbers, and how many bytes the struct took.

    Raises IndexError when ``data`` ends before the struct does, ArrowInvalid when it is none.
    """
    reader = _Reader(data)
    return reader.struct(_DEEPEST), reader.position


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0

    def struct(self, depth: int) -> dict[int, object]:
        if depth == 0:
            raise pa.ArrowInvalid
        fields: dict[int, object] = {}
        number = 0
        while (byte := self._byte()) != _STOP:
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            fields[number] = self._value(byte & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> object:
        if kind in {_TRUE, _FALSE}:
            return kind == _TRUE
        if kind == _STRUCT:
            return self.struct(depth - 1)
        read = self._plain().get(kind)
        if read is None:
            raise pa.ArrowInvalid
        return read()

    def _plain(self) -> dict[int, Callable[[], object]]:
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
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
