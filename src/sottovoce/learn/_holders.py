"""Holders as a user hands them to `train`, of rows of numbers or of labelled texts, checked."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import DataError, InputError, MissingColumnError
from sottovoce.learn._examples import (
    LabelValues,
    Rows,
    check_one_kind,
    checked_rows,
    list_values,
    plain_labels,
)
from sottovoce.learn.documents import Documents, HolderColumns, Skipped, Table, read_labelled
from sottovoce.learn.training_terms import feature_places

if TYPE_CHECKING:
    from sottovoce.corpus.read.corpus import Source

RowsGiven: TypeAlias = tuple[Rows, ArrayLike]
TextsGiven: TypeAlias = (
    "Documents | Source | Iterable[Mapping[str, Any]] | tuple[Iterable[str], ArrayLike]"
)
_Given = TypeVar("_Given")
_CLASSES = 2
_SIGNS = ("-1", "1")  # what the two classes are called within a run, in the order of the classes
_MIXED = "a column must hold one kind of value in all of a holder's rows."
_REPEATED = "a data frame must not have several columns of one name; rename them first."
_PAIR = 2
_MATRIX = 2


def named_holders(peers: Sequence[_Given] | Mapping[str, _Given]) -> dict[str, _Given]:
    """Holders by name; those of a list are numbered."""
    if isinstance(peers, Mapping):
        if not all(isinstance(name, str) for name in peers):
            raise InputError(
                "names of holders must be text, got something else among them; pass "
                "{str(name): holder, ...}."
            )
        return {name: _read_once(given) for name, given in peers.items()}
    if not isinstance(peers, list | tuple):
        raise InputError(
            "peers must be several holders, by name or in a list, got one "
            f"{type(peers).__name__}; pass {{name: holder, ...}}."
        )
    width = len(str(max(len(peers) - 1, 0)))
    return {f"peer{at:0{width}}": _read_once(given) for at, given in enumerate(peers)}


def _read_once(given: _Given) -> _Given:
    """A pair whose parts can be read again: looking at a generator's first text would lose it."""
    if not isinstance(given, tuple | list) or len(given) != _PAIR:
        return given
    pair = tuple(list(each) if isinstance(each, Iterator) else each for each in given)
    return cast("_Given", pair)


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
    def from_peers(
        cls,
        peers: Sequence[RowsGiven] | Mapping[str, RowsGiven],
        features: Sequence[str] | Sequence[Sequence[str]] | None,
    ) -> "RowHolders":
        """The peers of a training, or why they cannot train together."""
        given = named_holders(peers)
        rows = {name: checked_rows(x) for name, (x, _) in given.items()}
        labels = {name: _labels(y, len(rows[name]), name) for name, (_, y) in given.items()}
        classes = common_classes(labels)
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


def common_classes(labels: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The two values that all peers' labels have together."""
    check_one_kind(labels.values())
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


@dataclass(frozen=True, repr=False)
class TextHolders:
    """Peers' labelled texts, and the type that their labels came in.

    Attributes:
        examples: each peer's texts.
        columns: what the columns of files and frames are called.
        labels: what the label names of a run stand for.
    """

    examples: Mapping[str, Documents]
    columns: HolderColumns
    labels: LabelValues
    features: tuple[str, ...] = ()

    @classmethod
    def from_peers(
        cls, given: Mapping[str, TextsGiven], columns: HolderColumns, labels: Sequence[Any] = ()
    ) -> "TextHolders":
        """Read what every holder has; ``labels`` are further ones that there may be."""
        skipped = Skipped()
        read = {name: labelled_documents(each, columns, skipped) for name, each in given.items()}
        _warn_of(skipped)
        known: list[ArrayLike] = [found for _, found in read.values()]
        further: list[ArrayLike] = [list(labels)] if labels else []
        check_one_kind([*known, *further])
        examples = {name: documents for name, (documents, _) in read.items()}
        return cls(examples, columns, LabelValues.from_labels([*known, *further]))

    def to_classify(self, _name: str, given: object) -> Documents:
        """Texts without labels: a list of them, or a frame with the holders' column of texts."""
        if isinstance(given, str):
            raise InputError("texts to classify must be a list of texts, got a single one.")
        if _is_table(given):
            return self._of_table(cast("Source", given))
        return Documents.from_texts(cast("Iterable[str]", given))

    def to_evaluate(self, _name: str, given: TextsGiven) -> Documents:
        """Texts with labels, in any of the forms that a holder comes in."""
        skipped = Skipped()
        documents, _ = labelled_documents(given, self.columns, skipped)
        _warn_of(skipped)
        return documents

    def values(self, names: Iterable[str]) -> NDArray[Any]:
        """Labels in the type in which they were given."""
        return self.labels.of_names(names)

    def _of_table(self, given: "Source") -> Documents:
        skipped, columns = Skipped(), HolderColumns(self.columns.text)
        documents = _read(_as_table(given), columns, skipped, labelled=False)
        _warn_of(skipped)
        return documents


def _warn_of(skipped: Skipped) -> None:
    if skipped.reasons:
        warnings.warn(str(skipped), stacklevel=5)


def holds_text(given: object) -> bool:
    """Whether this is a holder of texts, and not one of rows of numbers."""
    if not isinstance(given, tuple | list) or len(given) != _PAIR:
        return True
    first = given[0]
    if _is_row(first):
        return True
    if len(getattr(first, "shape", ())) == _MATRIX:
        return False
    return any(isinstance(each, str) for each in list_values(first))


def labelled_documents(
    given: TextsGiven, columns: HolderColumns, skipped: Skipped
) -> tuple[Documents, ArrayLike]:
    """One holder's texts, and its labels in the type in which they came."""
    if not isinstance(given, Documents):
        texts, labels = _labelled_texts(given, columns, skipped)
        return Documents.from_texts(texts, labels), labels
    if given.labels is None:
        raise DataError("a holder must have labels to train with, got none.")
    return given, given.labels


def _labelled_texts(
    given: object, columns: HolderColumns, skipped: Skipped
) -> tuple[Sequence[str], ArrayLike]:
    """Labels of files are text, those of frames and lists what they are there."""
    if isinstance(given, tuple | list) and len(given) == _PAIR and not _is_row(given[0]):
        return list_values(given[0]), given[1]
    if isinstance(given, str | PathLike):
        found = _read(given, columns, skipped)
        return found.texts, found.labels or ()
    return _of_frame(_as_table(given), columns, skipped)


def _of_frame(
    table: pa.Table, columns: HolderColumns, skipped: Skipped
) -> tuple[Sequence[str], ArrayLike]:
    table, dtype = _with_plain_labels(table, columns.label or "label")
    found = _read(table, columns, skipped)
    labels = found.labels or ()
    if dtype.kind == "b":
        return found.texts, np.array([label == "true" for label in labels])
    if dtype.kind in "iuf":
        return found.texts, np.array([int(label) for label in labels], dtype)
    return found.texts, labels


def _read(
    source: "Source", columns: HolderColumns, skipped: Skipped, *, labelled: bool = True
) -> Documents:
    options = ReadOptions(columns=columns.given_names)
    try:
        return read_labelled(source, options=options, labelled=labelled, skipped=skipped)
    except MissingColumnError as error:
        remedy = "Name the columns when training: text='NAME', label='NAME'."
        raise MissingColumnError(error.missing, remedy) from None


def _with_plain_labels(table: pa.Table, name: str) -> tuple[pa.Table, np.dtype[Any]]:
    """Labels as the reader takes them, and the type in which to give them back."""
    if name not in table.column_names:
        return table, np.dtype(str)
    if table.column_names.count(name) > 1:
        raise InputError(_REPEATED)
    at = table.column_names.index(name)
    labels = table.column(at)
    if pa.types.is_dictionary(labels.type):
        labels = labels.cast(labels.type.value_type)
    dtype = _numpy_type(labels.type)
    if dtype.kind == "f":
        labels = _whole(labels)
    return table.set_column(at, name, labels), dtype


def _numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return np.dtype(kind.to_pandas_dtype()) if numeric else np.dtype(str)


def _whole(labels: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers that a frame made floating, as it does where one is missing."""
    try:
        return labels.cast(pa.int64())
    except pa.ArrowInvalid:
        raise InputError("labels that are numbers must be whole and finite.") from None


def _is_row(given: object) -> bool:
    return isinstance(given, Mapping)


def _is_table(given: object) -> bool:
    return hasattr(given, "__arrow_c_stream__") and len(getattr(given, "shape", ())) == _MATRIX


def _as_table(given: object) -> pa.Table:
    if _is_table(given):
        return _export_frame(given)
    rows = list(given) if isinstance(given, Iterable) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "a holder must be a file's path, a data frame, rows that are dictionaries, at least 1 "
            f"of them, or (texts, labels); got {type(given).__name__}."
        )
    try:
        return pa.Table.from_pylist([dict(row) for row in rows])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(_MIXED) from None


def _export_frame(frame: object) -> pa.Table:
    """A frame as Arrow's; neither Arrow nor pandas may quote what cannot be exported."""
    try:
        return pa.table(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(_MIXED) from None
    except ValueError:
        raise InputError(_REPEATED) from None
