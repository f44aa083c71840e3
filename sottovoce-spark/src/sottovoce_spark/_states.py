"""States of users as rows of a Spark table: made from posts, brought together, merged.

A row is a user: how many posts, which words, and per space their slots (``assess.state.buckets``),
flat. One row of each part has no user: it counts what became of the posts that were read.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.buckets import Lines
from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.read.columns import split_batch, to_posts
from sottovoce.corpus.read.tally import Tally
from sottovoce_spark._read import TALLIES, tally_counts, tally_of
from sottovoce_spark._workers import AssessWork, Shipped

_BITS = 8
_BYTES_PER_CELL = 12
# What a task holds before it hands its states on, and what it hands on at a time.
_HELD_BYTES = 256 << 20
_HANDED_BYTES = 8 << 20


def _columns(header: StateHeader) -> dict[str, str]:
    """The columns of a table of states, with their kinds as Spark writes them."""
    pairs = {"pairs": "array<bigint>"} if header.word_buckets else {}
    slots = {
        f"{name}{place}": kind
        for place in range(len(header.spaces))
        for name, kind in (("buckets", "array<int>"), ("strengths", "array<double>"))
    }
    counts = {"posts": "bigint", "words": "binary", "tally": "array<bigint>"}
    return {"user": "string", **counts, **pairs, **slots}


def schema_text(header: StateHeader) -> str:
    """The columns and kinds as one text, as Spark writes schemas."""
    return ", ".join(f"{name} {kind}" for name, kind in _columns(header).items())


def value_columns(header: StateHeader) -> list[str]:
    """All columns but the user."""
    return list(_columns(header))[1:]


def score_posts(shipped: Shipped, raw: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Posts as they were read, into states of their users: the map side of the aggregation.

    A state is handed on whenever it could fill a task's memory, and the next one begun.
    """
    work, tally = shipped.work(), Tally()
    batches = _conform_batches(work, raw, tally)
    more = True
    while more:
        state, posts, more = State(work.header), 0, False
        for folded in work.scoring.folding(state, batches, threads=1):
            posts += folded
            if _bound_on_bytes(work.header, posts) > _HELD_BYTES:
                more = True
                break
        yield from state_rows(state)
    yield _tally_row(work.header, tally)


def merge_rows(shipped: Shipped, grouped: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of each user, brought together by Spark, into one: best buckets, bits, counts."""
    header = shipped.work().header
    for batch in grouped:
        parts = batch["parts"]
        repeats = pc.list_value_length(parts).to_numpy(zero_copy_only=False)
        struct = parts.flatten()
        values = {name: pc.struct_field(struct, name) for name in value_columns(header)}
        users = batch["user"].take(pa.array(np.repeat(np.arange(batch.num_rows), repeats)))
        nobody = users.is_null()
        if pc.any(nobody).as_py():
            tallies = _flat(values["tally"].filter(nobody)).reshape(-1, TALLIES)
            yield _tally_row(header, tally_of(tallies.sum(axis=0)))
        there = pc.invert(nobody)
        yield from state_rows(
            fill_state(header, users.filter(there), {k: v.filter(there) for k, v in values.items()})
        )


def fill_state(header: StateHeader, users: pa.Array, values: dict[str, pa.Array]) -> State:
    """The state that these rows make up; a user may have several."""
    state = State(header)
    rows = state.rows(users)
    state.count_posts(rows, values["posts"].to_numpy())
    if state.words is not None:
        state.words.add_posts_bits(rows, _bytes(values["words"], -(-header.words // _BITS)))
    if state.word_buckets is not None:
        held = pc.list_value_length(values["pairs"]).to_numpy(zero_copy_only=False)
        state.word_buckets.add(np.repeat(rows, held), _flat(values["pairs"]))
    topics = len(header.catalogue)
    for place, space in enumerate(state.spaces.values()):
        buckets, strengths = values[f"buckets{place}"], values[f"strengths{place}"]
        used = pc.list_value_length(buckets).to_numpy(zero_copy_only=False) // topics
        lines = Lines(
            used.astype(np.int64),
            _flat(buckets).reshape(-1, topics),
            _flat(strengths).reshape(-1, topics),
        )
        space.add_lines(rows, lines)
    return state


def states_in(header: StateHeader, rows: Iterable[pa.RecordBatch]) -> Iterator[State]:
    """The states in a merged table, a batch of users at a time."""
    for batch in rows:
        there = batch.filter(batch["user"].is_valid())
        if there.num_rows:
            values = {name: there[name] for name in value_columns(header)}
            yield fill_state(header, there["user"], values)


def state_rows(state: State) -> Iterator[pa.RecordBatch]:
    """A state as rows, some megabytes at a time."""
    if not len(state):
        return
    everyone = np.arange(len(state))
    words = None if state.words is None else state.words.bits
    arrays = [
        state.users.names().cast(pa.string()),
        pa.array(state.posts),
        _binary(len(state), words),
        pa.array([[]], pa.list_(pa.int64())).take(pa.array(np.zeros(len(state), np.int64))),
    ]
    if state.word_buckets is not None:
        used, codes = state.word_buckets.list_codes(everyone)
        arrays.append(_lists(used, codes[:, np.newaxis]))
    for space in state.spaces.values():
        lines = space.lines(everyone)
        arrays += [_lists(lines.used, lines.buckets), _lists(lines.used, lines.strengths)]
    batch = pa.RecordBatch.from_arrays(arrays, names=["user", *value_columns(state.header)])
    step = max(1, batch.num_rows * _HANDED_BYTES // max(1, batch.nbytes))
    for first in range(0, batch.num_rows, step):
        yield batch.slice(first, step)


def _conform_batches(
    work: AssessWork, raw: Iterable[pa.RecordBatch], tally: Tally
) -> Iterator[pa.RecordBatch]:
    for batch in raw:
        for part in split_batch(batch, work.longest_text, tally):
            yield to_posts(part, work.timezone, tally)


_EMPTY = {
    "array<bigint>": pa.array([[]], pa.list_(pa.int64())),
    "array<int>": pa.array([[]], pa.list_(pa.int32())),
    "array<double>": pa.array([[]], pa.list_(pa.float64())),
}


def _tally_row(header: StateHeader, tally: Tally) -> pa.RecordBatch:
    names = list(_columns(header))
    known = [
        pa.nulls(1, pa.string()),
        pa.array([0], pa.int64()),
        pa.array([b""], pa.binary()),
        pa.array([tally_counts(tally)], pa.list_(pa.int64())),
    ]
    slots = [_EMPTY[_columns(header)[name]] for name in names[len(known) :]]
    return pa.RecordBatch.from_arrays([*known, *slots], names=names)


def _bound_on_bytes(header: StateHeader, posts: int) -> int:
    """No state of so many posts takes more: each post fills one line in each space."""
    return posts * (len(header.spaces) * len(header.catalogue) * _BYTES_PER_CELL + header.words)


def _lists(used: NDArray[np.int64], lines: NDArray[Any]) -> pa.Array:
    ends = np.concatenate([[0], np.cumsum(used)]) * lines.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), pa.array(lines.ravel()))


def _binary(rows: int, packed: NDArray[np.uint8] | None) -> pa.Array:
    width = 0 if packed is None else packed.shape[1]
    data = b"" if packed is None else np.ascontiguousarray(packed).tobytes()
    offsets = (np.arange(rows + 1) * width).astype(np.int32)
    return pa.Array.from_buffers(
        pa.binary(), rows, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(data)]
    )


def _bytes(column: pa.Array, width: int) -> NDArray[np.uint8]:
    """Values of one width as the rows of a matrix."""
    fixed = column.cast(pa.binary(width))
    whole = np.frombuffer(fixed.buffers()[1] or b"", np.uint8)
    return whole[fixed.offset * width :][: len(fixed) * width].reshape(-1, width)


def _flat(lists: pa.Array) -> NDArray[Any]:
    flat: NDArray[Any] = lists.flatten().to_numpy(zero_copy_only=False)
    return flat


# What an amount counts: a word by its number, then a ranking; these three have numbers below 0.
COUNTS = "what int, amount bigint"
_USERS = -1
_POSTS = -2
_FIRST_TALLY = -3


@dataclass(frozen=True)
class CommunityCounts:
    """Counts over all users."""

    users: int
    posts: int
    holders: tuple[int, ...]
    """How many users have used each salient word."""
    evident: tuple[int, ...]
    """How many users have evidence, in each ranking."""
    tally: Tally


def count_community(shipped: Shipped, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The counts of one part of the users, as pairs to be added up by their first member."""
    work = shipped.work()
    header = work.header
    evident = np.zeros(len(work.places), np.int64)
    holders = np.zeros(header.words, np.int64)
    tallies = np.zeros(TALLIES, np.int64)
    users = posts = 0

    def watch_rows() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            nobody = batch.filter(batch["user"].is_null())["tally"]
            tallies[:] += nobody.flatten().to_numpy().reshape(-1, TALLIES).sum(axis=0)
            yield batch

    for state in states_in(header, watch_rows()):
        users += len(state)
        posts += int(state.posts.sum())
        if state.words is not None:
            holders += state.words.holders()
        for place, key in enumerate(work.places):
            evident[place] += work.measures[key.measure].evident(state, key.topic).sum()
    counted = range(holders.size + evident.size)
    whats = [_USERS, _POSTS, *range(_FIRST_TALLY, _FIRST_TALLY - TALLIES, -1), *counted]
    amounts = np.concatenate([[users, posts], tallies, holders, evident])
    arrays = [pa.array(whats, pa.int32()), pa.array(amounts, pa.int64())]
    yield pa.RecordBatch.from_arrays(arrays, names=["what", "amount"])


def community_of(amounts: Mapping[int, int], words: int, places: int) -> CommunityCounts:
    """The counts that Spark has added up."""
    tallies = [amounts.get(_FIRST_TALLY - place, 0) for place in range(TALLIES)]
    return CommunityCounts(
        users=amounts.get(_USERS, 0),
        posts=amounts.get(_POSTS, 0),
        holders=tuple(amounts.get(word, 0) for word in range(words)),
        evident=tuple(amounts.get(words + place, 0) for place in range(places)),
        tally=tally_of(np.array(tallies, np.int64)),
    )


class PartOfWordUse(WordUse):
    """Which words some users have used, with the holders of each in the whole community."""

    def __init__(self, here: WordUse, holders: NDArray[np.int64], users: int) -> None:
        super().__init__(here.words)
        self.admit(len(here))
        self.add_bits(np.arange(len(here)), here.bits)
        self._holders = holders
        self._everybody = users

    @property
    def population(self) -> int:
        """How many users there are in the whole community."""
        return self._everybody

    def holders(self) -> NDArray[np.int64]:
        """How many users of the whole community have used each word."""
        return self._holders


def place_in_community(state: State, community: CommunityCounts) -> State:
    """``state`` with word counts of the community it is a part of."""
    if state.words is not None:
        holders = np.array(community.holders, np.int64)
        state.words = PartOfWordUse(state.words, holders, community.users)
    return state
