"""The rows of a state as Arrow columns, some users at a time, and back.

Columns: ``user``; ``posts``, how many she wrote; ``words``, one bit for each salient word, if they
are kept; and for each space ``SPACE.buckets`` and ``SPACE.strengths``, her slots one after another,
each a line over the topics of the catalogue. Where single posts are kept, ``post.times``,
``post.words`` and ``SPACE.post_strengths`` list the values of her posts.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.assess.best_buckets import Lines
from sottovoce.assess.header import Header
from sottovoce.assess.post_log import PostValues
from sottovoce.assess.state import State
from sottovoce.assess.state_checks import check_bits, check_strengths

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


def rows_at_once(header: Header) -> int:
    """How many users are written at once, so that they take about 64 MiB at most."""
    cells = len(header.catalogue) * header.kept * len(header.spaces)
    fitting = _BYTES_AT_ONCE // max(1, _BYTES_OF_A_CELL * cells)
    return min(_MOST_ROWS, max(_LEAST_ROWS, fitting))


def numbers_in(state: State) -> int:
    """How many values the columns of a state hold, as Parquet counts them."""
    header, everyone = state.header, np.arange(len(state))
    topics, spaces = len(header.catalogue), state.spaces.values()
    slots = sum(int(space.used(everyone).sum()) for space in spaces)
    of_a_user = 2 if header.salient is None else 3
    of_a_post = 1 + len(spaces) * topics + (0 if header.salient is None else -(-header.words // 8))
    posts = 0 if state.log is None else len(state.log)
    return of_a_user * len(state) + 2 * topics * slots + of_a_post * posts


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
    for name, space in state.spaces.items():
        lines = space.lines(rows)
        columns[f"{name}.buckets"] = _lists(lines.used, lines.buckets)
        columns[f"{name}.strengths"] = _lists(lines.used, lines.strengths)
    if log is not None:
        columns |= _post_columns(log, rows, len(state))
    return pa.table(columns)


def _post_columns(log: PostValues, rows: NDArray[np.int64], users: int) -> dict[str, pa.Array]:
    """For each user lists of her posts' values; the log has a user's posts together."""
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
