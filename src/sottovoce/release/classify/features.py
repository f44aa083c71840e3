"""What of a cell is summed: its count, or one bit of it; both unbiased under the noise's law.

Counts: E[z | c] = c, with noise of variance v. Bits: b = 1[z >= 1] is 1 with probability
mu = alpha/(1 + alpha) where c = 0, and (b - mu)/(1 - 2 mu) has the mean

    g(c) = (1 - alpha^c)/(1 - alpha),    g(0) = 0, g(1) = 1,

and noise of variance at most alpha/(1 - alpha)^2 = v/2, attained at c = 0 and c = 1.

Bursts: where a word stands at all, let it stand c times with probability (1 - q) q^(c-1). Then

    h(z) = sum_c (1 - q) q^(c-1) P(z | c)/P(z | 0)

is the most powerful statistic for a rare word's presence; it is a bit for q = 0. Less its mean at
c = 0 and scaled so that one token counts 1, its mean is again a known function of c.

What a released cell says of its count: tables of E[f(c) | z] and of ln P(z) for bursty counts.

Cells at or below 0 all say the same, so that the work is in the positive cells.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.parsing import check_choice
from sottovoce.privacy.noise_law import BurstyCounts, NoiseLaw, bursty_cells
from sottovoce.release.counts import Counts, Weights

# The share of a word's tokens in a document that more follow; less at high rates, where h would
# otherwise grow without bound.
BURST = 0.3
_SAFE = 0.6
MOST_TOKENS = 128


class Feature(Protocol):
    """A value of a count that can be estimated without bias from its released cell."""

    @property
    def variance(self) -> float:
        """The noise of one cell's estimate, at most."""

    def of_counts(self, counts: NDArray[np.number]) -> Floats:
        """The values themselves."""

    def estimate(self, cells: Counts) -> tuple[Weights, float]:
        """(stored, shift): the estimates are the stored cells' values, plus ``shift`` in all."""


@dataclass(frozen=True)
class CountFeature:
    """The count itself."""

    law: NoiseLaw

    @property
    def variance(self) -> float:
        """Of the noise."""
        return self.law.variance

    def of_counts(self, counts: NDArray[np.number]) -> Floats:
        """The counts."""
        return np.asarray(counts, np.float64)

    def estimate(self, cells: Counts) -> tuple[Weights, float]:
        """The released cells."""
        return cells.astype(np.float64), 0.0


@dataclass(frozen=True)
class BitFeature:
    """Whether the released cell is positive, debiased and scaled so that one token counts 1."""

    law: NoiseLaw

    @property
    def variance(self) -> float:
        """Half of the noise's."""
        return self.law.variance / 2

    def of_counts(self, counts: NDArray[np.number]) -> Floats:
        """The values of g."""
        rate = self.law.rate
        return np.asarray(np.expm1(-rate * np.asarray(counts, np.float64)) / np.expm1(-rate))

    def estimate(self, cells: Counts) -> tuple[Weights, float]:
        """(b - mu)/(1 - 2 mu) = b (1 + alpha)/(1 - alpha) - alpha/(1 - alpha)."""
        alpha = self.law.alpha
        bits = positive(cells).astype(np.float64)
        bits.data[:] = (1 + alpha) / (1 - alpha)
        return bits, -alpha / (1 - alpha)


@dataclass(frozen=True)
class BurstFeature:
    """The likelihood that a word stands in the document, over that it does not."""

    law: NoiseLaw

    @property
    def variance(self) -> float:
        """Of an empty cell."""
        mean, scale = self._mean_and_scale
        squares = self._means(self._statistic**2, np.zeros(1))[0]
        return float((squares - mean**2) / scale**2)

    def of_counts(self, counts: NDArray[np.number]) -> Floats:
        """The mean of what is released for a count; that of MOST_TOKENS for any larger one."""
        mean, scale = self._mean_and_scale
        table = (self._means(self._statistic, np.arange(MOST_TOKENS + 1.0)) - mean) / scale
        return np.asarray(table[np.minimum(counts, MOST_TOKENS).astype(np.int64)])

    def estimate(self, cells: Counts) -> tuple[Weights, float]:
        """The statistic of positive cells; it is 0 in all others."""
        mean, scale = self._mean_and_scale
        kept = positive(cells)
        values = self._statistic[np.minimum(kept.data, MOST_TOKENS)] / scale
        rows = sparse.csr_array((values, kept.indices, kept.indptr), shape=kept.shape)
        return rows, -mean / scale

    @cached_property
    def _statistic(self) -> Floats:
        """h(z) - h(0), for z = 0 .. MOST_TOKENS."""
        tokens, cells = np.arange(1, MOST_TOKENS), np.arange(MOST_TOKENS + 1)[:, None]
        q = min(BURST, _SAFE * self.law.alpha)
        shares = (1 - q) * q ** (tokens - 1.0)
        ratios = np.exp(self.law.rate * (cells - np.abs(cells - tokens)))
        values = ratios @ shares
        return np.asarray(values - values[0])

    @cached_property
    def _mean_and_scale(self) -> tuple[float, float]:
        empty, one = self._means(self._statistic, np.array([0.0, 1.0]))
        return float(empty), float(one - empty)

    def _means(self, statistic: Floats, counts: Floats) -> Floats:
        """E of a statistic of the cell, given each of the counts."""
        cells = np.arange(1, MOST_TOKENS)
        inner = self.law.probability(cells - counts[:, None]) @ statistic[1:-1]
        high = self.law.at_least(MOST_TOKENS - counts)
        return np.asarray(inner + high * statistic[-1])


FEATURES: dict[str, type[BitFeature] | type[BurstFeature] | type[CountFeature]] = {
    "bits": BitFeature,
    "bursts": BurstFeature,
    "counts": CountFeature,
}


def feature_of(kind: str, law: NoiseLaw) -> Feature:
    """The feature of that name."""
    check_choice("features", kind, FEATURES)
    return FEATURES[kind](law)


def positive(cells: Counts) -> Counts:
    """The cells above 0, the only ones that are told apart."""
    keep = cells.data > 0
    ends = np.concatenate([[0], np.cumsum(keep)])[cells.indptr]
    return sparse.csr_array((cells.data[keep], cells.indices[keep], ends), shape=cells.shape)


def with_values(counts: Counts, feature: Feature) -> Weights:
    """The feature of every stored count; the others have the value 0."""
    values = feature.of_counts(counts.data)
    return sparse.csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


# How bursty words are taken to be: the variance of a count is m + 2 m^2.
SIZE = 0.5
# Cells above it are read as if they were it.
LARGEST_CELL = 64


@dataclass(frozen=True, eq=False)
class ExpectedCells:
    """E[f(c) | z] of every word, for z at most 0, 1, 2, ...; larger cells count as the last."""

    table: Floats

    @classmethod
    def tabulate(
        cls, law: NoiseLaw, means: Floats, feature: Feature, largest: int
    ) -> "ExpectedCells":
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
    def tabulate(cls, law: NoiseLaw, means: Floats, largest: int) -> "CellLikelihoods":
        """For counts of these means (classes x words), and Y = ``largest``."""
        return cls(bursty_cells(law, BurstyCounts(means, SIZE), largest).logs)

    def scores(self, cells: Counts) -> Floats:
        """The logarithm of P(all cells of the document | class), documents x classes."""
        kept = positive(cells)
        place = np.minimum(kept.data, self.tables.shape[2] - 1)
        return np.stack([_sum_logs(kept, place, table) for table in self.tables], axis=1)


def _sum_logs(kept: Counts, place: Integers, table: Floats) -> Floats:
    values = table[kept.indices, place] - table[kept.indices, 0]
    above = sparse.csr_array((values, kept.indices, kept.indptr), shape=kept.shape)
    return np.asarray(above.sum(axis=1) + table[:, 0].sum())
