"""A catalogue as TOML: an optional ``model``, then one ``[[topic]]`` for each topic.

The simulator writes the same format from the layer below; a test keeps the two alike. Errors name
a topic and its field, never what else stands in the file.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.files import cause_of, whole_file
from sottovoce.toml_text import toml_lines, toml_table

MOST_BYTES = 64 * 1024 * 1024
_REQUIRED = ("name", "domain", "words")
_KEYS = (*_REQUIRED, "sensitive", "weights", "dimensions")
_TYPES: dict[str, tuple[type, str]] = {
    "name": (str, "a text"),
    "domain": (str, "a text"),
    "sensitive": (bool, "true or false"),
    "words": (list, "a list of texts"),
    "weights": (list, "a list of numbers"),
    "dimensions": (list, "a list of whole numbers"),
}
_ITEMS: dict[str, tuple[type, ...]] = {
    "words": (str,),
    "weights": (int, float),
    "dimensions": (int,),
}


def is_name(text: str) -> bool:
    """Whether ``text`` can name a topic or domain: something to read, safe to print."""
    return bool(text.strip()) and text == text.strip() and text.isprintable()


def read_entries(path: Path) -> tuple[str | None, list[dict[str, Any]]]:
    """The model's fingerprint and the topics' entries: keys and types as they should be."""
    content = _parsed(path)
    _refuse_unknown(content, ("model", "topic"), "at the top")
    model, entries = content.get("model"), content.get("topic")
    if not isinstance(entries, list) or not entries:
        raise InputError("topic must be at least one [[topic]] table, got none.")
    if model is not None and not (isinstance(model, str) and is_name(model)):
        raise InputError("model must be the fingerprint of a model, as a text.")
    for number, entry in enumerate(entries, start=1):
        _check_entry(entry, number)
    if model is None and any(entry.get("dimensions") for entry in entries):
        raise InputError("dimensions mean nothing without the model they belong to: match anew.")
    return model, entries


def catalogue_text(model: str | None, entries: Iterable[Mapping[str, Any]]) -> str:
    """What ``write_entries`` writes; keys whose value is None are left out."""
    head = [f"{line}\n" for line in toml_lines({"model": model})]
    tables = [toml_table("[[topic]]", entry, word_a_line=True) for entry in entries]
    return "\n".join(head + tables)


def write_entries(
    path: Path, model: str | None, entries: Iterable[Mapping[str, Any]], *, private: bool
) -> None:
    """Write a catalogue, whole or not at all."""
    text = catalogue_text(model, entries)
    with whole_file(path, private=private) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _parsed(path: Path) -> dict[str, Any]:
    text = _text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"it is no TOML{_place(error)}.") from None
    except RecursionError:
        raise InputError("its tables are nested too deeply.") from None
    except ValueError:
        raise InputError("a number in it has too many digits.") from None


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size <= MOST_BYTES:
            return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"it cannot be read: {cause_of(error)}.") from None
    except UnicodeDecodeError:
        raise InputError("it is no UTF-8 text.") from None
    raise InputError(f"it must have at most {MOST_BYTES:,} bytes, got {size:,}.")


def _place(error: tomllib.TOMLDecodeError) -> str:
    # The message may quote a character of the file; its place does not.
    _, found, place = str(error).rpartition("(at ")
    return f" (at {place}" if found else ""


def _check_entry(entry: object, number: int) -> None:
    if not isinstance(entry, dict):
        raise InputError(f"topic {number} must be a [[topic]] table.")
    label = entry_label(entry.get("name"), number)
    missing = [key for key in _REQUIRED if key not in entry]
    if missing:
        raise InputError(f"{label} has no {missing[0]}.")
    _refuse_unknown(entry, _KEYS, f"in {label}")
    for key, value in entry.items():
        kind, wanted = _TYPES[key]
        if not isinstance(value, kind) or not _items_fit(key, value):
            raise InputError(f"{label}: {key} must be {wanted}.")


def entry_label(name: object, number: int) -> str:
    """How an error calls a topic: by its name if that can be printed, else by its place."""
    return f"topic {name!r}" if isinstance(name, str) and is_name(name) else f"topic {number}"


def _items_fit(key: str, value: Any) -> bool:  # noqa: ANN401 - whatever the file holds
    allowed = _ITEMS.get(key)
    return allowed is None or all(
        isinstance(item, allowed) and not isinstance(item, bool) for item in value
    )


def _refuse_unknown(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    unknown = sum(key not in known for key in table)
    if unknown:
        raise InputError(f"{unknown} unknown keys {where}; known are {', '.join(known)}.")
