"""The likelihood of a released document's cells under each class."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats, Integers
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts
from sottovoce.release.classify._expected import negative_binomial, terms_for
from sottovoce.release.classify._features import at_least, positive


@dataclass(frozen=True, eq=False)
class CellLikelihoods:
    """ln P(clip(z, 0, Y) | class, word), classes x words x cells; the last cell is Y or more."""

    tables: Floats

    @classmethod
    def of(cls, law: NoiseLaw, means: Floats, largest: int) -> "CellLikelihoods":
        """For counts of these means (classes x words), and Y = ``largest``."""
        return cls(np.stack([_logs(law, row, largest) for row in means]))

    def scores(self, cells: Counts) -> Floats:
        """The logarithm of P(all cells of the document | class), documents x classes."""
        kept = positive(cells)
        place = np.minimum(kept.data, self.tables.shape[2] - 1)
        return np.stack([_summed(kept, place, table) for table in self.tables], axis=1)


def _summed(kept: Counts, place: Integers, table: Floats) -> Floats:
    values = table[kept.indices, place] - table[kept.indices, 0]
    above = sparse.csr_array((values, kept.indices, kept.indptr), shape=kept.shape)
    return np.asarray(above.sum(axis=1) + table[:, 0].sum())


def _logs(law: NoiseLaw, means: Floats, largest: int) -> Floats:
    """P(z <= 0 | c) = alpha^c/(1 + alpha), then cell by cell, and what is left over."""
    prior = negative_binomial(means, terms_for(means, largest))
    counts = np.arange(prior.shape[1])
    none = np.exp(-law.rate * counts) / (1 + law.alpha)
    between = law.probability(np.arange(1, largest)[:, None] - counts)
    high = at_least(law, np.asarray(largest - counts, np.int64))
    return np.asarray(np.log(prior @ np.vstack([none, between, high]).T))
