"""Dataclasses as values that travel or are kept: their own fields, and nothing beside them.

What a dataclass declares is its schema. A field that is added, renamed or of another type makes
other bytes, so whoever keeps such bytes keeps a version with them.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeVar

import msgspec
import numpy as np

from sottovoce.errors import DamagedRecordError, InputError
from sottovoce.learn.wire.codec import Value, encoded
from sottovoce.privacy.exact import read_kept

_WHOLE_BITS = 63
_Read = TypeVar("_Read")


def to_value(thing: Any) -> Value:  # noqa: ANN401 - a dataclass, or what one holds
    """A dataclass by the names of its fields; all else as it travels."""
    if is_dataclass(thing):
        return {each.name: to_value(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, Mapping):
        return {name: to_value(each) for name, each in thing.items()}
    if isinstance(thing, tuple | list):
        return tuple(to_value(each) for each in thing)
    if isinstance(thing, Fraction):
        return str(thing)
    value: Value = thing.item() if isinstance(thing, np.generic) else thing
    return value


def from_value(value: Value, kind: type[_Read]) -> _Read:
    """The dataclass that `to_value` wrote so, or DamagedRecordError."""
    _check_numbers(value)
    try:
        found = msgspec.convert(value, kind, dec_hook=_read_other)
    except (msgspec.ValidationError, InputError, TypeError, ValueError, OverflowError) as error:
        raise DamagedRecordError(f"a record cannot be read: {error}") from error
    # Whatever was left out, added or of a type that only looks alike is written otherwise.
    if encoded(to_value(found)) != encoded(value):
        raise DamagedRecordError("a record must have its known fields, each of its type.")
    return found


def _check_numbers(value: Value) -> None:
    if isinstance(value, int) and value.bit_length() > _WHOLE_BITS:
        raise DamagedRecordError(f"whole numbers must have at most {_WHOLE_BITS} bits.")
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, tuple):
        for each in value:
            _check_numbers(each)


def _read_other(kind: type, value: object) -> object:
    if kind is Fraction and isinstance(value, str):
        return read_kept(value, "a fraction")
    if isinstance(value, np.ndarray):
        return value
    raise ValueError(f"it must be of type {kind.__name__}.")
