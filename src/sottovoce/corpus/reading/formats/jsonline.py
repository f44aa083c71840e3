"""One line of JSON, with Python's own parser: for looking ahead and for lines Arrow refuses."""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from sottovoce.corpus.reading.times import from_number


def parsed(line: bytes) -> dict[str, object] | None:
    """The object on this line, or None. Bytes that are no UTF-8 are kept as lone surrogates."""
    try:
        item = json.loads(line.decode("utf-8", "surrogateescape"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


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
        return {name: _encoded(_as_string(name, item.get(key))) for name, key in keys.items()}
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


def _encoded(value: str | None) -> bytes | None:
    if value is None:
        return None
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
