"""Holders of rows of numbers as a user hands them to `train`: checked, over one dictionary.

Labels in the type in which they were given: within a run they are names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn._examples import Rows, checked_rows
from sottovoce.learn._local_data import feature_places
from sottovoce.learn.documents import Table, label_names

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
    def of(cls, labels: Iterable[ArrayLike]) -> Self:
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
        """The values of some names; None for one that stands for no label, such as undecided."""
        listed = list(names)
        if not self.values:
            return np.array(listed, np.dtype(str))
        found = [self.values.get(name) for name in listed]
        undecided = any(value is None for value in found)
        return np.array(found, object if undecided else self.dtype)


def plain_labels(labels: ArrayLike) -> NDArray[Any]:
    """An array of one kind where a list or a column of objects holds one kind."""
    found = np.asarray(labels)
    return np.asarray(found.tolist()) if found.dtype.kind == "O" else found


RowsGiven: TypeAlias = tuple[Rows, ArrayLike]
_Given = TypeVar("_Given")
_CLASSES = 2
_SIGNS = ("-1", "1")  # what the two classes are called within a run, in the order of the classes


@dataclass(frozen=True, repr=False)
class RowHolders:
    """Peers' rows over one dictionary, with the two classes that their labels mean.

    Attributes:
        examples: each peer's rows, with signs for labels.
        features: the common dictionary.
        classes: the two labels.
    """

    examples: Mapping[str, Table]
    features: tuple[str, ...]
    classes: NDArray[Any]

    @classmethod
    def of(
        cls,
        peers: Sequence[RowsGiven] | Mapping[str, RowsGiven],
        features: Sequence[str] | Sequence[Sequence[str]] | None,
    ) -> "RowHolders":
        """The peers of a training, or why they cannot train together."""
        given = named_holders(peers)
        rows = {name: checked_rows(x) for name, (x, _) in given.items()}
        labels = {name: _labels(y, len(rows[name]), name) for name, (_, y) in given.items()}
        classes = two_classes(labels)
        names = _feature_names(rows, features)
        dictionary = tuple(dict.fromkeys(name for own in names.values() for name in own))
        for name, own in names.items():
            _check_columns(rows[name], own, dictionary)
        examples = {
            name: Table(rows[name], sign_names(labels[name], classes), names[name]) for name in rows
        }
        return cls(examples, dictionary, classes)

    @property
    def label_names(self) -> tuple[str, ...]:
        """What a run calls the two classes."""
        return _SIGNS

    def to_classify(self, name: str, rows: Rows) -> Table:
        """Rows over a peer's features, without labels."""
        own, columns = checked_rows(rows), self.examples[name].columns
        if own.shape[1] != len(columns):
            raise InputError(
                f"{name}'s rows must have {len(columns)} features, got {own.shape[1]}."
            )
        return Table(own, None, columns)

    def to_evaluate(self, name: str, given: RowsGiven) -> Table:
        """Rows over a peer's features, with labels of the two classes."""
        table = self.to_classify(name, given[0])
        labels = _labels(given[1], len(table), name)
        return Table(table.rows, sign_names(labels, self.classes), table.columns)

    def values(self, names: Iterable[str]) -> NDArray[Any]:
        """The classes that a run's labels stand for."""
        found: NDArray[Any] = self.classes[[int(name == _SIGNS[1]) for name in names]]
        return found


def named_holders(peers: Sequence[_Given] | Mapping[str, _Given]) -> dict[str, _Given]:
    """Holders by name; those of a list are numbered."""
    if isinstance(peers, Mapping):
        return dict(peers)
    if not isinstance(peers, list | tuple):
        raise InputError(
            "peers must be several holders, by name or in a list, got one "
            f"{type(peers).__name__}; pass {{name: holder, ...}}."
        )
    width = len(str(max(len(peers) - 1, 0)))
    return {f"peer{at:0{width}}": given for at, given in enumerate(peers)}


def two_classes(labels: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The two values that all peers' labels have together."""
    try:
        classes = np.unique(np.concatenate(list(labels.values())))
    except (TypeError, ValueError) as error:
        raise InputError(
            "labels must be of one kind at all peers: all text or all numbers."
        ) from error
    if len(classes) != _CLASSES:
        raise InputError(
            f"labels must have exactly two values over all peers, got {len(classes)}; "
            "two-class problems only."
        )
    return classes


def sign_names(labels: NDArray[Any], classes: NDArray[Any]) -> tuple[str, ...]:
    """1 for the second class, -1 for the first."""
    if not np.isin(labels, classes).all():
        raise InputError("labels must be of the two classes that were trained on.")
    return tuple(_SIGNS[int(positive)] for positive in labels == classes[1])


def _labels(labels: ArrayLike, rows: int, name: str) -> NDArray[Any]:
    found = plain_labels(labels)
    if found.shape != (rows,):
        raise InputError(f"{name} must have one label per row, {rows} of them, got {found.shape}.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise InputError(f"{name}'s labels must be finite, got NaN or infinity.")
    if found.dtype.kind not in "biufU":
        raise InputError(f"{name}'s labels must be text or numbers.")
    return found


def _feature_names(
    rows: Mapping[str, Floats], features: Sequence[str] | Sequence[Sequence[str]] | None
) -> dict[str, tuple[str, ...]]:
    if features is None:
        widths = {matrix.shape[1] for matrix in rows.values()}
        if len(widths) != 1:
            raise InputError(
                "peers must agree on the features: their rows differ in length; name them with "
                "features=[names of the first peer, names of the second, ...]."
            )
        features = [f"x{at}" for at in range(widths.pop())]
    if all(isinstance(each, str) for each in features):
        own = tuple(str(each) for each in features)
        return dict.fromkeys(rows, own)
    if len(features) != len(rows):
        raise InputError(f"features must name those of each of {len(rows)} peers.")
    return {name: tuple(own) for name, own in zip(rows, features, strict=True)}


def _check_columns(rows: Floats, names: tuple[str, ...], dictionary: tuple[str, ...]) -> None:
    if rows.shape[1] != len(names):
        raise InputError(
            f"peers must agree on the features: {len(names)} are named, "
            f"got {rows.shape[1]} columns."
        )
    feature_places(names, dictionary)
