"""Values as bytes, and reading what somebody else wrote: every field of a known type.

Values are whole numbers of any size, floating-point numbers, truth values, nothing, bytes, text,
arrays, tuples and records of these. Every value starts with one byte that names its type. Lengths
are unsigned 32- or 64-bit numbers, all numbers little-endian. Nothing in the bytes can name code,
so that decoding runs none.

Fields of records that were kept on disk are read with `item`, `array`, `texts`, `part` and `parts`;
those of JSON that came from outside with `parse_fields` and what follows it.
"""

import math
import re
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec
import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DamagedMessageError, DamagedRecordError, InputError, ParameterError
from sottovoce.parsing import parse_json
from sottovoce.privacy.exact import read_kept

Value: TypeAlias = Union[  # noqa: UP007 - a recursive alias cannot be written with |
    int, float, bytes, str, NDArray[Any], tuple["Value", ...], Mapping[str, "Value"], None
]

INTEGER, BYTES, TEXT, ARRAY, TUPLE, RECORD, NOTHING, FALSE, TRUE, FLOAT = range(1, 11)
DTYPES: tuple[np.dtype[Any], ...] = tuple(
    np.dtype(code) for code in ("|u1", "|i1", "|b1", "<u4", "<i4", "<u8", "<i8", "<f8")
)
DEEPEST = 6
MOST_AXES = 4
_sized = struct.Struct("<BQ").pack
_counted = struct.Struct("<BI").pack
_LENGTH_BYTES = 8
_CONSTANTS = {NOTHING: None, FALSE: False, TRUE: True}


def encode_value(value: Value) -> bytes:
    """The bytes of a value, or a ParameterError when it is of no type that may travel."""
    pieces: list[bytes] = []
    _add(pieces, value, 0)
    return b"".join(pieces)


def decode_value(data: bytes) -> Value:
    """The value that ``data`` holds and nothing else; DamagedMessageError if it holds none."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.rest:
        raise DamagedMessageError("a message's value must end where its bytes do.")
    return value


def _add(pieces: list[bytes], value: Value, depth: int) -> None:
    """The bytes of a value to the others'; the commonest types are asked for first."""
    if depth > DEEPEST:
        raise ParameterError(f"a message's values must nest at most {DEEPEST} deep.")
    if isinstance(value, str):
        content = value.encode()
        pieces += (_sized(TEXT, len(content)), content)
    elif isinstance(value, bytes):
        pieces += (_sized(BYTES, len(value)), value)
    elif isinstance(value, tuple):
        pieces.append(_counted(TUPLE, len(value)))
        for item in value:
            _add(pieces, item, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        pieces += (_sized(INTEGER, len(content)), content)
    elif isinstance(value, np.ndarray):
        pieces += _array_pieces(value)
    elif isinstance(value, Mapping):
        _add_record(pieces, value, depth)
    else:
        pieces.append(_plain_piece(value))


def _plain_piece(value: float | None) -> bytes:
    match value:
        case None:
            return bytes([NOTHING])
        case bool():
            return bytes([TRUE if value else FALSE])
        case float():
            return struct.pack("<Bd", FLOAT, value)
    raise ParameterError(
        "a message holds numbers, bytes, text, arrays, tuples and records of these, "
        f"got {type(value).__name__}."
    )


def _array_pieces(value: NDArray[Any]) -> list[bytes]:
    if value.dtype not in DTYPES or value.ndim > MOST_AXES:
        raise ParameterError(
            f"an array in a message must have at most {MOST_AXES} axes and one of the types "
            f"{', '.join(map(str, DTYPES))}, got {value.ndim} axes of {value.dtype}."
        )
    head = struct.pack("<BBB", ARRAY, DTYPES.index(value.dtype), value.ndim)
    return [head, struct.pack(f"<{value.ndim}Q", *value.shape), value.tobytes()]


def _add_record(pieces: list[bytes], value: Mapping[str, Value], depth: int) -> None:
    pieces.append(_counted(RECORD, len(value)))
    for name in sorted(value):
        _add(pieces, name, depth + 1)
        _add(pieces, value[name], depth + 1)


class _Reader:
    """Reads values off bytes that nobody vouches for."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def rest(self) -> int:
        return len(self._data) - self._at

    def value(self, depth: int) -> Value:
        if depth > DEEPEST:
            raise DamagedMessageError(f"a message's values must nest at most {DEEPEST} deep.")
        tag = self._take(1)[0]
        if tag == ARRAY:
            return self._array()
        if tag == TUPLE:
            return tuple([self.value(depth + 1) for _ in range(self._count())])
        if tag == RECORD:
            return self._record(depth)
        if tag in _CONSTANTS:
            return _CONSTANTS[tag]
        if tag == FLOAT:
            return float(self._unpack("<d")[0])
        return self._scalar(tag, self._take(self._number(_LENGTH_BYTES)))

    def _scalar(self, tag: int, content: bytes) -> Value:
        if tag == TEXT:
            return _text(content)
        if tag == BYTES:
            return content
        if tag == INTEGER:
            return int.from_bytes(content, "little", signed=True)
        raise DamagedMessageError(f"a value's type must be 1 to {FLOAT}, got {tag}.")

    def _record(self, depth: int) -> Mapping[str, Value]:
        record: dict[str, Value] = {}
        for _ in range(self._count()):
            name = self.value(depth + 1)
            if not isinstance(name, str) or name in record:
                raise DamagedMessageError("a record's names must be texts, each once.")
            record[name] = self.value(depth + 1)
        return record

    def _array(self) -> NDArray[Any]:
        code, axes = self._unpack("<BB")
        if code >= len(DTYPES) or axes > MOST_AXES:
            raise DamagedMessageError("an array's type or number of axes is unknown.")
        shape = self._unpack(f"<{axes}Q")
        dtype = DTYPES[code]
        content = self._take(math.prod(shape) * dtype.itemsize)
        if dtype.kind == "b" and content.strip(b"\0\1"):
            raise DamagedMessageError("an array of truth values must hold zeros and ones.")
        return _shape_array(content, dtype, shape)

    def _count(self) -> int:
        count = self._number(4)
        # Each item takes a byte at least: a count beyond what is left is a lie that costs memory.
        if count > self.rest:
            raise DamagedMessageError("a message announces more values than it holds.")
        return count

    def _number(self, size: int) -> int:
        return int.from_bytes(self._take(size), "little")

    def _unpack(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))

    def _take(self, size: int) -> bytes:
        start, end = self._at, self._at + size
        if end > len(self._data):
            raise DamagedMessageError("a message must not end inside a value.")
        self._at = end
        return self._data[start:end]


def _shape_array(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        return np.frombuffer(content, dtype).reshape(shape)
    except ValueError as error:  # an empty array may still claim endless axes
        raise DamagedMessageError("an array's axes must fit a machine.") from error


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DamagedMessageError("text in a message must be UTF-8.") from error


_Kind = TypeVar("_Kind", int, bytes, str, tuple)  # type: ignore[type-arg] # any tuple


def item(record: Mapping[str, Value], name: str, kind: type[_Kind]) -> _Kind:
    """The value called ``name``, which must be of type ``kind``."""
    value = record.get(name)
    if not isinstance(value, kind):
        raise DamagedRecordError(f"a result's {name} must be of type {kind.__name__}.")
    return value


def array(record: Mapping[str, Value], name: str, dtype: str) -> NDArray[Any]:
    """The vector called ``name``, which must be of this type."""
    value = record.get(name)
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != 1:
        raise DamagedRecordError(f"a result's {name} must be a vector of {dtype}.")
    return value


def texts(record: Mapping[str, Value], name: str) -> tuple[str, ...]:
    """A list of texts."""
    values = item(record, name, tuple)
    if not all(isinstance(value, str) for value in values):
        raise DamagedRecordError(f"a result's {name} must be texts.")
    return tuple(str(value) for value in values)


def parts(record: Mapping[str, Value], name: str) -> tuple[Mapping[str, Value], ...]:
    """A list of records."""
    values = item(record, name, tuple)
    if not all(isinstance(value, Mapping) for value in values):
        raise DamagedRecordError(f"a result's {name} must be records.")
    return values


def part(record: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    """A record within a record."""
    value = record.get(name)
    if not isinstance(value, Mapping):
        raise DamagedRecordError(f"a result's {name} must be a record.")
    return value


Fields: TypeAlias = Mapping[str, Any]
Kind = TypeVar("Kind")
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,32768}")


def parse_fields(text: str | bytes, what: str) -> Fields:
    """The fields of a JSON object."""
    try:
        fields = parse_json(text)
    except ValueError:
        raise InputError(f"this is not {what}: it cannot be parsed.") from None
    if not isinstance(fields, dict):
        raise InputError(f"this is not {what}: its fields are missing.")
    return fields


def check_format(fields: Fields, name: str, version: int) -> None:
    """Refuse another format, or a version that this program does not know."""
    if fields.get("format") != name:
        raise InputError(f"this is not a {name}.")
    if fields.get("version") != version:
        raise InputError(f"a {name} must be of version {version}; update to read others.")


def field(fields: Fields, name: str, kind: type[Kind]) -> Kind:
    """A field of the given type; True is no whole number here."""
    value = fields.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InputError(f"the field {name!r} is missing or of the wrong type.")
    return value


def from_hexadecimal(value: object, name: str) -> int:
    """A number that was written in hexadecimal."""
    if not isinstance(value, str) or not _HEXADECIMAL.fullmatch(value):
        raise InputError(f"the field {name!r} must be a hexadecimal number.")
    return int(value, 16)


def bytes_field(fields: Fields, name: str) -> bytes:
    """Bytes that were written in hexadecimal."""
    try:
        return bytes.fromhex(field(fields, name, str))
    except ValueError:
        raise InputError(f"the field {name!r} must be hexadecimal.") from None


_WHOLE_BITS = 63
_Read = TypeVar("_Read")


def to_value(thing: Any) -> Value:  # noqa: ANN401 - a dataclass, or what one holds
    """A dataclass by the names of its fields; all else as it travels."""
    if is_dataclass(thing):
        return as_record(thing)
    if isinstance(thing, Mapping):
        return {name: to_value(each) for name, each in thing.items()}
    if isinstance(thing, tuple | list):
        return tuple(to_value(each) for each in thing)
    if isinstance(thing, frozenset):
        return tuple(sorted(thing))
    if isinstance(thing, Fraction):
        return str(thing)
    value: Value = thing.item() if isinstance(thing, np.generic) else thing
    return value


def as_record(thing: Any) -> dict[str, Value]:  # noqa: ANN401 - a dataclass
    """A dataclass by the names of its fields."""
    return {each.name: to_value(getattr(thing, each.name)) for each in fields(thing)}


def from_value(value: Value, kind: type[_Read]) -> _Read:
    """The dataclass that `to_value` wrote so, or DamagedRecordError."""
    try:
        found = msgspec.convert(value, kind, dec_hook=_read_other)
    except (InputError, AttributeError, OverflowError, TypeError, ValueError) as error:
        # msgspec names the field last.
        what, _, field = str(error).partition(" - at `$.")
        named = f"{field.rstrip('`')}: {what}" if field else what
        raise DamagedRecordError(f"a record cannot be read: {named}") from error
    # Whatever was left out, added or of a type that only looks alike is written otherwise.
    if encode_value(to_value(found)) != encode_value(value):
        raise DamagedRecordError("a record must have its known fields, each of its type.")
    return found


def check_numbers(value: Value) -> None:
    """Refuse whole numbers that no field of terms may hold."""
    if isinstance(value, int) and value.bit_length() > _WHOLE_BITS:
        raise DamagedRecordError(f"whole numbers must have at most {_WHOLE_BITS} bits.")
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for each in value:
            check_numbers(each)


def _read_other(kind: type, value: object) -> object:
    if kind is Fraction and isinstance(value, str):
        return read_kept(value, "a fraction")
    if isinstance(value, np.ndarray) and get_origin(kind) is np.ndarray:
        _, described = get_args(kind)
        if value.dtype == np.dtype(*get_args(described)):
            return value
    raise ValueError(f"it must be of type {kind.__name__}.")
