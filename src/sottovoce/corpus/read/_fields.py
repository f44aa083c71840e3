"""Which column of a file holds what."""

import re
from collections.abc import Sequence

import pyarrow as pa

from sottovoce.corpus.read._tally import ReadOptions
from sottovoce.errors import CorpusError, ParameterError

NAMES_SHOWN = 20
# A first row with none of these may be somebody's text rather than a header, and is not shown.
_NAMES = """
    anonid author author_id body category class comment content created created_at date
    datetime document grade id label message name persona post post_id product query querytime
    raw review sensitive source src subject text time timestamp title topic tweet user user_id
    userid username week when
"""
_KNOWN_NAMES = frozenset(_NAMES.split())
# One or two short words: anything else in a first row may be somebody's text, not a column name.
_NAME_LIKE = re.compile(r"[^\W\d][\w.:-]{0,39}( [\w.:-]{1,40})?")


# Fields whose column the calls of the verbs take by a keyword of the same name.
_KEYWORDS = frozenset({"user", "time", "text"})


class MissingColumnError(CorpusError):
    """A file has no column for something; ``missing`` says so without what to do about it."""

    def __init__(self, missing: str, remedy: str) -> None:
        super().__init__(f"{missing} {remedy}")
        self.missing = missing


def locate(
    schema: pa.Schema, options: ReadOptions, found: Sequence[str], where: str
) -> dict[str, int]:
    """The position in ``found`` of each field of ``schema``; a nullable field may be absent."""
    check_mapping(schema, options)
    places = {field.name: _place(field, options, found, where) for field in schema}
    return {name: place for name, place in places.items() if place is not None}


def check_mapping(schema: pa.Schema, options: ReadOptions) -> None:
    """Refuse a mapping for something that is not read."""
    if unknown := set(options.columns) - set(schema.names):
        raise ParameterError(
            f"columns may map {', '.join(schema.names)}; got {', '.join(sorted(unknown))}."
        )


def _place(field: pa.Field, options: ReadOptions, found: Sequence[str], where: str) -> int | None:
    wanted = options.columns.get(field.name, field.name)
    if isinstance(wanted, int):
        return _checked_position(field.name, wanted, len(found), where)
    places = [place for place, name in enumerate(found) if name == wanted]
    if len(places) > 1:
        raise CorpusError(
            f"{where} has {len(places)} columns named {wanted!r}; "
            f"map {field.name} by position: {_how(field.name, places[0])}."
        )
    if places:
        return places[0]
    if field.nullable and field.name not in options.columns:
        return None
    described, unnamed = _described(found)
    missing = f"{where} has no column {wanted!r} for {field.name}; {described}"
    raise MissingColumnError(missing, f"{unnamed}Map it: {_how(field.name, 'NAME')}.")


def _how(field: str, column: str | int) -> str:
    mapping = f"columns={{{field!r}: {column!r}}} of ReadOptions"
    if field in _KEYWORDS:
        calls = f"{field}={column!r} of assess_posts and release_counts"
        return f"--fields {field}={column}, or in Python {calls}, or {mapping}"
    return f"--fields {field}={column}, or in Python {mapping}"


def _checked_position(name: str, position: int, columns: int, where: str) -> int:
    if 0 <= position < columns:
        return position
    raise CorpusError(
        f"{where} has {columns} columns, counted from 0; {name} was mapped to column {position}."
    )


def _described(found: Sequence[str]) -> tuple[str, str]:
    """What a file has, and what to do if its first row is no header."""
    named = any(name.strip().lower() in _KNOWN_NAMES for name in found)
    if not named or not all(_NAME_LIKE.fullmatch(name) for name in found):
        described = (
            f"it has {len(found)} columns and its first row does not look like column names "
            "(not shown)."
        )
        return described, (
            "If the file has no header row, name all columns: --header a,b,c, or in Python "
            "header=('a', 'b', 'c'). "
        )
    shown = ", ".join(found[:NAMES_SHOWN])
    more = f" and {len(found) - NAMES_SHOWN} more" if len(found) > NAMES_SHOWN else ""
    return f"it has: {shown}{more}.", ""
