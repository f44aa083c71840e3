"""Reading records that were kept on disk: every field of a known type."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ProtocolError
from sottovoce.learn.party import Value

_Kind = TypeVar("_Kind", int, bytes, str, tuple)  # type: ignore[type-arg] # any tuple


class DamagedResultError(ProtocolError):
    """A kept result is not what a run of this kind gives."""


def item(record: Mapping[str, Value], name: str, kind: type[_Kind]) -> _Kind:
    """The value called ``name``, which must be of type ``kind``."""
    value = record.get(name)
    if not isinstance(value, kind):
        raise DamagedResultError(f"a result's {name} must be of type {kind.__name__}.")
    return value


def array(record: Mapping[str, Value], name: str, dtype: str) -> NDArray[Any]:
    """The vector called ``name``, which must be of this type."""
    value = record.get(name)
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != 1:
        raise DamagedResultError(f"a result's {name} must be a vector of {dtype}.")
    return value


def texts(record: Mapping[str, Value], name: str) -> tuple[str, ...]:
    """A list of texts."""
    values = item(record, name, tuple)
    if not all(isinstance(value, str) for value in values):
        raise DamagedResultError(f"a result's {name} must be texts.")
    return tuple(str(value) for value in values)


def parts(record: Mapping[str, Value], name: str) -> tuple[Mapping[str, Value], ...]:
    """A list of records."""
    values = item(record, name, tuple)
    if not all(isinstance(value, Mapping) for value in values):
        raise DamagedResultError(f"a result's {name} must be records.")
    return values


def part(record: Mapping[str, Value], name: str) -> Mapping[str, Value]:
    """A record within a record."""
    value = record.get(name)
    if not isinstance(value, Mapping):
        raise DamagedResultError(f"a result's {name} must be a record.")
    return value
