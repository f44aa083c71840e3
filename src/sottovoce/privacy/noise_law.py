"""What a recipient knows of a released cell: the law of its noise, and a count's under it.

A cell is z = c + noise, with P(noise = k) = (1 - alpha)/(1 + alpha) alpha^|k| and alpha = exp(-r)
for a public rate r. With c ~ Poisson(mu), each sum below has positive terms only and is summed
outwards from its largest, so that nothing cancels or underflows:

    P(z) = (1 - alpha)/(1 + alpha) e^-mu (sum_{c <= z} alpha^(z-c) mu^c/c!
                                          + sum_{c > z} alpha^(c-z) mu^c/c!)
    E[c | z] = the same sums with c before each term, over them; alpha mu wherever z <= 0.

Figures to read a release by, in floating point; the noise itself is drawn exactly, elsewhere.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, kernel
from sottovoce.errors import InputError, ParameterError
from sottovoce.privacy._laws import Gap, exp_minus
from sottovoce.privacy.exact import Exact, float_up, positive

_NEGLIGIBLE = 1e-17
_LARGEST_EXPONENT = 600.0


@dataclass(frozen=True)
class NoiseLaw:
    """Two-sided geometric noise at ``rate``, as whoever reads a release knows it.

    >>> law = NoiseLaw(1.0)
    >>> round(law.variance, 3), round(float(law.probability(0)), 3)
    (1.841, 0.462)
    >>> law.expected_counts([-2, 0, 1, 4], 0.5).round(3)  # a word of mean 0.5
    array([0.184, 0.184, 0.655, 1.314])
    """

    rate: float
    """r, in nats a cell."""

    def __post_init__(self) -> None:
        if not 0 < self.rate < math.inf:
            msg = f"The rate of the noise must be above 0 and finite, not {self.rate}."
            raise InputError(msg)

    @property
    def alpha(self) -> float:
        """exp(-r); above 0 whatever the rate, so that no figure divides by a noise of none."""
        return math.exp(-min(self.rate, _LARGEST_EXPONENT))

    @property
    def variance(self) -> float:
        """Of the noise: 2 alpha/(1 - alpha)^2."""
        return 2 * self.alpha / math.expm1(-self.rate) ** 2

    @property
    def fourth_moment(self) -> float:
        """E[noise^4] = 2 alpha (1 + 10 alpha + alpha^2)/(1 - alpha)^4."""
        alpha = self.alpha
        return 2 * alpha * (1 + 10 * alpha + alpha * alpha) / math.expm1(-self.rate) ** 4

    @property
    def most_common(self) -> float:
        """P(noise = 0) = (1 - alpha)/(1 + alpha), which no other value exceeds."""
        return math.tanh(self.rate / 2)

    def probability(self, noise: ArrayLike) -> Floats:
        """P(noise = k)."""
        return np.asarray(self.most_common * np.exp(-self.rate * np.abs(noise)))

    def at_least(self, noise: ArrayLike) -> Floats:
        """P(noise >= k): alpha^k/(1 + alpha) for k >= 1, else 1 - alpha^(1-k)/(1 + alpha)."""
        k = np.asarray(noise)
        tail = np.exp(-self.rate * np.where(k >= 1, k, 1 - k)) / (1 + self.alpha)
        return np.where(k >= 1, tail, 1 - tail)

    def log_likelihood(self, cells: ArrayLike, means: ArrayLike) -> Floats:
        """The logarithm of each cell's P(z), with counts Poisson of these means."""
        return self._read(cells, means)[0]

    def expected_counts(self, cells: ArrayLike, means: ArrayLike) -> Floats:
        """E[c | z] of each cell, with counts Poisson of these means."""
        return self._read(cells, means)[1]

    def _read(self, cells: ArrayLike, means: ArrayLike) -> tuple[Floats, Floats]:
        z, mu = np.broadcast_arrays(np.asarray(cells, np.int64), np.asarray(means, np.float64))
        if not np.all((mu >= 0) & np.isfinite(mu)):
            msg = "Means of counts must be 0 or more, and finite."
            raise InputError(msg)
        logs, expected = read_cells(np.ravel(z), np.ravel(mu), self.rate)
        return logs.reshape(z.shape), expected.reshape(z.shape)


@kernel
def read_cells(cells: NDArray[np.int64], means: Floats, rate: float) -> tuple[Floats, Floats]:
    """Both figures of each cell: ln P(z) and E[c | z]."""
    logs = np.empty(cells.size)
    expected = np.empty(cells.size)
    for i in range(cells.size):
        logs[i], expected[i] = read_cell(cells[i], means[i], rate)
    return logs, expected


@kernel
def read_cell(z: Whole, mu: float, rate: float) -> tuple[float, float]:
    """Both figures of one cell, for use in other kernels: ln P(z) and E[c | z]."""
    scale = math.log(math.tanh(rate / 2))
    if mu == 0:
        return scale - rate * abs(z), 0.0
    if z <= 0:
        return scale + rate * z + mu * math.expm1(-rate), math.exp(-rate) * mu
    raised = mu * math.exp(min(rate, _LARGEST_EXPONENT))
    lowered = mu * math.exp(-rate)
    below = int(min(float(z), raised))
    above = max(z + 1, int(lowered))
    low, low_mean = _outwards(below, 0, z, raised)
    high, high_mean = _outwards(above, z + 1, 1 << 60, lowered)
    low_log = below * math.log(mu) - math.lgamma(below + 1.0) - rate * (z - below)
    high_log = above * math.log(mu) - math.lgamma(above + 1.0) - rate * (above - z)
    top = max(low_log, high_log)
    low_share = low * math.exp(low_log - top)
    high_share = high * math.exp(high_log - top)
    total = low_share + high_share
    mean = (low_mean * low_share + high_mean * high_share) / total
    return scale - mu + top + math.log(total), mean


@kernel
def _outwards(start: Whole, least: Whole, most: Whole, mean: float) -> tuple[float, float]:
    """The sum of terms t_c ~ mean^c/c! over ``least``..``most``, with t_start = 1, and its mean c.

    ``start`` has the largest term, so that terms fall on both sides of it.
    """
    total = 1.0
    shift = 0.0
    term = 1.0
    c = start
    while c < most and term > _NEGLIGIBLE * total:
        c += 1
        term *= mean / c
        total += term
        shift += (c - start) * term
    term = 1.0
    c = start
    while c > least and term > _NEGLIGIBLE * total:
        term *= c / mean
        c -= 1
        total += term
        shift += (c - start) * term
    return total, start + shift / total


class HasLaw(Protocol):
    """A release, as far as its noise is concerned."""

    @property
    def law(self) -> NoiseLaw:
        """Of every cell's noise."""


Rate: TypeAlias = "float | HasLaw | None"


def law_of(rate: Rate) -> NoiseLaw:
    """The law of noise at ``rate``, or of the release that is given in its place."""
    if rate is None:
        raise ParameterError(
            "rate must be given: nats per cell, as the release's card states it, or the release."
        )
    law = getattr(rate, "law", None)
    if isinstance(law, NoiseLaw):
        return law
    given: Any = rate
    if isinstance(given, bool) or not isinstance(given, int | float | np.number):
        raise ParameterError(f"rate must be a number or a release, got {type(rate).__name__}.")
    try:
        return NoiseLaw(float(given))
    except InputError:
        raise ParameterError(f"rate must be > 0 and finite, got {given:g}.") from None


_BITS = 128


def noise_deviation(rate: Exact) -> float:
    """The standard deviation of a count's noise: sigma^2 = 2 alpha / (1 - alpha)^2."""
    alpha = Fraction(exp_minus(positive(rate, "rate"), _BITS).high, 1 << _BITS)
    return float(float_up(2 * alpha / (1 - alpha) ** 2) ** 0.5)


def zero_cell_chance(rate: Exact, threshold: int | None = None) -> float:
    """How likely a zero cell comes out: 2 alpha/(1 + alpha), or alpha^t/(1 + alpha) from t on."""
    return float_up(Fraction(Gap(positive(rate, "rate"), threshold).chance(_BITS).high, 1 << _BITS))


def expected_nonzeros(cells: int, stored: int, rate: Exact, threshold: int | None = None) -> int:
    """About how many cells a sparse release of ``cells`` with ``stored`` non-zeros will have.

    Shows ``stored``: for the eyes of whoever holds the corpus.
    """
    return stored + round((cells - stored) * zero_cell_chance(rate, threshold))
