"""Count matrices as a release takes them: whole, finite and in CSR, one row per document."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.errors import CorpusError

Counts: TypeAlias = "sparse.csr_array[np.int64, tuple[int, int]]"
Weights: TypeAlias = "sparse.csr_array[np.float64, tuple[int, int]]"
Matrix: TypeAlias = "ArrayLike | sparse.spmatrix | sparse.sparray"

LARGEST_COUNT = 2**40  # a sum over eight million words still fits 64 bits


# Below it the compiler is not loaded for the checks.
_MANY_CELLS = 1 << 20


def checked_counts(matrix: Matrix, *, signed: bool = False, threads: int | None = None) -> Counts:
    """Return ``matrix`` as a CSR array of 64-bit integers, or say why it holds no counts.

    A ``signed`` matrix may hold negative counts: noise makes them. What already is as it should be
    is not copied, so the result is to be read, not changed.
    """
    rows = _as_csr(matrix)
    low = _check_values(rows.data, signed=signed, threads=threads)
    # An array of unsigned integers or of floats is whole by now, so that this loses nothing.
    whole = sparse.csr_array(rows.astype(np.int64, copy=False))
    if _in_order(whole, threads) and (low > 0 or whole.data.all()):
        return whole
    whole = whole.copy()
    whole.sum_duplicates()
    whole.eliminate_zeros()
    return whole


def checked_width(counts: Counts, width: int, *, what: str) -> None:
    """Refuse counts that do not have one column for each of ``width``."""
    if counts.shape[1] != width:
        raise CorpusError(
            f"the counts must have {width} columns, one per {what}, got {counts.shape[1]}."
        )


def _as_csr(matrix: Matrix) -> "sparse.csr_array[np.float64, tuple[int, int]]":
    dense_or_sparse: Any = matrix
    if not sparse.issparse(dense_or_sparse):
        dense_or_sparse = np.asarray(dense_or_sparse)
    if dense_or_sparse.ndim != 2:  # noqa: PLR2004  # a matrix has two axes
        raise CorpusError(
            f"counts must be a matrix of documents by words, got {dense_or_sparse.ndim} axes."
        )
    if dense_or_sparse.dtype.kind not in "iufb":
        raise CorpusError(f"counts must be numbers, got elements of type {dense_or_sparse.dtype}.")
    return sparse.csr_array(dense_or_sparse)


def _in_order(counts: Counts, threads: int | None) -> bool:
    """Whether each row names its columns in order, none twice; scipy is told, who would look again.

    Where a matrix is large, scipy's looking on one thread would be a tenth of a release.
    """
    if counts.nnz < _MANY_CELLS:
        return bool(counts.has_canonical_format)
    from sottovoce.privacy.mechanism import in_column_order  # noqa: PLC0415 - loads the compiler

    right = in_column_order(counts, threads)
    if right:
        counts.has_canonical_format = True
    return right


def _extremes(values: NDArray[np.float64], threads: int | None) -> tuple[float, float]:
    if values.size < _MANY_CELLS or values.dtype.kind == "f":
        return values.min(), values.max()
    from sottovoce.privacy.mechanism import extremes  # noqa: PLC0415 - loads the compiler

    return extremes(values, threads)


def _check_values(values: NDArray[np.float64], *, signed: bool, threads: int | None) -> float:
    """Refuse what is no count; the smallest value, 0 where there is none."""
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise CorpusError(
                "counts must be finite, got NaN or infinity; drop or repair those rows."
            )
        if not np.equal(values, np.rint(values)).all():
            raise CorpusError("counts must be whole numbers, got fractions; give raw word counts.")
    if not values.size:
        return 0
    low, high = _extremes(values, threads)
    if not signed and low < 0:
        raise CorpusError("Negative values in data: counts must be >= 0.")
    if max(int(high), -int(low)) > LARGEST_COUNT:
        raise CorpusError("counts must be at most 2^40.")
    return float(low)
