"""Posts as rows of counts: checked once, then spread over threads in contiguous parts."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, available_cores, kernel, on_threads
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError

# Below this many cells a thread costs more than it gains.
_CELLS_PER_THREAD = 4096


class Rows(NamedTuple):
    """Counts as kernels take them: columns ascending in each row, no zero, one type each."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]


def checked_rows(counts: sparse.csr_array, vocabulary: Vocabulary) -> Rows:
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
    return Rows(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
    )


def for_parts(
    rows: Rows, work: Callable[[int, int], object], threads: int | None, *, cells: int
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


def scored(
    rows: Rows,
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
