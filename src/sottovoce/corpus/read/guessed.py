"""From options that leave something open to options that do not, with what was guessed said.

Guessed are the encoding, the columns and the order of day and month. Whatever was told stays.
"""

import codecs
import json
import warnings
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from sottovoce.corpus.read._frame import sample_frame
from sottovoce.corpus.read.bytes import NUL_SHARE_OF_UTF16, check_file, opening
from sottovoce.corpus.read.columns import locate
from sottovoce.corpus.read.corpus import FORMATS, find_format, format_by_name, sample_columns
from sottovoce.corpus.read.guess import (
    ColumnGuess,
    guess_columns,
    named_for,
    refuse_serial_dates,
    shown_name,
)
from sottovoce.corpus.read.tally import ColumnSample, ReadOptions
from sottovoce.corpus.read.times import date_orders
from sottovoce.errors import CorpusError, MissingColumnError, UnclearColumnsError
from sottovoce.files import whole_file
from sottovoce.parsing import did_you_mean, parse_json

AUTO = "auto"
"""The encoding of a file whose bytes are to tell it."""
_UNASSIGNED = frozenset(b"\x81\x8d\x8f\x90\x9d")
_WESTERN = 0.2


@dataclass(frozen=True)
class GuessedReading:
    """How a file is read, and what of that nobody told."""

    options: ReadOptions
    said: tuple[str, ...] = ()
    """A line for each thing that was guessed, with its reason."""


def guessed_reading(
    path: Path, schema: pa.Schema, options: ReadOptions, *, encoding: str = AUTO
) -> GuessedReading:
    """``options``, with what they leave open guessed from the file's first rows; or a question."""
    check_file(path)
    named = options.format or format_by_name(path)
    said: list[str] = []
    if named is not None and FORMATS[named].is_text:
        found, why = found_encoding(path) if encoding == AUTO else (encoding, "")
        options = replace(options, encoding=found)
        said += [why] if why else []
    elif encoding != AUTO:
        options = replace(options, encoding=encoding)
    if named is None or not FORMATS[named].has_columns:
        return GuessedReading(options, tuple(said))
    reader = FORMATS[find_format(path, options) or named]
    if not reader.has_columns:
        return GuessedReading(options, tuple(said))
    said += reader.describe(path, options)
    columns = sample_columns(path, options)
    options, guess = _with_columns(path, schema, options, columns)
    if guess is not None:
        said.append(guess.in_words())
    if "time" not in schema.names:
        return GuessedReading(options, tuple(said))
    options, order = _with_dates(options, columns)
    return GuessedReading(options, (*said, *([order] if order else ())))


def guessed_source(
    source: object, schema: pa.Schema, options: ReadOptions, *, encoding: str | None = None
) -> GuessedReading:
    """The same for what a call takes: a file's path, a data frame or a list of dictionaries.

    Where no ``encoding`` is given it is as the options have it, or guessed where that is UTF-8.
    """
    if isinstance(source, str | PathLike):
        usual = options.encoding == ReadOptions().encoding
        encoding = encoding or (AUTO if usual else options.encoding)
        return guessed_reading(Path(source), schema, options, encoding=encoding)
    columns = sample_frame(source)
    if not columns:
        return GuessedReading(options)
    where = Path("the data frame" if hasattr(source, "__arrow_c_stream__") else "the first row")
    with_columns, guess = _with_columns(where, schema, options, columns)
    if guess is None:
        return GuessedReading(options)
    with_dates, order = _with_dates(with_columns, columns)
    return GuessedReading(with_dates, (guess.in_words(), *([order] if order else ())))


def found_encoding(path: Path) -> tuple[str, str]:
    """UTF-8, UTF-16 that says so, or a Western one; a line with the reason for the latter two."""
    start = opening(path)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "read as UTF-16, as its first bytes say; use --encoding to change this"
    high = [byte for byte in start if byte >= 0x80]  # noqa: PLR2004 - beyond ASCII
    if not high or _has_utf8(start) or start.count(0) > NUL_SHARE_OF_UTF16 * len(start):
        return "utf-8", ""
    letters = sum(chr(byte).isalpha() for byte in start)
    if len(high) > _WESTERN * letters or _UNASSIGNED & {*high}:
        raise CorpusError(
            f"{path} is not in UTF-8, and its bytes do not tell in what else. Which encoding is "
            "it? Say --encoding windows-1251 (Cyrillic), windows-1252 (Western), gb18030 "
            "(Chinese), shift_jis (Japanese) or another, or convert it to UTF-8."
        )
    return "windows-1252", (
        "read as windows-1252, since no byte of it beyond ASCII is UTF-8; use --encoding to change "
        "this"
    )


def _has_utf8(start: bytes) -> bool:
    """Whether any character beyond ASCII is whole in UTF-8: then the rest is damage."""
    return any(ord(each) > 0x7F for each in start.decode("utf-8", "ignore"))  # noqa: PLR2004 - ASCII


def _with_columns(
    path: Path, schema: pa.Schema, options: ReadOptions, columns: tuple[ColumnSample, ...]
) -> tuple[ReadOptions, ColumnGuess | None]:
    """Columns that are neither told nor named as ours are guessed."""
    names = [column.name for column in columns]
    told_names = isinstance(options.header, tuple)
    keys = told_names or any(isinstance(column.key, str) for column in columns)
    missing = _missing(schema, options, names, str(path), surely_names=keys)
    if not missing or not columns:
        return options, None
    told = {role: _find_key(options, columns, role) for role in schema.names if role not in missing}
    if not _has_names(columns, options):
        locate(schema, options, names, str(path))
    if len(columns) == 1 < len(missing):
        raise CorpusError(
            f"{path} seems to have 1 column, where {', '.join(missing)} are wanted. What stands "
            "between its values? Say --delimiter."
        )
    try:
        guess = guess_columns(
            columns, [*missing], [key for key in told.values() if key is not None]
        )
    except UnclearColumnsError as error:
        all_told = len(columns) == len(told)
        begins = next(iter(missing.values())) if all_told else f"{path}:"
        raise UnclearColumnsError(f"{begins} {error}") from None
    found: dict[str, str | int] = {
        role: each.name if names.count(each.name) == 1 and each.name else each.key
        for role, each in guess.columns.items()
    }
    merged = MappingProxyType({**options.columns, **found})
    return replace(options, columns=merged), guess


def _has_names(columns: tuple[ColumnSample, ...], options: ReadOptions) -> bool:
    """Whether columns have names at all: told, or keys, or a first row with one of any role."""
    if isinstance(options.header, tuple) or any(isinstance(each.key, str) for each in columns):
        return True
    roles = ("user", "time", "text")
    return any(named_for(column.name, role) for column in columns for role in roles)


def _missing(
    schema: pa.Schema, options: ReadOptions, names: list[str], where: str, *, surely_names: bool
) -> dict[str, str]:
    """The fields without a column, in words; a name that was told and is not there is an error."""
    missing = {}
    for field in schema:
        if field.nullable:
            continue
        try:
            locate(
                pa.schema([field]),
                _keep_mapping(options, field.name),
                names,
                where,
                surely_names=surely_names,
            )
        except MissingColumnError as error:
            wanted = options.columns.get(field.name)
            if wanted is not None:
                near = did_you_mean(str(wanted), [name for name in names if name.strip()])
                raise MissingColumnError(error.missing, f"Map it with --fields.{near}") from None
            missing[field.name] = error.missing
    return missing


def _keep_mapping(options: ReadOptions, name: str) -> ReadOptions:
    held = {name: options.columns[name]} if name in options.columns else {}
    return replace(options, columns=MappingProxyType(held))


def _find_key(
    options: ReadOptions, columns: tuple[ColumnSample, ...], role: str
) -> str | int | None:
    wanted = options.columns.get(role, role)
    if isinstance(wanted, int):
        return wanted
    for column in columns:
        if column.name.strip().casefold() == wanted.casefold():
            return column.key
    return None


def _with_dates(options: ReadOptions, columns: tuple[ColumnSample, ...]) -> tuple[ReadOptions, str]:
    """The order of day and month, where times are written so and only one order can be meant."""
    key = _find_key(options, columns, "time")
    column = next((each for each in columns if each.key == key), None)
    if options.dates != "iso" or column is None:
        return options, ""
    if isinstance(column.key, int):
        refuse_serial_dates(column)
    orders = date_orders([value for value in column.values if value.strip()])
    if len(orders) == 1:
        order = orders.pop()
        flag = f"--{order}"
        why = f"times of {shown_name(column)} are read {order}: no other order fits ({flag})"
        return replace(options, dates=order), why
    if orders:
        raise UnclearColumnsError(
            f"the times of the column {shown_name(column)} could be written day first or month "
            "first. Which is it? Say --day-first or --month-first."
        )
    return options, ""


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
    known = None if beside is None or told.columns else _read_kept(kept_reading(beside))
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


def _read_kept(path: Path) -> dict[str, Any] | None:
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
