"""One file of a state: Parquet, a row for each user, and in its metadata a record of what it is.

Its columns are those of ``_columns``. Users are in the order of their ids, so that equal states are
equal files. A file is written and read some users at a time, so that they are in memory once, and
each page has a checksum. A file never changes once it has its name; it is known by the SHA-256 of
its Parquet footer, which is quick to read.

The record is JSON under the key ``sottovoce.state``, which somebody else may have written, or
damaged. That of a state in one file holds the version, the header (catalogue, models' fingerprints,
bucket, what is kept), the fingerprints of the files folded in, how the state was last ranked, and
when the newest post was written. A file that is the newest part of several names the earlier ones,
and how many users and posts they hold together.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.setting import VERSION, VERSION_IN_PARTS, StateHeader
from sottovoce.assess.state._columns import OncePerUser, check_columns, check_size, fill, tables
from sottovoce.assess.state.state import State
from sottovoce.compiled import read_ahead
from sottovoce.corpus.read.footers import RowGroup, read_row_groups
from sottovoce.errors import InputError, OtherFileError
from sottovoce.parsing import parse_json

KEY = b"sottovoce.state"
PART_NAME = re.compile(r"[0-9a-f]{64}")
DAMAGES = (KeyError, TypeError, ValueError, IndexError, AttributeError, pa.ArrowException)


class StatePart(NamedTuple):
    """Which file it is, and how much it holds."""

    name: str
    """SHA-256 of its Parquet footer."""
    bytes: int
    numbers: int
    """How many numbers it holds, by which parts are compared."""


def unusable(where: str) -> InputError:
    """What is said of a file that cannot be used."""
    return InputError(f"{where} is not a state that sottovoce assess wrote, or it is damaged.")


@dataclass(frozen=True)
class StateRecord:
    """What a file's metadata say of a state."""

    header: StateHeader
    """How the posts were scored."""
    inputs: frozenset[str] = frozenset()
    """Fingerprints of the files that were folded in."""
    ranked: Mapping[str, Any] = field(default_factory=dict)
    """How it was last ranked: nothing, or measures with a k and an m, whose bounds use checks.

    Also the ``topics`` asked for, where some were, and the time of the ``newest`` post counted.
    """
    earlier: tuple[StatePart, ...] = ()
    """The parts before this one, oldest first."""
    counts: tuple[int, int] | None = None
    """How many users and posts all parts hold together; None: the state is in one file."""

    def to_json(self) -> str:
        """As a file's metadata hold it."""
        more: dict[str, object] = {}
        if self.counts is not None:
            parts = [part._asdict() for part in self.earlier]
            more = {"earlier": parts, "users": self.counts[0], "posts": self.counts[1]}
        record = {
            "version": VERSION_IN_PARTS if more else VERSION,
            "header": self.header.to_record(),
            "inputs": sorted(self.inputs),
            "ranked": dict(self.ranked),
        }
        return json.dumps(record | more)

    @classmethod
    def find(cls, metadata: Mapping[bytes, bytes] | None, where: str) -> "StateRecord":
        """The record in a file's metadata; refused where it is not as it must be."""
        try:
            record = dict(parse_json((metadata or {})[KEY]))
            version = record["version"]
        except (KeyError, TypeError, ValueError):
            raise unusable(where) from None
        if version not in (VERSION, VERSION_IN_PARTS):
            raise InputError(
                f"the state {where} has version {version}, this release reads {VERSION} and "
                f"{VERSION_IN_PARTS}; score again."
            )
        try:
            known = StateHeader.from_record(record["header"]), frozenset(map(str, record["inputs"]))
            ranked = _checked_ranking(record.get("ranked") or {})
            if version == VERSION:
                return cls(*known, ranked)
            counts = _count(record["users"]), _count(record["posts"])
            return cls(*known, ranked, tuple(map(_part, record["earlier"])), counts)
        except DAMAGES:
            raise unusable(where) from None


def _checked_ranking(ranked: Mapping[str, Any]) -> dict[str, Any]:
    named = (ranked.get("measures", []), ranked.get("topics", []))
    if not (
        all(isinstance(names, list) for names in named)
        and all(isinstance(name, str) for names in named for name in names)
        and type(ranked.get("newest", 0)) is int
        and type(ranked.get("k", 0.3)) in {int, float}
        and type(ranked.get("m", 3)) is int
    ):
        raise ValueError("no ranking")
    return dict(ranked)


def _part(entry: Mapping[str, Any]) -> StatePart:
    if not PART_NAME.fullmatch(entry["name"]):
        raise ValueError("no name of a part")
    return StatePart(entry["name"], _count(entry["bytes"]), _count(entry["numbers"]))


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("no count")
    return value


_MAGIC = b"PAR1"
_END = 4 + len(_MAGIC)


def write_part(path: Path, state: State, record: StateRecord) -> None:
    """Fill a file that ``whole_file`` opened."""
    metadata, writer = {KEY: record.to_json()}, None
    with ExitStack() as files:
        for table in tables(state):
            described = table.replace_schema_metadata(metadata)
            if writer is None:
                schema = described.schema
                writer = files.enter_context(pq.ParquetWriter(path, schema, **_storage(schema)))
            writer.write_table(described, max(1, table.num_rows))


def part_at(path: Path) -> tuple[StatePart, StateRecord]:
    """The file at ``path`` and its record."""
    with _open_file(path, None) as (file, part, _):
        return part, StateRecord.find(file.schema_arrow.metadata, str(path))


def fill_from(path: Path, part: StatePart | None, state: State) -> StateRecord:
    """Fold what a file holds of each user into ``state``; its record.

    Refused with ``OtherFileError`` when it is not the file that ``part`` says.
    """
    where = str(path)
    with _open_file(path, part) as (file, _, groups):
        check_size(file, groups)
        record = StateRecord.find(file.schema_arrow.metadata, where)
        fill_tables(state, read_ahead(_groups(file)), where)
    return record


def fill_tables(state: State, parts: Iterable[pa.Table], where: str) -> None:
    """Fold in tables, which have each user once."""
    once = OncePerUser()
    try:
        for table in parts:
            check_columns(state.header, table)
            fill(state, table.combine_chunks(), once)
    except DAMAGES:
        raise unusable(where) from None


def read_columns(path: Path, part: StatePart, names: list[str]) -> Iterator[pa.Table]:
    """Some columns of all users, a group of rows at a time."""
    with _open_file(path, part) as (file, _, _):
        yield from _groups(file, names)


@contextmanager
def _open_file(
    path: Path, part: StatePart | None
) -> Iterator[tuple[pq.ParquetFile, StatePart, list[RowGroup]]]:
    try:
        with (
            pa.OSFile(str(path), "rb") as file,
            pq.ParquetFile(file, page_checksum_verification=True) as parquet,
        ):
            groups = read_row_groups(file, parquet.metadata)
            numbers = sum(column.values for group in groups for column in group.chunks)
            found = StatePart(_footer_digest(file), file.size(), numbers)
            if part not in (None, found):
                raise OtherFileError(f"{path} is not the file that the state names.")
            yield parquet, found, groups
    except FileNotFoundError as error:
        raise OtherFileError(f"cannot read the state {path}: {error.strerror}.") from None
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot read the state {path}: {error.strerror}.") from None
        raise unusable(str(path)) from None
    except InputError:
        raise
    except (ValueError, pa.ArrowException):
        raise unusable(str(path)) from None


def _groups(file: pq.ParquetFile, names: list[str] | None = None) -> Iterator[pa.Table]:
    for group in range(file.num_row_groups):
        yield file.read_row_group(group, columns=names)
    if not file.num_row_groups:
        empty = file.schema_arrow.empty_table()
        yield empty if names is None else empty.select(names)


def _footer_digest(file: pa.NativeFile) -> str:
    end = file.size() - _END
    file.seek(end)
    length = int.from_bytes(file.read(4), "little")
    file.seek(end - length)
    return hashlib.sha256(file.read(length)).hexdigest()


def _storage(schema: pa.Schema) -> dict[str, Any]:
    """How to store each column: what writes and reads fast and is no larger than it must be."""
    strengths = [name for name in schema.names if name.endswith("strengths")]
    buckets = [name for name in schema.names if name.endswith(".buckets")]
    return {
        "compression": "lz4",
        "use_dictionary": [f"{name}.list.element" for name in buckets],
        "column_encoding": {f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in strengths},
        "write_page_checksum": True,
    }
