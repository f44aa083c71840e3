"""A state on disk: one Parquet file, a row for each user, private to its owner.

Columns: ``user``; ``posts``, how many she wrote; ``words``, one bit for each salient word, if they
are kept; and for each space ``SPACE.buckets`` and ``SPACE.strengths``, her slots one after another,
each a line over the topics of the catalogue. Where single posts are kept, ``post.times``,
``post.words`` and ``SPACE.post_strengths`` list the values of her posts. The file's metadata hold,
under ``sottovoce.state``, JSON with the version, the header (catalogue, models' fingerprints,
bucket, what is kept), the fingerprints of the files folded in, and how it was last ranked. Users
are in the order of their ids, so that equal states are equal files.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.assess.best_buckets import Lines
from sottovoce.assess.header import VERSION, Header
from sottovoce.assess.post_log import PostValues
from sottovoce.assess.state import State
from sottovoce.assess.state_checks import check_bits, check_columns, check_size, check_strengths
from sottovoce.errors import InputError
from sottovoce.files import file_digest, whole_file

_KEY = b"sottovoce.state"
_DAMAGES = (KeyError, TypeError, ValueError, IndexError, AttributeError, pa.ArrowException)
_ROWS_PER_GROUP = 1 << 16


def save_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Write ``state``, whole or not at all; ``ranked`` says how it was last ranked."""
    with whole_file(path, private=True) as temporary:
        write_state(temporary, state, ranked)


def write_state(path: Path, state: State, ranked: Mapping[str, Any] | None = None) -> None:
    """Fill a file that ``files.whole_file`` opened."""
    table = to_table(state, ranked)
    pq.write_table(table, path, compression="zstd", row_group_size=_ROWS_PER_GROUP)


def load_state(path: Path) -> State:
    """Read a state; a file that is none, or of another version, is refused."""
    return from_table(_read(path), str(path))


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
    state = state.ordered()
    everyone = np.arange(len(state))
    columns = {"user": state.users.names(), "posts": pa.array(state.posts)}
    if state.words is not None:
        bits = state.words.bits
        columns["words"] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(bits.shape[1]), len(state), [None, pa.py_buffer(np.ascontiguousarray(bits))]
        )
    for name, space in state.spaces.items():
        lines = space.lines(everyone)
        columns[f"{name}.buckets"] = _lists(lines.used, lines.buckets)
        columns[f"{name}.strengths"] = _lists(lines.used, lines.strengths)
    if state.log is not None:
        columns |= _post_columns(state.log.all(), len(state))
    record = {
        "version": VERSION,
        "header": state.header.to_record(),
        "inputs": sorted(state.inputs),
        "ranked": dict(ranked or {}),
    }
    return pa.table(columns).replace_schema_metadata({_KEY: json.dumps(record)})


def from_table(table: pa.Table, where: str = "the table") -> State:
    """The state that ``to_table`` wrote."""
    record = _record(table.schema.metadata, where)
    try:
        header = Header.from_record(record["header"])
        check_columns(header, table)
        state = State(header)
        state.inputs = frozenset(map(str, record["inputs"]))
        _fill(state, table.combine_chunks())
    except _DAMAGES:
        raise _unusable(where) from None
    return state


def _fill(state: State, table: pa.Table) -> None:
    rows = state.rows(_column(table, "user"))
    if len(state) < table.num_rows:
        raise ValueError("a user has two rows")
    posts = _column(table, "posts").to_numpy()
    state.count_posts(rows, posts)
    if state.words is not None:
        packed = _column(table, "words")
        width = packed.type.byte_width
        whole = np.frombuffer(packed.buffers()[1], np.uint8).reshape(-1, width)
        bits = whole[packed.offset :][: len(rows)]
        check_bits(bits, state.header.words)
        state.words.add_bits(rows, bits)
    topics = len(state.header.catalogue)
    for name, space in state.spaces.items():
        used, buckets = _flat(_column(table, f"{name}.buckets"), topics)
        same, strengths = _flat(_column(table, f"{name}.strengths"), topics)
        _check_same(used, same)
        check_strengths(name, strengths)
        space.add_lines(rows, Lines(used, buckets, strengths))
    if state.log is not None:
        state.log.append(_post_values(table, state, rows, posts))


def _post_columns(posts: PostValues, users: int) -> dict[str, pa.Array]:
    """For each user lists of her posts' values."""
    used = np.bincount(posts.users, minlength=users)
    columns = {"post.times": _lists(used, posts.times[:, np.newaxis])}
    if posts.words.shape[1]:
        columns["post.words"] = _lists(used, posts.words)
    return columns | {
        f"{name}.post_strengths": _lists(used, strengths)
        for name, strengths in posts.strengths.items()
    }


def _post_values(
    table: pa.Table, state: State, rows: NDArray[np.int64], posts: NDArray[np.int64]
) -> PostValues:
    header = state.header
    topics = len(header.catalogue)
    used, times = _flat(_column(table, "post.times"), 1)
    _check_same(used, posts)
    words = np.zeros((len(times), 0), np.uint8)
    if header.salient is not None:
        same, words = _flat(_column(table, "post.words"), -(-header.words // 8))
        _check_same(used, same)
        check_bits(words, header.words)
    strengths = {}
    for name in header.spaces:
        same, strengths[name] = _flat(_column(table, f"{name}.post_strengths"), topics)
        _check_same(used, same)
        check_strengths(name, strengths[name])
    return PostValues(np.repeat(rows, used), times[:, 0], words, strengths)


def _lists(used: NDArray[np.int64], lines: NDArray[Any]) -> pa.Array:
    ends = np.concatenate([[0], np.cumsum(used)]) * lines.shape[1]
    return pa.LargeListArray.from_arrays(pa.array(ends), pa.array(lines.ravel()))


def _flat(lists: pa.Array, topics: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    used, broken = np.divmod(np.diff(lists.offsets.to_numpy()), topics)
    if broken.any():
        raise ValueError("a slot lacks topics")
    return used, lists.flatten().to_numpy().reshape(-1, topics)


def _check_same(used: NDArray[np.int64], same: NDArray[np.int64]) -> None:
    """Kernels trust the lengths, so they are compared before."""
    if not np.array_equal(used, same):
        raise ValueError("columns differ in length")


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


def _read(path: Path) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            check_size(file)
            return file.read()
    except OSError as error:
        if error.errno is not None:
            raise InputError(f"cannot read the state {path}: {error.strerror}.") from None
        raise _unusable(str(path)) from None
    except (ValueError, pa.ArrowException):
        raise _unusable(str(path)) from None


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
