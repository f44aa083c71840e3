"""How a source is read: as told, as it was kept beside a state or ranks, or as guessed.

The guess is kept beside the state, or beside the ranks where there is no state, in a file that ends
in .reading.json; never in the working directory. The next run with that state reads alike.
"""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from sottovoce.corpus.read.guessed import GuessedReading, guessed_source
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import CorpusError
from sottovoce.files import whole_file
from sottovoce.json import parse_json

_LARGEST = 1 << 16


def kept_reading(path: Path) -> Path:
    """Where what was guessed about the posts of a state, or of ranks, is kept."""
    return path.with_name(f"{path.name}.reading.json")


def chosen_reading(
    source: object,
    schema: pa.Schema,
    told: ReadOptions,
    *,
    encoding: str | None = None,
    beside: Path | None = None,
) -> GuessedReading:
    """How to read ``source``: as told, as kept ``beside``, or as guessed, which is to be said."""
    known = None if beside is None or told.columns else _kept(kept_reading(beside))
    if known is not None:
        try:
            kept = _as_kept(told, known)
            return GuessedReading(guessed_source(source, schema, kept, encoding=encoding).options)
        except CorpusError:
            pass  # these posts have other columns than those before
    return guessed_source(source, schema, told, encoding=encoding)


def warned_reading(
    source: object,
    schema: pa.Schema,
    told: ReadOptions,
    *,
    beside: Path | None = None,
    stacklevel: int = 3,
) -> ReadOptions:
    """The same for a call from Python; what was guessed is warned of."""
    found = chosen_reading(source, schema, told, beside=beside)
    for line in found.said if found.options != told else ():
        warnings.warn(line, stacklevel=stacklevel)
    return found.options


def keep_reading(beside: Path, options: ReadOptions, told: ReadOptions) -> Path | None:
    """Keep what was guessed, for its owner only; the file, where it is new."""
    by_name = all(isinstance(each, str) for each in options.columns.values())
    if options == told or not by_name:
        return None
    record = {"columns": dict(options.columns), "dates": options.dates}
    path = kept_reading(beside)
    is_new = not path.exists()
    with whole_file(path, private=True) as temporary:
        temporary.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path if is_new else None


def _kept(path: Path) -> dict[str, Any] | None:
    """What is kept; what is no such file is as if it were not there."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        record: dict[str, Any] = parse_json(path.read_text(encoding="utf-8"))
        columns = record["columns"]
        sound = all(isinstance(each, str | int) for each in columns.values())
        return record if sound and set(columns) <= {"user", "time", "text", "label"} else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _as_kept(told: ReadOptions, known: dict[str, Any]) -> ReadOptions:
    columns = MappingProxyType(dict(known["columns"]))
    dates = known.get("dates") if told.dates == "iso" else told.dates
    return replace(told, columns=columns, dates=dates or "iso")
