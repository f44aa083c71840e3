"""Reading JSON that somebody else wrote: every field of the type that is expected, or a refusal."""

import json
import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

from sottovoce.errors import InputError

Fields: TypeAlias = Mapping[str, Any]
Kind = TypeVar("Kind")
_HEXADECIMAL = re.compile(r"[0-9a-f]{1,32768}")


def parse_fields(text: str | bytes, what: str) -> Fields:
    """The fields of a JSON object."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
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
