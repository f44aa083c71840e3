"""Released documents with their classes, read block by block: they may be longer than memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Integers
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.classify.features import positive
from sottovoce.release.classify.inputs import FOLDS, Labelled, balanced_folds

BLOCK_CELLS = 1 << 22
SAMPLED_CELLS = 20_000_000
"""What cannot be learnt from sums, and what is held out, is read of about so many cells."""
_FEWEST = 1_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Documents in memory, with the fold that each is held out in; only cells above 0 are kept."""

    documents: Labelled
    folds: NDArray[np.int8]

    def held(self, fold: int) -> Labelled:
        """Those of the fold."""
        return self.documents.part(np.flatnonzero(self.folds == fold))

    def known(self, fold: int) -> Labelled:
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
        chosen = self._chosen()
        kept: list[Labelled] = []
        first = 0
        for block, folds in self._blocks():
            own = np.flatnonzero(chosen[first : first + len(folds)])
            first += len(folds)
            taken = block.part(own)
            kept.append(Labelled(positive(taken.cells), taken.codes, self.classes))
        cells = sparse.csr_array(sparse.vstack([each.cells for each in kept], format="csr"))
        return Sample(Labelled(cells, self.codes[chosen], self.classes), self.folds[chosen])

    def _chosen(self) -> NDArray[np.bool_]:
        documents = self.rows.shape[0]
        number = max(_FEWEST, documents * SAMPLED_CELLS // max(1, self._stored()))
        if number >= documents:
            return np.ones(documents, np.bool_)
        chosen = np.zeros(documents, np.bool_)
        # By chance and not every so-and-so-manieth: labels may come in turns.
        generator = np.random.default_rng([self.seed, documents])
        chosen[generator.permutation(documents)[:number]] = True
        return chosen

    def _stored(self) -> int:
        """Cells that are not 0, or at most so many."""
        if isinstance(self.rows, sparse.csr_array):
            return int(self.rows.nnz)
        stored: int | None = getattr(self.rows, "stored", None)
        return self.rows.shape[0] * self.rows.shape[1] if stored is None else stored

    def _blocks(self) -> Iterator[tuple[Labelled, NDArray[np.int8]]]:
        first = 0
        for cells in row_blocks(self.rows, max(1, BLOCK_CELLS // self.rows.shape[1])):
            own = slice(first, first + cells.shape[0])
            first = own.stop
            yield Labelled(cells, self.codes[own], self.classes), self.folds[own]
