"""Users in the order of their scores: their positions, ties and all, and their names."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce._compiled import kernel


def positions_with_ties(
    scores: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last position of the users who score as each does, from 1."""
    order = np.argsort(-scores, kind="stable")
    first, last = np.empty(scores.size, np.int64), np.empty(scores.size, np.int64)
    first[order], last[order] = ordered_positions(scores[order])
    return first, last


def ordered_positions(
    ordered: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same of scores that are in decreasing order."""
    begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(begins[1:], ordered.size)
    return np.repeat(begins + 1, ends - begins), np.repeat(ends, ends - begins)


def rearranged(names: pa.Array, order: NDArray[np.int64]) -> pa.Array:
    """All of ``names``, strings without nulls, each once, in this order.

    Every ranking needs it, and Arrow, which knows less, takes five times as long.
    """
    _, offsets, data = names.buffers()
    begins = np.frombuffer(offsets, np.int32)[names.offset : names.offset + len(names) + 1]
    letters = np.frombuffer(data or b"", np.uint8)
    ends = np.zeros(len(names) + 1, np.int32)
    moved = np.empty(int(begins[-1] - begins[0]) if len(names) else 0, np.uint8)
    _rearrange(begins, letters, order, ends, moved)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(moved)]
    return pa.Array.from_buffers(pa.string(), len(names), buffers)


class UserOrder(NamedTuple):
    """Users, the most exposed first: rows, scores, and the first and last position of ties."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]


def ordered_users(scores: NDArray[np.float64], by_name: NDArray[np.int64]) -> UserOrder:
    """Users by decreasing score, equals in the order ``by_name``.

    Few and long steps, as rankings are made on several threads, which take turns between steps.
    """
    keys = np.empty(scores.size)
    _negate(scores, by_name, keys)
    places = np.argsort(keys, kind="stable")
    rows, first, last = np.empty((3, scores.size), np.int64)
    _arrange(scores, by_name, places, rows, keys, first, last)
    return UserOrder(rows, keys, first, last)


@kernel
def _negate(
    scores: NDArray[np.float64], by_name: NDArray[np.int64], keys: NDArray[np.float64]
) -> None:
    for place in range(keys.size):
        keys[place] = -scores[by_name[place]]


@kernel
def _arrange(
    scores: NDArray[np.float64],
    by_name: NDArray[np.int64],
    places: NDArray[np.int64],
    rows: NDArray[np.int64],
    ordered: NDArray[np.float64],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> None:
    begin = 0
    for at in range(places.size):
        rows[at] = by_name[places[at]]
        ordered[at] = scores[rows[at]]
        if ordered[at] != ordered[begin]:
            last[begin:at] = at
            begin = at
        first[at] = begin + 1
    last[begin:] = places.size


@kernel
def _rearrange(
    begins: NDArray[np.int32],
    letters: NDArray[np.uint8],
    order: NDArray[np.int64],
    ends: NDArray[np.int32],
    moved: NDArray[np.uint8],
) -> None:
    at = 0
    for place in range(order.size):
        for letter in range(begins[order[place]], begins[order[place] + 1]):
            moved[at] = letters[letter]
            at += 1
        ends[place + 1] = at
