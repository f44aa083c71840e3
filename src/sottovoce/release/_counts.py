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


def checked_counts(matrix: Matrix, *, signed: bool = False) -> Counts:
    """Return ``matrix`` as a CSR array of 64-bit integers, or say why it holds no counts.

    A ``signed`` matrix may hold negative counts: noise makes them. What already is as it should be
    is not copied, so the result is to be read, not changed.
    """
    rows = _as_csr(matrix)
    low = _check_values(rows.data, signed=signed)
    # An array of unsigned integers or of floats is whole by now, so that this loses nothing.
    whole = sparse.csr_array(rows.astype(np.int64, copy=False))
    if whole.has_canonical_format and (low > 0 or whole.data.all()):
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


def _check_values(values: NDArray[np.float64], *, signed: bool) -> float:
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
    low, high = values.min(), values.max()
    if not signed and low < 0:
        raise CorpusError("Negative values in data: counts must be >= 0.")
    if max(int(high), -int(low)) > LARGEST_COUNT:
        raise CorpusError("counts must be at most 2^40.")
    return float(low)
