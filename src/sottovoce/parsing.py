"""What others wrote, read within bounds: JSON, TOML, a choice; and TOML as people would write it.

What is nested too deep is no JSON, rather than an error of its own. TOML is written as plain
values, tables, and a word a line where words are many: files that commands have written stay the
same to the byte, which no library's layout gives. The standard parser takes for a key of n parts
the time and memory of n * n.
"""

import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from sottovoce.errors import InputError, ParameterError

Plain: TypeAlias = str | int | float | bool | Sequence[str] | Sequence[float]


_WHOLE_BITS = 63
_MOST_PARTS = 16
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{_MOST_PARTS}}}", re.ASCII)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text; its errors quote nothing of it. Whole numbers have 64 bits, no more."""
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise InputError(f"a key must have at most {_MOST_PARTS} parts, got more in line {line}.")
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The message may quote a character of the file; its place does not.
        _, at, place = str(error).rpartition("(at ")
        raise InputError(f"it is not TOML{at and f' (at {place}'}.") from None
    except RecursionError:
        raise InputError("its tables are nested too deeply.") from None
    except ValueError:
        raise InputError("a number in it has too many digits, or a date is none.") from None
    if not _fits(found):
        raise InputError("a number in it has too many digits.")
    return found


def _fits(value: object) -> bool:
    if isinstance(value, dict | list):
        return all(map(_fits, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int) or value.bit_length() <= _WHOLE_BITS


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


def parse_json(text: str | bytes, **options: Any) -> Any:  # noqa: ANN401 - those of json.loads
    """What the text says, as ``json.loads`` has it; whatever cannot be read is a ValueError.

    >>> parse_json("[1, 2]")
    [1, 2]
    """
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise json.JSONDecodeError("nested too deep", "", 0) from None


def check_choice(name: str, value: str, allowed: Collection[str]) -> None:
    """Refuse a word that is none of those ``allowed`` for the parameter ``name``."""
    if value not in allowed:
        raise ParameterError(
            f"{name} must be one of {', '.join(allowed)}, got {value!r}."
            f"{did_you_mean(value, allowed)}"
        )


def did_you_mean(written: str, known: Collection[str]) -> str:
    """A sentence for a name that is not known but near one that is; empty where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where something is wrong

    by_fold = {each.casefold(): each for each in known}
    near = get_close_matches(str(written).strip().casefold(), by_fold, n=1, cutoff=0.6)
    return f" Did you mean {by_fold[near[0]]!r}?" if near else ""
