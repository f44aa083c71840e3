"""The likelihood of a released document's cells under each class."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats, Integers
from sottovoce.privacy._bursty_cells import BurstyCounts, bursty_cells
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts
from sottovoce.release.classify._expected import SIZE
from sottovoce.release.classify._features import positive


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
