"""Posts as rows of counts, as every scorer takes them: checked once, then spread over threads.

Sums go in a fixed order that a processor can do side by side, so that a post has the same bits in
any batch. What each word of a post adds to its strength is found by scoring the post without it.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, available_cores, kernel, on_threads
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError

# Below this many cells a thread costs more than it gains.
_CELLS_PER_THREAD = 4096
# So many cells of posts without a word are held at a time.
_CELLS_AT_A_TIME = 1 << 22
LANES = 8
Strengths = Callable[[sparse.csr_array], NDArray[np.float64]]


class CountRows(NamedTuple):
    """Counts as kernels take them: columns ascending in each row, no zero, one type each."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]


def checked_rows(counts: sparse.csr_array, vocabulary: Vocabulary) -> CountRows:
    """The cells of ``counts``; what is no count over ``vocabulary`` is refused."""
    matrix = sparse.csr_array(counts)
    if matrix.shape[1] != len(vocabulary):
        raise ParameterError(
            f"counts must have one column for each of the {len(vocabulary)} terms, "
            f"got {matrix.shape[1]}; count with the scorer's vocabulary and rules."
        )
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise ParameterError("counts must be finite and >= 0.")
    if not matrix.has_canonical_format or (matrix.nnz and not matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return CountRows(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
    )


def for_parts(
    rows: CountRows, work: Callable[[int, int], object], threads: int | None, *, cells: int
) -> None:
    """Call ``work(first, last)`` for contiguous parts of the rows, one for each thread.

    A row's result must not depend on the part it is in; ``cells`` is the least work of a thread.
    """
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be >= 1, got {threads}.")
    size = int(rows.pointers[-1])
    parts = max(1, min(threads or available_cores(), size // cells))
    goals = np.linspace(0, size, parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(rows.pointers, goals).tolist(), rows.pointers.size - 1]
    on_threads([partial(work, cuts[part], cuts[part + 1]) for part in range(parts)], parts)


def score_rows(
    rows: CountRows,
    width: int,
    work: Callable[[int, int, NDArray[np.float64]], object],
    threads: int | None,
) -> NDArray[np.float64]:
    """A row of ``width`` numbers for each row, filled by ``work(first, last, out)``."""
    out = np.zeros((rows.pointers.size - 1, width))
    for_parts(rows, lambda first, last: work(first, last, out), threads, cells=_CELLS_PER_THREAD)
    return out


@kernel
def longest(pointers: NDArray[np.int64], first: Whole, last: Whole) -> Whole:
    """The most distinct words of one of the posts."""
    most = 0
    for row in range(first, last):
        most = max(most, pointers[row + 1] - pointers[row])
    return most


if TYPE_CHECKING:

    def lane_sum(values: NDArray[np.float64], size: Whole) -> float: ...

    def lane_dot(vectors: NDArray[np.float32], one: Whole, other: Whole, size: Whole) -> float: ...

else:
    # Put into its caller: a call for each word would count references to the array.
    @numba.njit(inline="always")
    def lane_sum(values, size):  # noqa: ANN001, ANN201 - see above
        """The sum of the first ``size`` values: eight lanes, then the lanes, then the rest."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += values[at]
            b += values[at + 1]
            c += values[at + 2]
            d += values[at + 3]
            e += values[at + 4]
            f += values[at + 5]
            g += values[at + 6]
            h += values[at + 7]
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += values[at]
        return total

    @numba.njit(inline="always")
    def lane_dot(vectors, one, other, size):  # noqa: ANN001, ANN201 - see above
        """The inner product of two rows, in double precision, in the order of `lane_sum`."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
            b += np.float64(vectors[one, at + 1]) * np.float64(vectors[other, at + 1])
            c += np.float64(vectors[one, at + 2]) * np.float64(vectors[other, at + 2])
            d += np.float64(vectors[one, at + 3]) * np.float64(vectors[other, at + 3])
            e += np.float64(vectors[one, at + 4]) * np.float64(vectors[other, at + 4])
            f += np.float64(vectors[one, at + 5]) * np.float64(vectors[other, at + 5])
            g += np.float64(vectors[one, at + 6]) * np.float64(vectors[other, at + 6])
            h += np.float64(vectors[one, at + 7]) * np.float64(vectors[other, at + 7])
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
        return total


def topic_number(topics: tuple[str, ...], name: str) -> int:
    """The column of the topic ``name``."""
    if name not in topics:
        raise ParameterError(f"topic must be one of the catalogue's {len(topics)}, got {name!r}.")
    return topics.index(name)


def contributions_of_words(
    counts: sparse.csr_array, vocabulary: Vocabulary, strengths: Strengths
) -> sparse.csr_array:
    """In the cells of ``counts``: the strength of the post less that of the post without the word.

    ``strengths`` gives one number a row. A word's occurrences are left out all at once.
    """
    rows = checked_rows(counts, vocabulary)
    matrix = sparse.csr_array((rows.counts, rows.columns, rows.pointers), shape=counts.shape)
    lengths = np.diff(rows.pointers)
    added = np.repeat(strengths(matrix), lengths)
    for first, last in _blocks(lengths):
        cells = slice(rows.pointers[first], rows.pointers[last])
        added[cells] -= strengths(without_each_word(matrix[first:last]))
    return sparse.csr_array((added, rows.columns, rows.pointers), shape=counts.shape)


def _blocks(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Contiguous rows whose squares of lengths stay within the bound, at least one row each."""
    blocks, first, cells = [], 0, 0
    for row, length in enumerate(lengths.tolist()):
        if cells and cells + length * length > _CELLS_AT_A_TIME:
            blocks.append((first, row))
            first, cells = row, 0
        cells += length * length
    blocks.append((first, lengths.size))
    return blocks


def without_each_word(posts: sparse.csr_array) -> sparse.csr_array:
    """For each cell of ``posts`` a row: its post without that cell."""
    lengths = np.diff(posts.indptr)
    repeats = np.repeat(lengths, lengths)
    pointers = np.concatenate([[0], np.cumsum(repeats)])
    own = np.arange(posts.nnz) - np.repeat(posts.indptr[:-1], lengths)
    begins = np.repeat(np.repeat(posts.indptr[:-1], lengths), repeats)
    place = np.arange(pointers[-1]) - np.repeat(pointers[:-1], repeats)
    kept = place != np.repeat(own, repeats)
    cells = (begins + place)[kept]
    ends = np.concatenate([[0], np.cumsum(repeats - 1)])
    return sparse.csr_array(
        (posts.data[cells], posts.indices[cells], ends), shape=(posts.nnz, posts.shape[1])
    )
