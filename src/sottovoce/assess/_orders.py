"""Users in the order of their scores: their positions, ties and all, and their names."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.compiled import kernel

_SIGN, _LAST = np.uint64(1 << 63), np.uint64((1 << 64) - 1)
_BYTE = np.uint64(255)
_BYTES, _VALUES = 8, 256


def positions_with_ties(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last position of the users who score as each does, from 1."""
    order = np.argsort(-scores, kind="stable")
    first, last = np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    first[order], last[order] = ordered_positions(scores[order])
    return first, last


def ordered_positions(ordered: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of scores that are in decreasing order."""
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(begins[1:], ordered.size)
    return np.repeat(begins + 1, ends - begins), np.repeat(ends, ends - begins)


class OrderedTopics(NamedTuple):
    """The users for some topics, a row for each topic, the most exposed first."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]
    first: NDArray[np.int64]
    """The first position of those who score alike, from 1."""
    bands: NDArray[np.int32]
    """The place of the first band that holds each user, and beyond the last for who is in none."""
    in_band: NDArray[np.int64]
    """How many are in each band, then in none."""


def ordered_topics(
    scores: NDArray[np.float64], by_name: NDArray[np.int64], limits: NDArray[np.int64]
) -> OrderedTopics:
    """Users by decreasing score for each row of ``scores``, equals in the order ``by_name``.

    A band holds who is among the first so many as ``limits`` (topics x bands) says, all with the
    same score counted. All topics in one step: between steps threads that rank take turns.
    """
    found = OrderedTopics(
        np.empty(scores.shape, np.int32),
        np.empty(scores.shape),
        np.empty(scores.shape, np.int64),
        np.empty(scores.shape, np.int32),
        np.zeros((len(scores), limits.shape[1] + 1), np.int64),
    )
    _order(scores, by_name, limits, *found)
    return found


def separations(ordered: NDArray[np.float64]) -> list[float | None]:
    """How far the first stand from the middle, in standard deviations of all scores.

    For each row of scores that are in decreasing order. The first are the first 1% of users, at
    least 1; what they score on average less what the user in the middle scores. 0 where all score
    alike; None where a score is infinite.
    """
    users = ordered.shape[1]
    known = np.isfinite(ordered[:, 0]) & np.isfinite(ordered[:, -1])
    some = ordered if known.all() else ordered[known]
    spread = some.std(axis=1)
    first = some[:, : max(1, users // 100)].mean(axis=1)
    median = (some[:, users // 2] + some[:, (users - 1) // 2]) / 2
    apart = np.divide(first - median, spread, out=np.zeros(len(some)), where=spread > 0)
    found = iter(apart.tolist())
    return [next(found) if each else None for each in known.tolist()]


def rearrange_names(names: pa.Array, orders: NDArray[np.int32]) -> pa.Array:
    """All of ``names``, strings without nulls, in each of these orders, one after the other.

    An order has each name once. Every ranking needs it, and Arrow, which knows less, takes five
    times as long.
    """
    _, offsets, data = names.buffers()
    begins = np.frombuffer(offsets, np.int32)[names.offset : names.offset + len(names) + 1]
    letters = np.frombuffer(data or b"", np.uint8)
    ends = np.zeros(orders.size + 1, np.int32)
    size = int(begins[-1] - begins[0]) if len(names) else 0
    moved = np.empty(len(orders) * size, np.uint8)
    _rearrange(begins, letters, orders.reshape(-1), ends, moved)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(moved)]
    return pa.Array.from_buffers(pa.string(), orders.size, buffers)


@kernel
def _order(
    scores: NDArray[np.float64],
    by_name: NDArray[np.int64],
    limits: NDArray[np.int64],
    rows: NDArray[np.int32],
    ordered: NDArray[np.float64],
    first: NDArray[np.int64],
    bands: NDArray[np.int32],
    in_band: NDArray[np.int64],
) -> None:
    keys, spare = np.empty(by_name.size, np.uint64), np.empty(by_name.size, np.uint64)
    places, spare_places = np.empty(by_name.size, np.int32), np.empty(by_name.size, np.int32)
    for topic in range(len(scores)):
        _keys_of(scores[topic], by_name, keys)
        for place in range(by_name.size):
            places[place] = by_name[place]
        _sort(keys, places, spare, spare_places)
        rows[topic] = places
        _positions(scores[topic], places, ordered[topic], first[topic])
        _put_in_bands(first[topic], limits[topic], bands[topic], in_band[topic])


@kernel
def _keys_of(
    scores: NDArray[np.float64], by_name: NDArray[np.int64], keys: NDArray[np.uint64]
) -> None:
    """Whole numbers that ascend as the scores descend; what is no number comes last."""
    numbers = np.empty(1)
    bits = numbers.view(np.uint64)
    for place in range(keys.size):
        # Not the sign turned: 0 and -0 are to be one number.
        numbers[0] = 0.0 - scores[by_name[place]]
        key = bits[0]
        key = ~key if key & _SIGN else key | _SIGN
        keys[place] = key if numbers[0] == numbers[0] else _LAST


@kernel
def _sort(
    keys: NDArray[np.uint64],
    places: NDArray[np.int32],
    spare: NDArray[np.uint64],
    spare_places: NDArray[np.int32],
) -> None:
    """Sort ``places`` by their keys, equals as they stand: a byte at a time, the last one first."""
    tallies = np.zeros((_BYTES, _VALUES), np.int64)
    for key in keys:
        for byte in range(_BYTES):
            tallies[byte, (key >> np.uint64(8 * byte)) & _BYTE] += 1
    moved = False
    for byte in range(_BYTES):
        begins, shift = tallies[byte], np.uint64(8 * byte)
        if keys.size == 0 or begins[(keys[0] >> shift) & _BYTE] == keys.size:
            continue
        begin = 0
        for value in range(_VALUES):
            begin, begins[value] = begin + begins[value], begin
        for place in range(keys.size):
            value = (keys[place] >> shift) & _BYTE
            to = begins[value]
            begins[value] = to + 1
            spare[to], spare_places[to] = keys[place], places[place]
        keys, spare = spare, keys
        places, spare_places = spare_places, places
        moved = not moved
    if moved:
        spare_places[:] = places


@kernel
def _positions(
    scores: NDArray[np.float64],
    rows: NDArray[np.int32],
    ordered: NDArray[np.float64],
    first: NDArray[np.int64],
) -> None:
    begin = 0
    for at in range(rows.size):
        ordered[at] = scores[rows[at]]
        if ordered[at] != ordered[begin]:
            begin = at
        first[at] = begin + 1


@kernel
def _put_in_bands(
    first: NDArray[np.int64],
    limits: NDArray[np.int64],
    bands: NDArray[np.int32],
    in_band: NDArray[np.int64],
) -> None:
    """From the last user to the first: the last of a tie tells how many score at least as high."""
    at_least = first.size
    for at in range(first.size - 1, -1, -1):
        if at + 1 < first.size and first[at] != first[at + 1]:
            at_least = at + 1
        band = 0
        while band < limits.size and limits[band] < at_least:
            band += 1
        bands[at] = band
        in_band[band] += 1


@kernel
def _rearrange(
    begins: NDArray[np.int32],
    letters: NDArray[np.uint8],
    order: NDArray[np.int32],
    ends: NDArray[np.int32],
    moved: NDArray[np.uint8],
) -> None:
    at = 0
    for place in range(order.size):
        for letter in range(begins[order[place]], begins[order[place] + 1]):
            moved[at] = letters[letter]
            at += 1
        ends[place + 1] = at
