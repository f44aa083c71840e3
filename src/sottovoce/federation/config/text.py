"""TOML as people would write it: comments, plain values, tables."""

import json
from collections.abc import Mapping

Plain = str | int | float | bool | list[str]


def toml_value(value: Plain) -> str:
    """A value in TOML, whose basic strings are JSON's but for the delete character."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(toml_value(each) for each in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def toml_lines(values: Mapping[str, Plain | None]) -> list[str]:
    """Keys and values, those that are None left out."""
    return [f"{key} = {toml_value(value)}" for key, value in values.items() if value is not None]
