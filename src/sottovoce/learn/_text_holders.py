"""Holders of labelled texts as a user hands them to `train`: files, frames, rows or lists."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from sottovoce.corpus.read import ReadOptions
from sottovoce.errors import InputError
from sottovoce.learn._holders import LabelValues
from sottovoce.learn.documents import Documents, NoDocumentsError, read_labelled

if TYPE_CHECKING:
    from sottovoce.corpus.read._corpus import Source


TextsGiven: TypeAlias = (
    "Documents | Source | Iterable[Mapping[str, Any]] | tuple[Sequence[str], ArrayLike]"
)
_PAIR = 2
_MATRIX = 2


@dataclass(frozen=True)
class TextColumns:
    """What a holder's columns are called; None where they have our names, text and label."""

    text: str | None = None
    label: str | None = None

    @property
    def options(self) -> ReadOptions:
        """As the reader takes them."""
        named = {"text": self.text, "label": self.label}
        return ReadOptions(columns={ours: name for ours, name in named.items() if name is not None})


@dataclass(frozen=True, repr=False)
class TextHolders:
    """Peers' labelled texts, and the type that their labels came in.

    Attributes:
        examples: each peer's texts.
        columns: what the columns of files and frames are called.
        labels: what the label names of a run stand for.
    """

    examples: Mapping[str, Documents]
    columns: TextColumns
    labels: LabelValues
    features: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, given: Mapping[str, TextsGiven], columns: TextColumns, labels: Sequence[Any] = ()
    ) -> "TextHolders":
        """Read what every holder has; ``labels`` are further ones that there may be."""
        read = {name: labelled_documents(each, columns) for name, each in given.items()}
        known: list[ArrayLike] = [found for _, found in read.values()]
        further: list[ArrayLike] = [list(labels)] if labels else []
        examples = {name: documents for name, (documents, _) in read.items()}
        return cls(examples, columns, LabelValues.of([*known, *further]))

    def to_classify(self, _name: str, given: object) -> Documents:
        """Texts without labels: a list of them, or a frame with the holders' column of texts."""
        if isinstance(given, str):
            raise InputError("texts to classify must be a list of texts, got a single one.")
        if _is_table(given):
            return read_labelled(cast("Source", given), options=self._unlabelled, labelled=False)
        return Documents.of(list(cast("Iterable[str]", given)))

    def to_evaluate(self, _name: str, given: TextsGiven) -> Documents:
        """Texts with labels, in any of the forms that a holder comes in."""
        return labelled_documents(given, self.columns)[0]

    def values(self, names: Iterable[str]) -> NDArray[Any]:
        """Labels in the type in which they were given."""
        return self.labels.of_names(names)

    @property
    def _unlabelled(self) -> ReadOptions:
        return TextColumns(self.columns.text).options


def holds_text(given: object) -> bool:
    """Whether this is a holder of texts, and not one of rows of numbers."""
    if not isinstance(given, tuple | list) or len(given) != _PAIR:
        return True
    first = given[0]
    if _is_row(first):
        return True
    if len(getattr(first, "shape", ())) == _MATRIX:
        return False
    return isinstance(next(iter(first), None), str)


def labelled_documents(given: TextsGiven, columns: TextColumns) -> tuple[Documents, ArrayLike]:
    """One holder's texts, and its labels in the type in which they came."""
    if not isinstance(given, Documents):
        texts, labels = _labelled_texts(given, columns)
        return Documents.of(texts, labels), labels
    if given.labels is None:
        raise NoDocumentsError("a holder must have labels to train with, got none.")
    return given, given.labels


def _labelled_texts(given: object, columns: TextColumns) -> tuple[Sequence[str], ArrayLike]:
    """Labels of files are text, those of frames and lists what they are there."""
    if isinstance(given, tuple | list) and len(given) == _PAIR and not _is_row(given[0]):
        return list(given[0]), given[1]
    if isinstance(given, str | PathLike):
        found = read_labelled(given, options=columns.options)
        return found.texts, found.labels or ()
    return _of_frame(_as_table(given), columns)


def _of_frame(table: pa.Table, columns: TextColumns) -> tuple[Sequence[str], ArrayLike]:
    name = columns.label or "label"
    dtype = np.dtype(str)
    if name in table.column_names:
        dtype = _numpy_type(table.schema.field(name).type)
        if dtype.kind == "f":
            table = _with_whole_labels(table, name)
    found = read_labelled(table, options=columns.options)
    labels = found.labels or ()
    if dtype.kind == "b":
        return found.texts, np.array([label == "true" for label in labels])
    if dtype.kind in "iuf":
        return found.texts, np.array([int(label) for label in labels], dtype)
    return found.texts, labels


def _numpy_type(kind: pa.DataType) -> np.dtype[Any]:
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return np.dtype(kind.to_pandas_dtype()) if numeric else np.dtype(str)


def _with_whole_labels(table: pa.Table, name: str) -> pa.Table:
    """Numbers that a frame made floating, as it does where one is missing."""
    at = table.column_names.index(name)
    try:
        return table.set_column(at, name, table.column(at).cast(pa.int64()))
    except pa.ArrowInvalid:
        raise InputError("labels that are numbers must be whole and finite.") from None


def _is_row(given: object) -> bool:
    return isinstance(given, Mapping)


def _is_table(given: object) -> bool:
    return hasattr(given, "__arrow_c_stream__") and len(getattr(given, "shape", ())) == _MATRIX


def _as_table(given: object) -> pa.Table:
    if _is_table(given):
        return pa.table(given)
    rows = list(given) if isinstance(given, Iterable) else []
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "a holder must be a file's path, a data frame, rows that are dictionaries, at least 1 "
            f"of them, or (texts, labels); got {type(given).__name__}."
        )
    try:
        return pa.Table.from_pylist([dict(row) for row in rows])
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "a column must hold one kind of value in all of a holder's rows."
        ) from None
