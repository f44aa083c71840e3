"""Exact ranks without sorting everything in one place.

Spark lays the scores out in ranges of (ranking, decreasing score, user), each range in one part and
sorted there. Of each part the driver learns how many scores of each ranking it holds, and how many
equal its first and its last; from that follows where every part begins, and how far a tie that
crosses parts reaches. The parts then number their own rows. A tie may be as large as the community:
since users decide within it, no part is larger for that.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.assess.ranking import BANDS, REST
from sottovoce_spark._states import CommunityCounts, place_in_community, states_in
from sottovoce_spark._workers import RankingKey, Shipped

SCORES = "place int, `key` bigint, user string, score double"
ORDER = ("place", "key", "user")
EDGES = (
    "part bigint, place bigint, held bigint, first_key bigint, first_held bigint, last_key bigint, "
    "last_held bigint"
)
RANKS = "measure string, user string, topic string, score double, `rank` bigint, band string"
BAND_NAMES = pa.array([*(f"top {percent}%" for percent in BANDS), REST], pa.string())
_SIGN = np.int64(np.iinfo(np.int64).max)
_HANDED_ROWS = 1 << 16


class Edge(NamedTuple):
    """How one part holds one ranking: how many rows, and how many equal the first and the last."""

    part: int
    place: int
    held: int
    first_key: int
    first_held: int
    last_key: int
    last_held: int


@dataclass(frozen=True)
class PartPosition:
    """Where a part's rows of one ranking stand in all of it."""

    before: int
    """How many rows are in earlier parts."""
    tied_before: int
    """How many of these, just before, equal the part's first."""
    tied_after: int
    """How many in later parts equal the part's last."""
    users: int


Positions = Mapping[int, Mapping[int, PartPosition]]


def score_users(
    shipped: Shipped, community: CommunityCounts, rows: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Every user's score in every ranking."""
    for users, scores in scored_users(shipped, community, rows):
        for place, of_place in enumerate(scores):
            arrays = [
                pa.array(np.full(of_place.size, place, np.int32)),
                pa.array(descending_keys(of_place)),
                users,
                pa.array(of_place),
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=["place", "key", "user", "score"])


def scored_users(
    shipped: Shipped, community: CommunityCounts, rows: Iterator[pa.RecordBatch]
) -> Iterator[tuple[pa.Array, list[NDArray[np.float64]]]]:
    """Users and their scores in each ranking, some users at a time."""
    work = shipped.work()
    for state in states_in(work.header, rows):
        here = place_in_community(state, community)
        yield (
            state.users.names().cast(pa.string()),
            [
                work.measures[place.measure].score(here, place.topic, work.setting)
                for place in work.places
            ],
        )


def descending_keys(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Whole numbers that ascend as scores descend and are equal when scores are: 0 and -0 too."""
    bits = (scores + 0.0).view(np.int64)
    ascending = np.where(bits >= 0, bits, bits ^ _SIGN)
    return ~ascending


def edges_of(rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the driver must know of a part; the rows are in order."""
    found: list[Edge] = []
    for batch in rows:
        part = batch["part"].to_numpy()
        place, key = batch["place"].to_numpy(), batch["key"].to_numpy()
        for begin, end in _runs(place):
            edge = _edge(int(part[begin]), int(place[begin]), key[begin:end])
            if found and found[-1].place == edge.place:
                found[-1] = _join_edges(found[-1], edge)
            else:
                found.append(edge)
    if found:
        yield pa.RecordBatch.from_pylist([edge._asdict() for edge in found])


def positions(edges: Iterable[Edge]) -> Positions:
    """Where each part's rows stand, from the edges of all parts."""
    by_place: dict[int, list[Edge]] = defaultdict(list)
    for edge in sorted(edges):
        by_place[edge.place].append(edge)
    found: dict[int, dict[int, PartPosition]] = defaultdict(dict)
    for place, ordered in by_place.items():
        users = sum(edge.held for edge in ordered)
        after = _tied_after(ordered)
        before = tied = 0
        last_key: int | None = None
        for number, edge in enumerate(ordered):
            tied_before = tied if edge.first_key == last_key else 0
            found[edge.part][place] = PartPosition(before, tied_before, after[number], users)
            whole = edge.last_held == edge.held
            tied = edge.last_held + (tied_before if whole else 0)
            last_key, before = edge.last_key, before + edge.held
    return found


def number_rows(
    places: Sequence[RankingKey],
    evident: Sequence[int],
    known: "Positions",
    rows: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """A part's rows with their ranks and bands."""
    batches = [batch for batch in rows if batch.num_rows]
    if not batches:
        return
    table = pa.Table.from_batches(batches).combine_chunks()
    part = table["part"][0].as_py()
    numbers = table["place"].to_numpy()
    for begin, end in _runs(numbers):
        place = int(numbers[begin])
        piece = table.slice(begin, end - begin)
        position = known[part][place]
        first, last = tied_positions(piece["key"].to_numpy(), position)
        bands = band_numbers(last, position.users, evident=evident[place])
        scored = {"user": piece["user"], "score": piece["score"]}
        ranked = pa.table(rank_columns(places[place], **scored, rank=first, bands=bands))
        yield from ranked.to_batches(max_chunksize=_HANDED_ROWS)


def rank_columns(
    key: RankingKey,
    *,
    user: pa.Array,
    score: pa.Array,
    rank: NDArray[np.int64],
    bands: NDArray[np.int32],
    **more: pa.Array,
) -> dict[str, pa.Array]:
    """The columns of one ranking, ``more`` of them after the rank."""
    return {
        "measure": pa.repeat(pa.scalar(key.measure), len(user)),
        "user": user,
        "topic": pa.repeat(pa.scalar(key.topic), len(user)),
        "score": score,
        "rank": pa.array(rank, pa.int64()),
        **more,
        "band": BAND_NAMES.take(pa.array(bands)),
    }


def tied_positions(
    keys: NDArray[np.int64], position: PartPosition
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last position of the users who score as each one does, from 1."""
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    ends = np.append(begins[1:], keys.size)
    sizes = ends - begins
    first, last = begins + 1 + position.before, ends + position.before
    first[0] -= position.tied_before
    last[-1] += position.tied_after
    return np.repeat(first, sizes), np.repeat(last, sizes)


def band_numbers(at_least: NDArray[np.int64], users: int, *, evident: int) -> NDArray[np.int32]:
    """The band of each user, as ``assess.ranking.band_numbers`` has it."""
    if not evident:
        return np.full(at_least.size, len(BANDS), np.int32)
    return np.searchsorted(np.array(BANDS) * users, at_least * 100, side="left").astype(np.int32)


def _runs(values: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    if values.size:
        cuts = np.flatnonzero(values[1:] != values[:-1]) + 1
        yield from zip([0, *cuts.tolist()], [*cuts.tolist(), values.size], strict=True)


def _edge(part: int, place: int, keys: NDArray[np.int64]) -> Edge:
    first, last = int(keys[0]), int(keys[-1])
    firsts = int(np.searchsorted(keys, first, side="right"))
    lasts = keys.size - int(np.searchsorted(keys, last, side="left"))
    return Edge(part, place, keys.size, first, firsts, last, lasts)


def _join_edges(one: Edge, two: Edge) -> Edge:
    """Two stretches of one part and ranking, the second right after the first."""
    first_held, last_held = one.first_held, two.last_held
    if one.first_held == one.held and two.first_key == one.first_key:
        first_held += two.first_held
    if two.last_held == two.held and one.last_key == two.last_key:
        last_held += one.last_held
    return one._replace(
        held=one.held + two.held, first_held=first_held, last_key=two.last_key, last_held=last_held
    )


def _tied_after(ordered: Sequence[Edge]) -> list[int]:
    """For each part how many rows in later ones equal its last."""
    after = [0] * len(ordered)
    for number in range(len(ordered) - 2, -1, -1):
        following = ordered[number + 1]
        if following.first_key == ordered[number].last_key:
            whole = following.first_held == following.held
            after[number] = following.first_held + (after[number + 1] if whole else 0)
    return after
