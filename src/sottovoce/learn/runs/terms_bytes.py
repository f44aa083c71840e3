"""A run's terms as bytes: versioned, every field of a known type, nothing beside them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from sottovoce.errors import InputError, ProtocolError
from sottovoce.learn.party import DamagedMessageError, Value, decoded, encoded
from sottovoce.learn.protocols.terms import Recipe
from sottovoce.learn.texts.recipe import FeatureMap, TextRecipe

if TYPE_CHECKING:
    from sottovoce.learn.runs.terms import RunTerms

VERSION = 1
SHARED_VERSION = 2  # of terms with shared features; all others are as they were in version 1
_Terms = TypeVar("_Terms")


class DamagedTermsError(ProtocolError):
    """Bytes that are no terms of a run, or of another version."""


class Kind(NamedTuple):
    """How values of one type are written and read."""

    written: Callable[[Any], Value]
    read: Callable[[Value], Any]


def terms_to_bytes(terms: "RunTerms") -> bytes:
    """A version and every field."""
    version = SHARED_VERSION if terms.shared else VERSION
    return encoded({"version": version, "terms": _written(terms, _KINDS[version])})


def terms_from_bytes(data: bytes, made: Callable[..., _Terms]) -> _Terms:
    """A run's terms, or DamagedTermsError."""
    try:
        value = decoded(data)
        record = _record(value, {"version", "terms"})
        kinds = _known_kinds(record["version"])
        return made(**_read(record["terms"], kinds))
    except (DamagedMessageError, InputError, TypeError, ValueError, OverflowError) as error:
        raise DamagedTermsError(f"these bytes are no terms of a run: {error}") from error


def _known_kinds(version: Value) -> Mapping[str, Kind]:
    if not isinstance(version, int) or version not in _KINDS:
        raise DamagedTermsError(
            f"a run's terms must be of version {VERSION} or {SHARED_VERSION}, got {version!r}; use "
            "the same release of Sottovoce at all parties."
        )
    return _KINDS[version]


def _written(thing: object, kinds: Mapping[str, Kind]) -> dict[str, Value]:
    return {name: kind.written(getattr(thing, name)) for name, kind in kinds.items()}


def _read(value: Value, kinds: Mapping[str, Kind]) -> dict[str, Any]:
    record = _record(value, set(kinds))
    return {name: _field(name, kind, record[name]) for name, kind in kinds.items()}


def _field(name: str, kind: Kind, value: Value) -> Any:  # noqa: ANN401 - of the kind
    try:
        return kind.read(value)
    except DamagedTermsError as error:
        raise DamagedTermsError(f"the run's {name} cannot be read: {error}") from None


def _record(value: Value, names: set[str]) -> Mapping[str, Value]:
    if not isinstance(value, Mapping) or set(value) != names:
        raise DamagedTermsError(f"a record of {len(names)} known fields must come.")
    return value


def _typed(kind: type) -> Callable[[Value], Any]:
    def read(value: Value) -> Any:  # noqa: ANN401 - of the type asked for
        if not isinstance(value, kind):
            raise DamagedTermsError(f"a field must be of type {kind.__name__}.")
        return value

    return read


def _number(value: Value) -> float:
    numbers = _numbers(value)
    if len(numbers) != 1:
        raise DamagedTermsError("a field must be one number.")
    return numbers[0]


def _numbers(value: Value) -> tuple[float, ...]:
    if not isinstance(value, np.ndarray) or value.dtype != "<f8" or value.ndim != 1:
        raise DamagedTermsError("a field must be an array of numbers.")
    return tuple(value.tolist())


def _texts(value: Value) -> tuple[str, ...]:
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise DamagedTermsError("a field must be a list of texts.")
    return tuple(str(item) for item in value)


def _some_texts(value: Value) -> tuple[str, ...]:
    if not value:
        raise DamagedTermsError("a field must be a list of at least one text.")
    return _texts(value)


def _flag(value: Value) -> bool:
    if value not in (0, 1) or not isinstance(value, int):
        raise DamagedTermsError("a field must be 0 or 1.")
    return bool(value)


def _identities(value: Value) -> dict[str, bytes]:
    if not isinstance(value, Mapping) or not all(isinstance(v, bytes) for v in value.values()):
        raise DamagedTermsError("identities must be bytes by name.")
    return {name: bytes(public) for name, public in value.items() if isinstance(public, bytes)}


def _map_read(value: Value) -> FeatureMap:
    record = _record(value, {"entries", "weights", "width"})
    entries, weights = record["entries"], record["weights"]
    sound = isinstance(entries, np.ndarray) and entries.dtype == "<i8"
    if not sound or not isinstance(weights, np.ndarray) or weights.dtype != "<f8":
        raise DamagedTermsError("a feature map must be arrays of whole numbers and of numbers.")
    return FeatureMap(np.asarray(entries), weights, WHOLE.read(record["width"]))


def _map_written(mapping: FeatureMap) -> Value:
    entries = np.asarray(mapping.entries, np.int64)
    weights = np.asarray(mapping.weights, np.float64)
    return {"entries": entries, "weights": weights, "width": mapping.width}


def maybe(kind: Kind) -> Kind:
    """Absent or of a kind: a tuple of none or one."""

    def read(value: Value) -> Any:  # noqa: ANN401 - of the kind, or None
        if not isinstance(value, tuple) or len(value) > 1:
            raise DamagedTermsError("an optional field must be a list of at most one.")
        return kind.read(value[0]) if value else None

    return Kind(lambda given: () if given is None else (kind.written(given),), read)


def part(kinds: Mapping[str, Kind], made: Callable[..., Any]) -> Kind:
    """A record of its own."""
    return Kind(lambda given: _written(given, kinds), lambda value: made(**_read(value, kinds)))


WHOLE = Kind(int, _typed(int))
WORD = Kind(str, _typed(str))
OCTETS = Kind(bytes, _typed(bytes))
FLAG = Kind(int, _flag)
NUMBER = Kind(lambda given: np.array([float(given)]), _number)
NUMBERS = Kind(lambda given: np.array(given, np.float64), _numbers)
TEXTS = Kind(tuple, _texts)

_RECIPE = {
    "statistics": WORD,
    "way": WORD,
    "penalty": maybe(NUMBER),
    "penalties": NUMBERS,
    "folds": WHOLE,
    "fraction_bits": WHOLE,
    "moment_bits": WHOLE,
    "rados": WHOLE,
    "fewest_documents": WHOLE,
    "fewest_peers": WHOLE,
    "allow_rare": maybe(WORD),
    "allow_two": maybe(WORD),
    "key_bits": WHOLE,
    "solver": WORD,
    "queries": maybe(WHOLE),
    "queries_together": maybe(WHOLE),
}
TEXT_KINDS = {
    "dictionary": WORD,
    "words": TEXTS,
    "values": WORD,
    "width": WHOLE,
    "signed": FLAG,
    "keyed": FLAG,
    "buckets": WHOLE,
    "candidates": WHOLE,
    "padded": FLAG,
    "candidate_documents": WHOLE,
    "unit": WORD,
    "declared": WORD,
    "shortest": WHOLE,
    "stem": maybe(WORD),
    "bigrams": FLAG,
    "stop_words": TEXTS,
    "mapping": maybe(Kind(_map_written, _map_read)),
}
TEXT = part(TEXT_KINDS, TextRecipe)
_TERMS = {
    "session": OCTETS,
    "kind": WORD,
    "mode": WORD,
    "identities": Kind(dict, _identities),
    "recipe": part(_RECIPE, Recipe),
    "text": maybe(TEXT),
    "features": TEXTS,
    "labels": TEXTS,
    "most_classes": WHOLE,
    "held_out": NUMBER,
    "training": OCTETS,
    "asker": WORD,
    "rows": WHOLE,
    "contributors": TEXTS,
    "offset": maybe(WORD),
}
_KINDS = {VERSION: _TERMS, SHARED_VERSION: {**_TERMS, "shared": Kind(tuple, _some_texts)}}
