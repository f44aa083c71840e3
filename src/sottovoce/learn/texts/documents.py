"""What a peer brings: texts or rows of numbers, their labels, and which document each is of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, Rows, checked_rows
from sottovoce.learn.texts.sentences import sentences

Integers: TypeAlias = NDArray[np.int64]


class NoDocumentsError(InputError):
    """A peer has nothing to learn from, or nothing that is labelled."""


@dataclass(frozen=True, repr=False)
class Documents:
    """Texts with their labels; never printed.

    Attributes:
        texts: one a row.
        labels: a name for each; None where they are to be classified.
        groups: which document each text is of, if several texts (sentences) are of one.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    groups: Integers | None = None

    @classmethod
    def of(
        cls, texts: Sequence[str], labels: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Texts, a label each, and the id of each text's document."""
        if not len(texts):
            raise NoDocumentsError("a peer must have at least 1 document, got none.")
        if not all(isinstance(text, str) for text in texts):
            raise InputError("documents must be texts; got something else among them.")
        return cls(tuple(texts), label_names(labels, len(texts)), group_numbers(groups, len(texts)))

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, chosen: NDArray[np.bool_]) -> "Documents":
        """Some of them."""
        at = np.flatnonzero(chosen)
        labels = None if self.labels is None else tuple(self.labels[i] for i in at)
        groups = None if self.groups is None else self.groups[at]
        return Documents(tuple(self.texts[i] for i in at), labels, groups)

    def split(self) -> "Documents":
        """Each sentence with its document's label and its document's number."""
        if self.groups is not None:
            return self
        parts = [sentences(text) for text in self.texts]
        sizes = [len(part) for part in parts]
        labels = self.labels and tuple(
            label for label, size in zip(self.labels, sizes, strict=True) for _ in range(size)
        )
        groups = np.repeat(np.arange(len(parts)), sizes)
        texts = tuple(sentence for part in parts for sentence in part)
        if not texts:
            raise NoDocumentsError("a peer must have at least 1 sentence, got none.")
        return Documents(texts, labels, groups)


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of numbers with their labels; never printed.

    Attributes:
        rows: m by the peer's own columns.
        labels: a name for each row; None where they are to be classified.
        columns: the names of the peer's columns; none where it has all of the run's.
        groups: which document each row is of, if several are of one.
    """

    rows: Floats
    labels: tuple[str, ...] | None = None
    columns: tuple[str, ...] = ()
    groups: Integers | None = field(default=None)

    @classmethod
    def of(cls, rows: Rows, labels: ArrayLike | None = None, columns: Sequence[str] = ()) -> Self:
        """Rows, a label each, and the names of the columns."""
        matrix = checked_rows(rows)
        return cls(matrix, label_names(labels, len(matrix)), tuple(columns))

    def __len__(self) -> int:
        return len(self.rows)

    def part(self, chosen: NDArray[np.bool_]) -> "Table":
        """Some of them."""
        at = np.flatnonzero(chosen)
        labels = None if self.labels is None else tuple(self.labels[i] for i in at)
        groups = None if self.groups is None else self.groups[at]
        return replace(self, rows=self.rows[at], labels=labels, groups=groups)


Examples: TypeAlias = Documents | Table


def label_names(labels: ArrayLike | None, rows: int) -> tuple[str, ...] | None:
    """Labels as names: whole numbers and truth values are written out."""
    if labels is None:
        return None
    found: NDArray[Any] = np.asarray(labels)
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


def group_numbers(groups: ArrayLike | None, rows: int) -> Integers | None:
    """Documents' ids as numbers in the order of their first rows."""
    if groups is None:
        return None
    found: NDArray[Any] = np.asarray(groups)
    if found.shape != (rows,):
        raise InputError(f"document ids must be one per row, {rows} of them, got {found.shape}.")
    first: dict[Any, int] = {}
    return np.array([first.setdefault(each, len(first)) for each in found.tolist()], np.int64)


def held_out(examples: Examples, fraction: float) -> NDArray[np.bool_]:
    """Which rows a peer keeps for evaluation: documents spread evenly, whole ones.

    Document i is held out if i + 1 times ``fraction`` reaches a whole number that i times does not.
    """
    groups = np.arange(len(examples)) if examples.groups is None else examples.groups
    kept: NDArray[np.bool_] = np.floor((groups + 1) * fraction) > np.floor(groups * fraction)
    return kept
