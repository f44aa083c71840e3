"""The rows of a state as Arrow columns, some users at a time, and back.

Columns: ``user``; ``posts``, how many they wrote; ``words``, one bit for each salient word, if
these are kept; ``words.buckets``, in which time buckets, if that is kept; and for each space
``SPACE.buckets`` and ``SPACE.strengths``, the user's slots one after another, each a line over the
topics of the catalogue. Where single posts are kept, ``post.times``, ``post.words`` and
``SPACE.post_strengths`` list the values of the user's posts.

Others may have made a table, or damaged it, and compiled code trusts what it is given; so nothing
reaches it unchecked. Each check raises ``ValueError``; whoever reads the state says in its own
words that it cannot be used.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.buckets import Lines
from sottovoce.assess.state.state import PostValues, State
from sottovoce.assess.state.words import check_codes
from sottovoce.corpus.read.footers import RowGroup

_COSINES = frozenset({"bow", "lda", "w2v"})
# Sums of floats may be beyond 1 by their rounding.
_LARGEST_COSINE = 1 + 1e-6
_MOST_POSTS = 1 << 40
_BITS = 8
_BYTES_OF_A_NUMBER = 8


def check_size(file: pq.ParquetFile, groups: Sequence[RowGroup]) -> None:
    """Refuse, before it is read, what cannot fit into this machine's memory."""
    widths, schema = _widths(file.schema_arrow), file.metadata.schema
    wide = [
        widths.get(schema.column(place).path, _BYTES_OF_A_NUMBER) for place in range(len(schema))
    ]
    size = sum(
        column.values * width
        for group in groups
        for column, width in zip(group.chunks, wide, strict=True)
    )
    if size > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise ValueError("it is larger than this machine's memory")


def check_columns(header: StateHeader, table: pa.Table) -> None:
    """Refuse columns that are not what a state of this header has."""
    table.validate(full=True)
    kinds = _kinds(header)
    for name, allowed in kinds.items():
        column = table[name]
        if column.type not in allowed or column.null_count:
            raise ValueError("a column is of another type, or lacks values")
    posts = table["posts"]
    if len(posts) and not 1 <= pc.min(posts).as_py() <= pc.max(posts).as_py() <= _MOST_POSTS:
        raise ValueError("a number of posts is out of bounds")


def check_bits(bits: NDArray[np.uint8], words: int) -> None:
    """Refuse bits of words that there are not."""
    beyond = 0xFF << (words % _BITS) & 0xFF
    if words % _BITS and (bits[:, -1] & beyond).any():
        raise ValueError("a bit stands for no word")


def check_strengths(space: str, strengths: NDArray[Any]) -> None:
    """Refuse strengths that the space cannot give: a cosine is in [-1, 1], all are finite."""
    bound = _LARGEST_COSINE if space in _COSINES else np.finfo(np.float64).max
    # Written so that a NaN is refused too.
    if strengths.size and not (-bound <= strengths.min() and strengths.max() <= bound):
        raise ValueError("a strength is out of bounds")


def _kinds(header: StateHeader) -> dict[str, tuple[pa.DataType, ...]]:
    """The types that each column may have."""
    lists, width = pa.large_list, -(-header.words // _BITS)
    kinds = {"user": (pa.string(), pa.large_string()), "posts": (pa.int64(),)}
    if header.salient is not None:
        kinds["words"] = (pa.binary(width),)
    if header.word_buckets:
        kinds["words.buckets"] = (lists(pa.int64()),)
    if header.posts:
        kinds["post.times"] = (lists(pa.int64()),)
    if header.posts and header.salient is not None:
        kinds["post.words"] = (lists(pa.uint8()),)
    for name in header.spaces:
        kinds[f"{name}.buckets"] = (lists(pa.int32()),)
        kinds[f"{name}.strengths"] = (lists(pa.float64()),)
        if header.posts:
            kinds[f"{name}.post_strengths"] = (lists(pa.float64()),)
    return kinds


def _widths(schema: pa.Schema) -> dict[str, int]:
    return {
        field.name: field.type.byte_width
        for field in schema
        if pa.types.is_fixed_size_binary(field.type)
    }


_MOST_ROWS = 1 << 16
_LEAST_ROWS = 1 << 10
_BYTES_AT_ONCE = 1 << 26
_BYTES_OF_A_CELL = 12


def tables(state: State, *, rows: int | None = None) -> Iterator[pa.Table]:
    """The users in the order of their ids, so many at a time; one empty table for none."""
    names = state.users.names()
    order = pc.sort_indices(names).to_numpy().astype(np.int64)
    rows = rows or rows_at_once(state.header)
    log = None if state.log is None else state.log.all()
    for first in range(0, max(1, order.size), rows):
        yield _table(state, names, order[first : first + rows], log)


def rows_at_once(header: StateHeader) -> int:
    """How many users are written at once, so that they take about 64 MiB at most."""
    cells = len(header.catalogue) * header.kept * len(header.spaces)
    fitting = _BYTES_AT_ONCE // max(1, _BYTES_OF_A_CELL * cells)
    return min(_MOST_ROWS, max(_LEAST_ROWS, fitting))


def numbers_in(state: State) -> int:
    """How many values the columns of a state hold, as Parquet counts them."""
    header, everyone = state.header, np.arange(len(state))
    topics, spaces = len(header.catalogue), state.spaces.values()
    slots = sum(int(space.count_used(everyone).sum()) for space in spaces)
    of_a_user = 2 if header.salient is None else 3
    of_a_post = 1 + len(spaces) * topics + (0 if header.salient is None else -(-header.words // 8))
    posts = 0 if state.log is None else len(state.log)
    pairs = 0 if state.word_buckets is None else len(state.word_buckets)
    return of_a_user * len(state) + pairs + 2 * topics * slots + of_a_post * posts


class OncePerUser:
    """Sees to it that a file, which is read in pieces, has each user once."""

    def __init__(self) -> None:
        self._seen = np.zeros(0, np.bool_)

    def check(self, rows: NDArray[np.int64], users: int) -> None:
        """Refuse rows of the state, which has so many, that came before."""
        if users > self._seen.size:
            grown = np.zeros(max(users, 2 * self._seen.size), np.bool_)
            grown[: self._seen.size] = self._seen
            self._seen = grown
        if self._seen[rows].any() or np.unique(rows).size < rows.size:
            raise ValueError("a user has two rows")
        self._seen[rows] = True


def fill(state: State, table: pa.Table, once: OncePerUser) -> None:
    """Fold in what a table holds of each user; ``ValueError`` where the columns do not fit."""
    rows = state.rows(_column(table, "user"))
    once.check(rows, len(state))
    posts = _column(table, "posts").to_numpy()
    state.count_posts(rows, posts)
    if state.words is not None:
        state.words.add_bits(rows, _bits(_column(table, "words"), state.header.words))
    if state.word_buckets is not None:
        pairs, codes = _flat(_column(table, "words.buckets"), 1)
        check_codes(codes[:, 0], state.header.words)
        state.word_buckets.add(np.repeat(rows, pairs), codes[:, 0])
    topics = len(state.header.catalogue)
    for name, space in state.spaces.items():
        used, buckets = _flat(_column(table, f"{name}.buckets"), topics)
        same, strengths = _flat(_column(table, f"{name}.strengths"), topics)
        _check_same(used, same)
        check_strengths(name, strengths)
        space.add_lines(rows, Lines(used, buckets, strengths))
    if state.log is not None:
        state.log.append(_post_values(table, state, rows, posts))


def _table(
    state: State, names: pa.Array, rows: NDArray[np.int64], log: PostValues | None
) -> pa.Table:
    columns = {"user": names.take(pa.array(rows)), "posts": pa.array(state.posts[rows])}
    if state.words is not None:
        bits = np.ascontiguousarray(state.words.bits[rows])
        columns["words"] = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(bits.shape[1]), rows.size, [None, pa.py_buffer(bits)]
        )
    if state.word_buckets is not None:
        pairs, codes = state.word_buckets.list_codes(rows)
        columns["words.buckets"] = _lists(pairs, codes[:, np.newaxis])
    for name, space in state.spaces.items():
        lines = space.lines(rows)
        columns[f"{name}.buckets"] = _lists(lines.used, lines.buckets)
        columns[f"{name}.strengths"] = _lists(lines.used, lines.strengths)
    if log is not None:
        columns |= _post_columns(log, rows, len(state))
    return pa.table(columns)


def _post_columns(log: PostValues, rows: NDArray[np.int64], users: int) -> dict[str, pa.Array]:
    """For each user lists of their posts' values; the log has a user's posts together."""
    written = np.bincount(log.users, minlength=users)
    first = (np.cumsum(written) - written)[rows]
    used = written[rows]
    shift = np.repeat(first - (np.cumsum(used) - used), used)
    posts = log.take(np.arange(shift.size) + shift)
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


def _bits(packed: pa.Array, words: int) -> NDArray[np.uint8]:
    whole = np.frombuffer(packed.buffers()[1], np.uint8).reshape(-1, packed.type.byte_width)
    bits = whole[packed.offset :][: len(packed)]
    check_bits(bits, words)
    return bits


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
