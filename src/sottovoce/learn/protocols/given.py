"""What a user hands to `train`, checked and told apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, Rows, checked_rows
from sottovoce.learn.protocols.local import LocalData

Given: TypeAlias = tuple[Rows, ArrayLike]
_CLASSES = 2


@dataclass(frozen=True)
class Training:
    """Peers' data over one dictionary, with the two classes that their labels mean."""

    data: dict[str, LocalData]
    names: dict[str, tuple[str, ...]]
    dictionary: tuple[str, ...]
    classes: NDArray[Any]


def checked_training(
    peers: Sequence[Given] | Mapping[str, Given],
    features: Sequence[str] | Sequence[Sequence[str]] | None,
) -> Training:
    """The peers of a training, or why they cannot train together."""
    given = dict(peers) if isinstance(peers, Mapping) else _numbered(peers)
    rows = {name: checked_rows(x) for name, (x, _) in given.items()}
    labels = {name: _labels(y, len(rows[name]), name) for name, (_, y) in given.items()}
    classes = two_classes(labels)
    names = _feature_names(rows, features)
    dictionary = tuple(dict.fromkeys(name for own in names.values() for name in own))
    data = {
        name: LocalData.of(rows[name], signs_of(labels[name], classes), names[name], dictionary)
        for name in rows
    }
    return Training(data, names, dictionary, classes)


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


def signs_of(labels: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """1 for the second class, -1 for the first."""
    if not np.isin(labels, classes).all():
        raise InputError("labels must be of the two classes that were trained on.")
    return np.where(labels == classes[1], 1.0, -1.0)


def _numbered(peers: Sequence[Given]) -> dict[str, Given]:
    width = len(str(max(len(peers) - 1, 0)))
    return {f"peer{at:0{width}}": given for at, given in enumerate(peers)}


def _labels(labels: ArrayLike, rows: int, name: str) -> NDArray[Any]:
    found = np.asarray(labels)
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
