"""One file of a state: Parquet, a row for each user, and in its metadata a record of what it is.

Its columns are those of ``state_columns``. The metadata hold JSON under ``sottovoce.state``. Users
are in the order of their ids, so that equal states are equal files. A file is written and read some
users at a time, so that they are in memory once, and each page has a checksum. A file never changes
once it has its name; it is known by the SHA-256 of its Parquet footer, which is quick to read.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.state import State
from sottovoce.assess.state_checks import check_columns, check_size
from sottovoce.assess.state_columns import OncePerUser, fill, tables
from sottovoce.assess.state_record import DAMAGES, KEY, Part, Record, read_record, unusable
from sottovoce.compiled import ahead
from sottovoce.errors import InputError

_MAGIC = b"PAR1"
_END = 4 + len(_MAGIC)


class OtherFileError(InputError):
    """The file is not the one that it was taken for, or is gone."""


def write_part(path: Path, state: State, record: Record) -> None:
    """Fill a file that ``files.whole_file`` opened."""
    metadata, writer = {KEY: json.dumps(record)}, None
    with ExitStack() as files:
        for table in tables(state):
            described = table.replace_schema_metadata(metadata)
            if writer is None:
                schema = described.schema
                writer = files.enter_context(pq.ParquetWriter(path, schema, **_storage(schema)))
            writer.write_table(described, max(1, table.num_rows))


def part_at(path: Path) -> tuple[Part, Record]:
    """The file at ``path`` and its record."""
    with _opened(path, None) as (file, part):
        return part, read_record(file.schema_arrow.metadata, str(path))


def fill_from(path: Path, part: Part | None, state: State) -> Record:
    """Fold what a file holds of each user into ``state``; its record.

    Refused with ``OtherFileError`` when it is not the file that ``part`` says.
    """
    where = str(path)
    with _opened(path, part) as (file, _):
        check_size(file)
        record = read_record(file.schema_arrow.metadata, where)
        fill_tables(state, ahead(_groups(file)), where)
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


def read_columns(path: Path, part: Part, names: list[str]) -> Iterator[pa.Table]:
    """Some columns of all users, a group of rows at a time."""
    with _opened(path, part) as (file, _):
        yield from _groups(file, names)


@contextmanager
def _opened(path: Path, part: Part | None) -> Iterator[tuple[pq.ParquetFile, Part]]:
    try:
        with (
            pa.OSFile(str(path), "rb") as file,
            pq.ParquetFile(file, page_checksum_verification=True) as parquet,
        ):
            found = Part(_footer_digest(file), file.size(), _numbers(parquet))
            if part not in (None, found):
                raise OtherFileError(f"{path} is not the file that the state names.")
            yield parquet, found
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


def _numbers(file: pq.ParquetFile) -> int:
    groups = (file.metadata.row_group(number) for number in range(file.num_row_groups))
    return sum(
        group.column(place).num_values for group in groups for place in range(group.num_columns)
    )


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
