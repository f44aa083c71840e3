"""TOML as people would write it: plain values, tables, a word a line where words are many.

Files that commands have written stay the same to the byte, which no library's layout gives.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Plain: TypeAlias = str | int | float | bool | Sequence[str] | Sequence[float]


def toml_value(value: Plain, *, word_a_line: bool = False) -> str:
    """A value in TOML; with ``word_a_line``, a list of texts has a line for each."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # A JSON string is a TOML basic string, but for the delete character, which TOML escapes.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, int | float):
        return repr(value)
    items = [toml_value(item) for item in value]
    if word_a_line and value and isinstance(value[0], str):
        return "[\n" + "".join(f"  {item},\n" for item in items) + "]"
    return "[" + ", ".join(items) + "]"


def toml_lines(values: Mapping[str, Plain | None], *, word_a_line: bool = False) -> list[str]:
    """Keys and values, those that are None left out."""
    return [
        f"{key} = {toml_value(value, word_a_line=word_a_line)}"
        for key, value in values.items()
        if value is not None
    ]


def toml_table(
    header: str, values: Mapping[str, Plain | None], *, word_a_line: bool = False
) -> str:
    """A table under its ``header``, such as ``[[party]]``, ready to be joined to others."""
    return "\n".join([header, *toml_lines(values, word_a_line=word_a_line)]) + "\n"
