"""What a file of a state says of itself: JSON that somebody else may have written, or damaged.

The record of a state in one file holds the version, the header (catalogue, models' fingerprints,
bucket, what is kept), the fingerprints of the files folded in, and how it was last ranked. A file
that is the newest part of several names the earlier ones, and how many users and posts they hold
together.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa

from sottovoce.assess.header import VERSION, VERSION_IN_PARTS, Header
from sottovoce.errors import InputError

KEY = b"sottovoce.state"
PART_NAME = re.compile(r"[0-9a-f]{64}")
DAMAGES = (KeyError, TypeError, ValueError, IndexError, AttributeError, pa.ArrowException)
Record = Mapping[str, Any]
_Taken = TypeVar("_Taken")


class Part(NamedTuple):
    """Which file it is, and how much it holds."""

    name: str
    """SHA-256 of its Parquet footer."""
    bytes: int
    numbers: int
    """How many numbers it holds, by which parts are compared."""


def unusable(where: str) -> InputError:
    """What is said of a file that cannot be used."""
    return InputError(f"{where} is no state that sottovoce assess wrote, or it is damaged.")


def record_of(header: Header, inputs: Iterable[str], ranked: Record | None = None) -> Record:
    """The record of a state in one file."""
    return {
        "version": VERSION,
        "header": header.to_record(),
        "inputs": sorted(inputs),
        "ranked": dict(ranked or {}),
    }


def in_parts(record: Record, earlier: Sequence[Part], users: int, posts: int) -> Record:
    """The record of the newest part of several."""
    parts = [part._asdict() for part in earlier]
    more = {"version": VERSION_IN_PARTS, "earlier": parts, "users": users, "posts": posts}
    return {**record, **more}


def read_record(metadata: Mapping[bytes, bytes] | None, where: str) -> Record:
    """The record in a file's metadata."""
    try:
        record = dict(json.loads((metadata or {})[KEY]))
        version = record["version"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise unusable(where) from None
    if version not in (VERSION, VERSION_IN_PARTS):
        raise InputError(
            f"the state {where} has version {version}, this release reads {VERSION} and "
            f"{VERSION_IN_PARTS}; score anew."
        )
    return record


def taken_from(record: Record, where: str, take: Callable[[Record], _Taken]) -> _Taken:
    """What one of the functions below finds in a record; refused where it is not as it must be."""
    try:
        return take(record)
    except DAMAGES:
        raise unusable(where) from None


def header_in(record: Record) -> Header:
    """How the posts were scored."""
    return Header.from_record(record["header"])


def inputs_in(record: Record) -> frozenset[str]:
    """Fingerprints of the files that were folded in."""
    return frozenset(map(str, record["inputs"]))


def earlier_in(record: Record) -> tuple[Part, ...]:
    """The parts before this one, oldest first."""
    return tuple(map(_part, record["earlier"])) if record["version"] != VERSION else ()


def counts_in(record: Record) -> tuple[int, int]:
    """How many users and posts all parts hold together."""
    return _count(record["users"]), _count(record["posts"])


def ranked_in(record: Record) -> dict[str, Any]:
    """How it was last ranked: nothing, or measures with a k and an m, whose bounds use checks."""
    ranked = record.get("ranked") or {}
    names = ranked.get("measures", [])
    if not (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and type(ranked.get("k", 0.3)) in {int, float}
        and type(ranked.get("m", 3)) is int
    ):
        raise ValueError("no ranking")
    return dict(ranked)


def _part(entry: Record) -> Part:
    if not PART_NAME.fullmatch(entry["name"]):
        raise ValueError("no name of a part")
    return Part(entry["name"], _count(entry["bytes"]), _count(entry["numbers"]))


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("no count")
    return value
