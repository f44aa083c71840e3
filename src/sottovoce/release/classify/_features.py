"""What of a cell is summed: its count, or one bit of it; both unbiased under the noise's law.

Counts: E[z | c] = c, with noise of variance v. Bits: b = 1[z >= 1] is 1 with probability
mu = alpha/(1 + alpha) where c = 0, and (b - mu)/(1 - 2 mu) has the mean

    g(c) = (1 - alpha^c)/(1 - alpha),    g(0) = 0, g(1) = 1,

and noise of variance at most alpha/(1 - alpha)^2 = v/2, attained at c = 0 and c = 1.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.errors import check_choice
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts, Weights

Kind: TypeAlias = Literal["bits", "counts"]


class Feature(Protocol):
    """A value of a count that can be estimated without bias from its released cell."""

    @property
    def variance(self) -> float:
        """The noise of one cell's estimate, at most."""

    def of_counts(self, counts: NDArray[np.number]) -> Floats:
        """The values themselves."""

    def released(self, cells: Counts) -> tuple[Weights, float]:
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

    def released(self, cells: Counts) -> tuple[Weights, float]:
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

    def released(self, cells: Counts) -> tuple[Weights, float]:
        """(b - mu)/(1 - 2 mu) = b (1 + alpha)/(1 - alpha) - alpha/(1 - alpha)."""
        alpha = self.law.alpha
        bits = positive(cells).astype(np.float64)
        bits.data[:] = (1 + alpha) / (1 - alpha)
        return bits, -alpha / (1 - alpha)


FEATURES: dict[str, type[BitFeature] | type[CountFeature]] = {
    "bits": BitFeature,
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
