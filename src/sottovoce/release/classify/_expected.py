"""What a released cell says of its count: tables of E[f(c) | z] and of ln P(z) for bursty counts.

Counts are negative binomial with mean m and variance m + m^2/size: words come in bursts. Cells at
or below 0 all say the same (P(z | c) is alpha^(c - z) there, so that z cancels), so that the work
is in the positive cells.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from sottovoce._arrays import Floats
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts, Weights
from sottovoce.release.classify._features import Feature, positive

# How bursty words are taken to be: the variance of a count is m + 2 m^2.
SIZE = 0.5
# Cells above it are read as if they were it.
LARGEST_CELL = 64
_NEGLIGIBLE = 1e-12
_MOST_TERMS = 2_000


def negative_binomial(means: Floats, terms: int, size: float = SIZE) -> Floats:
    """P(c) for c = 0 .. terms - 1, along a last axis."""
    c = np.arange(terms)
    m = np.asarray(means)[..., None]
    ways = special.gammaln(c + size) - special.gammaln(size) - special.gammaln(c + 1)
    return np.asarray(np.exp(ways + size * np.log(size / (size + m)) + c * np.log(m / (size + m))))


def terms_for(means: Floats, largest: int, size: float = SIZE) -> int:
    """How many counts to sum over until the rest does not matter."""
    ratio = float(np.max(means)) / (float(np.max(means)) + size)
    return min(_MOST_TERMS, largest + 8 + int(np.log(_NEGLIGIBLE) / np.log(ratio)))


@dataclass(frozen=True, eq=False)
class ExpectedCells:
    """E[f(c) | z] of every word, for z at most 0, 1, 2, ...; larger cells count as the last."""

    table: Floats

    @classmethod
    def of(cls, law: NoiseLaw, means: Floats, feature: Feature, largest: int) -> "ExpectedCells":
        """Under ``law``, for words with these mean counts and cells up to ``largest``."""
        last = max(1, min(largest, LARGEST_CELL))
        prior = negative_binomial(means, terms_for(means, last))
        counts = np.arange(prior.shape[1])
        noise = law.probability(np.arange(last + 1)[:, None] - counts)
        weighted = (prior * feature.of_counts(counts)) @ noise.T
        return cls(weighted / (prior @ noise.T))

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
