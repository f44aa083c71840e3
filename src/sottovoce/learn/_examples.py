"""Rows and labels as they come, checked, and labels as a run calls them.

Within a run labels are names; `LabelValues` gives them back in the type in which they came.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from numpy.typing import NDArray

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


_KINDS = {"b": "truth", "i": "number", "u": "number", "f": "number", "U": "text"}


@dataclass(frozen=True)
class LabelValues:
    """What each label name of a run stands for.

    Attributes:
        values: the value of each name; a name that is not there stands for itself.
        dtype: of the values; text where there are none.
    """

    values: Mapping[str, Any]
    dtype: np.dtype[Any]

    @classmethod
    def from_labels(cls, labels: Iterable[ArrayLike]) -> Self:
        """Those of all holders' labels; names where holders give different kinds of them."""
        arrays = [plain_labels(each) for each in labels]
        kinds = {_KINDS.get(each.dtype.kind, "text") for each in arrays}
        if kinds not in ({"truth"}, {"number"}):
            return cls({}, np.dtype(str))
        dtype = np.result_type(*arrays)
        values: dict[str, Any] = {}
        for each in arrays:
            found = np.unique(each)
            names = label_names(found, len(found)) or ()
            values.update(zip(names, found.astype(dtype), strict=True))
        return cls(values, dtype)

    def of_names(self, names: Iterable[str]) -> NDArray[Any]:
        """The values of some names."""
        listed = list(names)
        if not self.values:
            return np.array(listed, np.dtype(str))
        return np.array([self.values[name] for name in listed], self.dtype)


def plain_labels(labels: ArrayLike) -> NDArray[Any]:
    """An array of one kind where a list or a column of objects holds one kind."""
    found = present_labels(labels)
    return np.asarray(found.tolist()) if found.dtype.kind == "O" else found


def present_labels(labels: ArrayLike) -> NDArray[Any]:
    """Labels as an array; missing ones are refused, since they would make a class of their own."""
    given: Any = labels
    single = isinstance(given, str) or not getattr(given, "shape", (0,))
    values = [] if single else list_values(given)
    if missing := sum(_is_missing(each) for each in values):
        raise InputError(
            f"labels must be there for every row, got {missing} of {len(values)} without one; "
            "leave out those rows."
        )
    return np.asarray(values if hasattr(given, "to_pylist") else given)


def _is_missing(label: Any) -> bool:  # noqa: ANN401 - any label
    if label is None:
        return True
    same = label == label  # noqa: PLR0124 - NaN is not itself, and pandas' NA does not say
    return not hasattr(label, "__len__") and not (isinstance(same, bool | np.bool_) and same)


def check_one_kind(labels: Iterable[ArrayLike]) -> None:
    """Refuse numbers at one holder and truth values at another: 1 may or may not mean True."""
    kinds = {_KINDS.get(plain_labels(each).dtype.kind) for each in labels}
    if {"truth", "number"} <= kinds:
        raise InputError(
            "labels must be of one kind at all holders, got truth values at one and numbers at "
            "another; convert them first."
        )


def label_names(labels: ArrayLike | None, rows: int) -> tuple[str, ...] | None:
    """Labels as names: whole numbers and truth values are written out."""
    if labels is None:
        return None
    found = present_labels(labels)
    if found.shape != (rows,):
        raise InputError(f"labels must be one per row, {rows} of them, got shape {found.shape}.")
    if found.dtype.kind == "f":
        if not (np.isfinite(found).all() and (found == np.rint(found)).all()):
            raise InputError("labels that are numbers must be whole and finite.")
        found = found.astype(np.int64)
    if found.dtype.kind not in "biuUO":
        raise InputError("labels must be text, whole numbers or truth values.")
    names = tuple(str(label) for label in found.tolist())
    if not all(names):
        raise InputError("labels must not be empty; leave out rows without one.")
    return names


def list_values(values: Iterable[Any]) -> list[Any]:
    """The values of a list, a column or an array; Arrow's own are made Python's."""
    arrow: Any = values  # whatever has this method need not be pyarrow's
    return arrow.to_pylist() if hasattr(arrow, "to_pylist") else list(values)


def labels_by_sign(signs: NDArray[np.int64], labels: tuple[str, ...]) -> tuple[str, ...]:
    """Of two labels the second where the sign is positive."""
    return tuple(labels[int(sign > 0)] for sign in signs)
