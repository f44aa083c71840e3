"""What a released cell says of its count: tables of E[f(c) | z] and of ln P(z) for bursty counts.

Cells at or below 0 all say the same, so that the work is in the positive cells.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.privacy.bursty_cells import BurstyCounts, bursty_cells
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.features import Feature, positive
from sottovoce.release.counts import Counts, Weights

# How bursty words are taken to be: the variance of a count is m + 2 m^2.
SIZE = 0.5
# Cells above it are read as if they were it.
LARGEST_CELL = 64


@dataclass(frozen=True, eq=False)
class ExpectedCells:
    """E[f(c) | z] of every word, for z at most 0, 1, 2, ...; larger cells count as the last."""

    table: Floats

    @classmethod
    def of(cls, law: NoiseLaw, means: Floats, feature: Feature, largest: int) -> "ExpectedCells":
        """Under ``law``, for words with these mean counts and cells up to ``largest``."""
        last = max(1, min(largest, LARGEST_CELL))
        return cls(bursty_cells(law, BurstyCounts(means, SIZE), last, feature.of_counts).expected)

    @property
    def at_zero(self) -> Floats:
        """Of a cell that is at most 0, word by word."""
        return np.asarray(self.table[:, 0])

    def above_zero(self, cells: Counts) -> Weights:
        """How much more each cell says than one at 0 does: nothing, unless it is positive."""
        kept = positive(cells)
        place = np.minimum(kept.data, self.table.shape[1] - 1)
        values = self.table[kept.indices, place] - self.at_zero[kept.indices]
        return sparse.csr_array((values, kept.indices, kept.indptr), shape=cells.shape)

    def scores(self, cells: Counts, weights: Floats, intercepts: Floats) -> Floats:
        """Of linear scores (words x classes) at the expected features."""
        return np.asarray(self.above_zero(cells) @ weights + (intercepts + self.at_zero @ weights))


@dataclass(frozen=True, eq=False)
class CellLikelihoods:
    """ln P(clip(z, 0, Y) | class, word), classes x words x cells; the last cell is Y or more."""

    tables: Floats

    @classmethod
    def of(cls, law: NoiseLaw, means: Floats, largest: int) -> "CellLikelihoods":
        """For counts of these means (classes x words), and Y = ``largest``."""
        return cls(bursty_cells(law, BurstyCounts(means, SIZE), largest).logs)

    def scores(self, cells: Counts) -> Floats:
        """The logarithm of P(all cells of the document | class), documents x classes."""
        kept = positive(cells)
        place = np.minimum(kept.data, self.tables.shape[2] - 1)
        return np.stack([_summed(kept, place, table) for table in self.tables], axis=1)


def _summed(kept: Counts, place: Integers, table: Floats) -> Floats:
    values = table[kept.indices, place] - table[kept.indices, 0]
    above = sparse.csr_array((values, kept.indices, kept.indptr), shape=kept.shape)
    return np.asarray(above.sum(axis=1) + table[:, 0].sum())
