"""What a classifier of released documents is given: cells, labels, and parts to hold out.

Released documents with their classes, read block by block: they may be longer than memory.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.privacy.noise_law import HasLaw
from sottovoce.release.analysis.moments import Rows
from sottovoce.release.counts import Counts, Matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
from collections.abc import Iterator
from functools import cached_property

from sottovoce.release.analysis.moments import row_blocks
from sottovoce.release.classify.features import positive

FOLDS = 3


class ReleasedCounts(HasLaw, Protocol):
    """A release, as far as a classifier reads it."""

    @property
    def rows(self) -> Rows:
        """Documents by columns, the noise included; they may be longer than memory."""

    @property
    def maps(self) -> "Sequence[object]":
        """Which column each word was summed into; document i took map i modulo their number."""


def is_release(given: "Matrix | ReleasedCounts") -> TypeGuard[ReleasedCounts]:
    """Whether a release is given, and not a matrix of its cells."""
    return hasattr(given, "law") and hasattr(given, "rows")


def refuse_several_maps(release: ReleasedCounts) -> None:
    """Refuse a release whose columns mean other words in each group of documents."""
    if len(release.maps) > 1:
        raise ParameterError(
            f"this release uses {len(release.maps)} maps, so that one column means different "
            "words in different documents; a classifier needs a release with one map."
        )


@dataclass(frozen=True, eq=False)
class Labelled:
    """Released documents, each with the number of its class."""

    cells: Counts
    codes: Integers
    classes: int

    @property
    def documents(self) -> int:
        """How many."""
        return len(self.codes)

    @property
    def sizes(self) -> Floats:
        """Documents of each class."""
        return np.bincount(self.codes, minlength=self.classes).astype(np.float64)

    @property
    def indicator(self) -> "sparse.csr_array[np.float64, tuple[int, int]]":
        """Classes by documents: 1 where the document is of the class."""
        rows = np.arange(self.documents)
        ones = np.ones(self.documents)
        shape = (self.classes, self.documents)
        return sparse.csr_array((ones, (self.codes, rows)), shape=shape)

    def part(self, rows: Integers) -> "Labelled":
        """The documents of ``rows``."""
        return Labelled(self.cells[rows], self.codes[rows], self.classes)

    def parts(self, seed: int, folds: int = FOLDS) -> "Iterator[tuple[Labelled, Labelled]]":
        """(known, held out): each document is held out once, and classes keep their shares."""
        fold = self.folds(seed, folds)
        for place in np.unique(fold):
            held = fold == place
            yield self.part(np.flatnonzero(~held)), self.part(np.flatnonzero(held))

    def folds(self, seed: int, folds: int = FOLDS) -> Integers:
        """Which fold each document is held out in."""
        return balanced_folds(self.codes, seed, folds)


def balanced_folds(codes: Integers, seed: int, folds: int) -> Integers:
    """Which fold each document is held out in; classes keep their shares in each."""
    order = np.random.default_rng(seed).permutation(codes.size)
    # By the place where a class is first seen, so that its name means nothing.
    _, first, which = np.unique(codes[order], return_index=True, return_inverse=True)
    by_class = order[np.argsort(first[which], kind="stable")]
    fold = np.empty(codes.size, np.int64)
    fold[by_class] = np.arange(codes.size) % folds
    return fold


def refuse_texts(documents: Matrix) -> None:
    """Refuse texts where counts are expected, without showing them."""
    if sparse.issparse(documents):
        return
    values = np.asarray(documents)
    if values.dtype.kind in "US" or any(isinstance(each, str) for each in values.flat[:1]):
        raise CorpusError(
            "documents must be counts, got text; count them by the words of the release first: "
            "released.count_texts(texts)."
        )


def encode_labels(labels: ArrayLike, documents: int) -> tuple[NDArray[Any], Integers]:
    """The classes in order, and which of them each document is of."""
    given = np.asarray(labels)
    if given.shape == (documents, 1):
        given = column_or_1d(given, warn=True)
    if given.shape != (documents,):
        shape = " by ".join(f"{size:,}" for size in given.shape) or "a single one"
        raise ParameterError(
            f"labels must be one for each of the {documents:,} documents, got {shape}."
        )
    check_classification_targets(given)
    classes, codes = np.unique(given, return_inverse=True)
    if len(classes) == 1:
        raise ParameterError(
            "labels must name at least two classes, got 1 class: there is nothing to tell apart."
        )
    return classes, codes


BLOCK_CELLS = 1 << 22
SAMPLED_CELLS = 20_000_000
"""What cannot be learnt from sums, and what is held out, is read of about so many cells."""
_FEWEST = 1_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents in memory, with the fold that each is held out in; only cells above 0 are kept."""

    documents: Labelled
    folds: NDArray[np.int8]

    def held_out(self, fold: int) -> Labelled:
        """Those of the fold."""
        return self.documents.part(np.flatnonzero(self.folds == fold))

    def kept_in(self, fold: int) -> Labelled:
        """Those of all other folds."""
        return self.documents.part(np.flatnonzero(self.folds != fold))


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Released documents, each with the number of its class; all but these numbers may be on disk.

    Attributes:
        rows: the cells, negative ones too.
        codes: the class of each document.
        classes: how many there are.
        seed: of what is held out.
    """

    rows: Rows
    codes: Integers
    classes: int
    seed: int

    @cached_property
    def folds(self) -> NDArray[np.int8]:
        """Which fold each document is held out in."""
        return balanced_folds(self.codes, self.seed, FOLDS).astype(np.int8)

    @property
    def fold_numbers(self) -> range:
        """Fewer than usual where there are fewer documents."""
        return range(int(self.folds.max()) + 1)

    def parts(self) -> Iterator[tuple[int, Labelled]]:
        """(fold, documents of it), one block of documents after the other."""
        for block, folds in self._blocks():
            for fold in self.fold_numbers:
                yield fold, block.part(np.flatnonzero(folds == fold))

    @cached_property
    def sample(self) -> Sample:
        """Every document, or as many by chance as memory is meant for."""
        chosen = self._choose_rows()
        kept: list[Labelled] = []
        first = 0
        for block, folds in self._blocks():
            own = np.flatnonzero(chosen[first : first + len(folds)])
            first += len(folds)
            taken = block.part(own)
            kept.append(Labelled(positive(taken.cells), taken.codes, self.classes))
        cells = sparse.csr_array(sparse.vstack([each.cells for each in kept], format="csr"))
        return Sample(Labelled(cells, self.codes[chosen], self.classes), self.folds[chosen])

    def _choose_rows(self) -> NDArray[np.bool_]:
        documents = self.rows.shape[0]
        number = max(_FEWEST, documents * SAMPLED_CELLS // max(1, self._count_cells()))
        if number >= documents:
            return np.ones(documents, np.bool_)
        chosen = np.zeros(documents, np.bool_)
        # By chance and not every so-and-so-manieth: labels may come in turns.
        generator = np.random.default_rng([self.seed, documents])
        chosen[generator.permutation(documents)[:number]] = True
        return chosen

    def _count_cells(self) -> int:
        """Cells that are not 0, or at most so many."""
        known: int | None = getattr(self.rows, "nnz", None)
        return self.rows.shape[0] * self.rows.shape[1] if known is None else known

    def _blocks(self) -> Iterator[tuple[Labelled, NDArray[np.int8]]]:
        first = 0
        for cells in row_blocks(self.rows, max(1, BLOCK_CELLS // self.rows.shape[1])):
            own = slice(first, first + cells.shape[0])
            first = own.stop
            yield Labelled(cells, self.codes[own], self.classes), self.folds[own]
