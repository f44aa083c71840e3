"""A run's terms as bytes: versioned, every field of a known type, nothing beside them.

The fields are those of the dataclasses, in their order: a field that is added, renamed or moved
there changes the bytes, and so needs a new version. Another version is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from sottovoce.errors import DamagedMessageError, DamagedRecordError, InputError
from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.wire.codec import Value, decoded, encoded
from sottovoce.privacy.exact import read_kept

if TYPE_CHECKING:
    from sottovoce.learn.run.terms import RunTerms


VERSION = 5
_WHOLE_BITS = 63
_Terms = TypeVar("_Terms")


class Kind(NamedTuple):
    """How values of one type are written and read."""

    written: Callable[[Any], Value]
    read: Callable[[Value], Any]


def terms_to_bytes(terms: "RunTerms") -> bytes:
    """A version and every field."""
    made: type = type(terms)
    return encoded({"version": VERSION, "terms": _written(terms, kinds_of(made))})


def terms_from_bytes(data: bytes, made: type[_Terms]) -> _Terms:
    """A run's terms, or DamagedRecordError."""
    described: type = made
    try:
        value = decoded(data)
        record = _record(value, {"version", "terms"})
        _check_version(record["version"])
        return made(**_read(record["terms"], kinds_of(described)))
    except (DamagedMessageError, InputError, TypeError, ValueError, OverflowError) as error:
        raise DamagedRecordError(f"these bytes are no terms of a run: {error}") from error


def _check_version(version: Value) -> None:
    if version != VERSION or not isinstance(version, int):
        raise DamagedRecordError(
            f"a run's terms must be of version {VERSION}, got {version!r}; use the same release of "
            "Sottovoce at all parties."
        )


def _written(thing: object, kinds: Mapping[str, Kind]) -> dict[str, Value]:
    return {name: kind.written(getattr(thing, name)) for name, kind in kinds.items()}


def _read(value: Value, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    record = _record(value, set(kinds))
    return {name: _field(name, kind, record[name]) for name, kind in kinds.items()}


def _field(name: str, kind: Kind, value: Value) -> Any:  # noqa: ANN401 - of the kind
    try:
        return kind.read(value)
    except DamagedRecordError as error:
        raise DamagedRecordError(f"the run's {name} cannot be read: {error}") from None


def _record(value: Value, names: set[str]) -> Mapping[str, Value]:
    if not isinstance(value, Mapping) or set(value) != names:
        raise DamagedRecordError(f"a record of {len(names)} known fields must come.")
    return value


def _typed(kind: type) -> Callable[[Value], Any]:
    def read(value: Value) -> Any:  # noqa: ANN401 - of the type asked for
        if not isinstance(value, kind):
            raise DamagedRecordError(f"a field must be of type {kind.__name__}.")
        return value

    return read


def _whole(value: Value) -> int:
    if not isinstance(value, int) or value.bit_length() > _WHOLE_BITS:
        raise DamagedRecordError(f"a field must be a whole number of at most {_WHOLE_BITS} bits.")
    return value


def _number(value: Value) -> float:
    numbers = _numbers(value)
    if len(numbers) != 1:
        raise DamagedRecordError("a field must be one number.")
    return numbers[0]


def _numbers(value: Value) -> tuple[float, ...]:
    if not isinstance(value, np.ndarray) or value.dtype != "<f8" or value.ndim != 1:
        raise DamagedRecordError("a field must be an array of numbers.")
    return tuple(value.tolist())


def _texts(value: Value) -> tuple[str, ...]:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise DamagedRecordError("a field must be a list of texts.")
    return tuple(str(item) for item in value)


def _flag(value: Value) -> bool:
    if value not in (0, 1) or not isinstance(value, int):
        raise DamagedRecordError("a field must be 0 or 1.")
    return bool(value)


def _fraction(value: Value) -> Fraction:
    if not isinstance(value, str):
        raise DamagedRecordError("a field must be a fraction as text.")
    found = read_kept(value, "a fraction")
    if str(found) != value:
        raise DamagedRecordError("a fraction must be in lowest terms.")
    return found


def _identities(value: Value) -> dict[str, bytes]:
    if not isinstance(value, Mapping) or not all(isinstance(v, bytes) for v in value.values()):
        raise DamagedRecordError("identities must be bytes by name.")
    return {name: bytes(public) for name, public in value.items() if isinstance(public, bytes)}


def _map_read(value: Value) -> FeatureMap:
    record = _record(value, {"entries", "weights", "width"})
    entries, weights = record["entries"], record["weights"]
    sound = isinstance(entries, np.ndarray) and entries.dtype == "<i8"
    if not sound or not isinstance(weights, np.ndarray) or weights.dtype != "<f8":
        raise DamagedRecordError("a feature map must be arrays of whole numbers and of numbers.")
    return FeatureMap(np.asarray(entries), weights, WHOLE.read(record["width"]))


def _map_written(mapping: FeatureMap) -> Value:
    entries = np.asarray(mapping.entries, np.int64)
    weights = np.asarray(mapping.weights, np.float64)
    return {"entries": entries, "weights": weights, "width": mapping.width}


def maybe(kind: Kind) -> Kind:
    """Absent or of a kind: a tuple of none or one."""

    def read(value: Value) -> Any:  # noqa: ANN401 - of the kind, or None
        if not isinstance(value, tuple) or len(value) > 1:
            raise DamagedRecordError("an optional field must be a list of at most one.")
        return kind.read(value[0]) if value else None

    return Kind(lambda given: () if given is None else (kind.written(given),), read)


def part(kinds: Mapping[str, Kind], made: Callable[..., Any]) -> Kind:
    """A record of its own."""
    return Kind(lambda given: _written(given, kinds), lambda value: made(**_read(value, kinds)))


WHOLE = Kind(int, _whole)
WORD = Kind(str, _typed(str))
OCTETS = Kind(bytes, _typed(bytes))
FLAG = Kind(int, _flag)
NUMBER = Kind(lambda given: np.array([float(given)]), _number)
NUMBERS = Kind(lambda given: np.array(given, np.float64), _numbers)
TEXTS = Kind(tuple, _texts)

MAP = Kind(_map_written, _map_read)
FRACTION = Kind(str, _fraction)
IDENTITIES = Kind(dict, _identities)
_BY_TYPE: dict[Any, Kind] = {
    int: WHOLE,
    bool: FLAG,
    float: NUMBER,
    str: WORD,
    bytes: OCTETS,
    Sequence[float]: NUMBERS,
    tuple[str, ...]: TEXTS,
    Mapping[str, bytes]: IDENTITIES,
    FeatureMap: MAP,
    Fraction: FRACTION,
}


def kind_of(annotation: Any) -> Kind:  # noqa: ANN401 - what a field is annotated with
    """How a field of that annotation travels; a dataclass is a record of its own."""
    if annotation in _BY_TYPE:
        return _BY_TYPE[annotation]
    if get_origin(annotation) is Literal:
        return WORD
    if get_origin(annotation) in (UnionType, Union):
        (inner,) = (each for each in get_args(annotation) if each is not NoneType)
        return maybe(kind_of(inner))
    return part(kinds_of(annotation), annotation)


@cache
def kinds_of(described: type) -> Mapping[str, Kind]:
    """The kinds of a dataclass's fields, which are declared there and nowhere else."""
    hints = get_type_hints(described)
    return {each.name: kind_of(hints[each.name]) for each in fields(described)}


TEXT = kind_of(TextRecipe)
