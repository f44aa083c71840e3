"""Users in the order of their scores: their positions, ties and all, and their names."""

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
