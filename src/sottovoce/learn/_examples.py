"""Examples as learners and rados take them: a finite matrix and labels of two values."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse


Rows: TypeAlias = "ArrayLike | sparse.spmatrix | sparse.sparray"


def checked_rows(rows: Rows) -> Floats:
    """Observations: m rows of d numbers; sparse ones are made dense.

    Private Text Classification, Definition 1.
    """
    matrix = _numbers(_dense(rows), "examples must be rows of numbers")
    if matrix.ndim != 2 or 0 in matrix.shape:  # noqa: PLR2004 - a matrix has two axes
        raise InputError(
            f"examples must be a matrix of rows by features, none of them empty, "
            f"got shape {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise InputError("examples must be finite, got NaN or infinity; drop or repair those rows.")
    return matrix


def checked_signs(labels: ArrayLike, rows: int) -> Floats:
    """Labels that are -1 or 1, one per row."""
    signs = _numbers(labels, "labels must be -1 or 1")
    if signs.shape != (rows,):
        raise InputError(f"labels must be one per row, {rows} of them, got shape {signs.shape}.")
    if not np.isin(signs, (-1.0, 1.0)).all():
        raise InputError("labels must be -1 or 1; map the two classes to these first.")
    return signs


def _numbers(given: ArrayLike, wanted: str) -> Floats:
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        # numpy's sentence quotes what was given, which may be a person's text.
        raise InputError(f"{wanted}, got something else among them.") from None


def _dense(rows: Rows) -> ArrayLike:
    matrix: Any = rows  # scipy's stubs know no toarray that all sparse matrices have
    dense: ArrayLike = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return dense


def symmetric(upper: Floats, width: int) -> Floats:
    """A symmetric matrix from its upper triangle, row by row."""
    matrix = np.zeros((width, width))
    matrix[np.triu_indices(width)] = upper
    return matrix + np.triu(matrix, 1).T
