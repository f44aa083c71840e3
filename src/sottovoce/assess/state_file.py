"""A state on disk: one Parquet file, a row for each user, private to its owner.

Its columns are those of ``state_columns``. The file's metadata hold, under ``sottovoce.state``,
JSON with the version, the header (catalogue, models' fingerprints, bucket, what is kept), the
fingerprints of the files folded in, and how it was last ranked. Users are in the order of their
ids, so that equal states are equal files. It is written and read some users at a time, so that a
state is in memory once.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.header import VERSION, Header
from sottovoce.assess.state import State
from sottovoce.assess.state_checks import check_columns, check_size
from sottovoce.assess.state_columns import fill, tables
from sottovoce.compiled import ahead
from sottovoce.errors import InputError
from sottovoce.files import file_digest, whole_file

_KEY = b"sottovoce.state"
_DAMAGES = (KeyError, TypeError, ValueError, IndexError, AttributeError, pa.ArrowException)


def save_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Write ``state``, whole or not at all; ``ranked`` says how it was last ranked."""
    with whole_file(path, private=True) as temporary:
        write_state(temporary, state, ranked)


def write_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Fill a file that ``files.whole_file`` opened."""
    metadata, writer = _metadata(state, ranked), None
    with ExitStack() as files:
        for table in tables(state):
            described = table.replace_schema_metadata(metadata)
            if writer is None:
                schema = described.schema
                writer = files.enter_context(pq.ParquetWriter(path, schema, **_storage(schema)))
            writer.write_table(described, max(1, table.num_rows))


def load_state(path: Path) -> State:
    """Read a state; a file that is none, or of another version, is refused."""
    where = str(path)
    try:
        with pq.ParquetFile(path) as file:
            check_size(file)
            return _built(_record(file.schema_arrow.metadata, where), ahead(_groups(file)), where)
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot read the state {path}: {error.strerror}.") from None
        raise _unusable(where) from None
    except InputError:
        raise
    except (ValueError, pa.ArrowException):
        raise _unusable(where) from None


def load_ranked(path: Path) -> dict[str, Any]:
    """How the state at ``path`` was last ranked."""
    try:
        metadata = pq.read_schema(path).metadata
    except (OSError, pa.ArrowException):
        raise _unusable(str(path)) from None
    ranked = _record(metadata, str(path)).get("ranked") or {}
    if not _is_ranked(ranked):
        raise _unusable(str(path))
    return dict(ranked)


def _is_ranked(ranked: Any) -> bool:  # noqa: ANN401 - whatever the JSON holds
    """Whether it is nothing, or measures with a k and an m; their bounds are checked in use."""
    if not isinstance(ranked, dict):
        return False
    names = ranked.get("measures", [])
    return (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and type(ranked.get("k", 0.3)) in {int, float}
        and type(ranked.get("m", 3)) is int
    )


def input_fingerprint(path: Path) -> str:
    """SHA-256 of a file's bytes, by which a state knows what it has seen."""
    try:
        return file_digest(path)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def to_table(state: State, ranked: Mapping[str, Any] | None = None) -> pa.Table:
    """The state as Arrow: what a part of a cluster sends to whoever merges."""
    whole = next(tables(state, rows=max(1, len(state))))
    return whole.replace_schema_metadata(_metadata(state, ranked))


def from_table(table: pa.Table, where: str = "the table") -> State:
    """The state that ``to_table`` wrote."""
    return _built(_record(table.schema.metadata, where), [table], where)


def _built(record: dict[str, Any], parts: Iterable[pa.Table], where: str) -> State:
    try:
        header = Header.from_record(record["header"])
        state = State(header)
        state.inputs = frozenset(map(str, record["inputs"]))
        for table in parts:
            check_columns(header, table)
            fill(state, table.combine_chunks())
    except _DAMAGES:
        raise _unusable(where) from None
    return state


def _groups(file: pq.ParquetFile) -> Iterator[pa.Table]:
    for group in range(file.num_row_groups):
        yield file.read_row_group(group)
    if not file.num_row_groups:
        yield file.schema_arrow.empty_table()


def _storage(schema: pa.Schema) -> dict[str, Any]:
    """How to store each column: what writes and reads fast and is no larger than it must be."""
    strengths = [name for name in schema.names if name.endswith("strengths")]
    buckets = [name for name in schema.names if name.endswith(".buckets")]
    return {
        "compression": "lz4",
        "use_dictionary": [f"{name}.list.element" for name in buckets],
        "column_encoding": {f"{name}.list.element": "BYTE_STREAM_SPLIT" for name in strengths},
    }


def _metadata(state: State, ranked: Mapping[str, Any] | None) -> dict[bytes, str]:
    record = {
        "version": VERSION,
        "header": state.header.to_record(),
        "inputs": sorted(state.inputs),
        "ranked": dict(ranked or {}),
    }
    return {_KEY: json.dumps(record)}


def _record(metadata: Mapping[bytes, bytes] | None, where: str) -> dict[str, Any]:
    try:
        record = json.loads((metadata or {})[_KEY])
        version = record["version"]
    except (KeyError, TypeError, ValueError, RecursionError):
        raise _unusable(where) from None
    if version != VERSION:
        raise InputError(
            f"the state {where} has version {version}, this release reads {VERSION}; score anew."
        )
    return dict(record)


def _unusable(where: str) -> InputError:
    return InputError(f"{where} is no state that sottovoce assess wrote, or it is damaged.")
