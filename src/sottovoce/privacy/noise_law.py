"""What a recipient knows of a released cell: the law of its noise, and a count's under it.

A cell is z = c + noise, with P(noise = k) = (1 - alpha)/(1 + alpha) alpha^|k| and alpha = exp(-r)
for a public rate r. With c ~ Poisson(mu), each sum below has positive terms only and is summed
outwards from its largest, so that nothing cancels or underflows:

    P(z) = (1 - alpha)/(1 + alpha) e^-mu (sum_{c <= z} alpha^(z-c) mu^c/c!
                                          + sum_{c > z} alpha^(c-z) mu^c/c!)
    E[c | z] = the same sums with c before each term, over them; alpha mu wherever z <= 0.

Figures to read a release by, in floating point; the noise itself is drawn exactly, elsewhere.

What a released cell says of a bursty count: the law of clip(z, 0, Y), and E[f(c) | z].

A word's counts are negative binomial with mean m and variance m + m^2/size: words come in bursts.
A cell is z = c + noise (`NoiseLaw`). With p the law of the counts, alpha = exp(-r) and

    below(z) = sum_{c <= z} alpha^(z-c) p(c) = p(z) + alpha below(z - 1)
    above(z) = sum_{c >= z} alpha^(c-z) p(c) = p(z) + alpha above(z + 1)

    P(z <= 0) = above(0)/(1 + alpha)
    P(z = k)  = (1 - alpha)/(1 + alpha) (below(k) + alpha above(k + 1))
    P(z >= Y) = (alpha below(Y - 1) + (1 + alpha) P(c >= Y) - alpha above(Y))/(1 + alpha).

E[f(c) | z] is the same sum with f(c) before each term, over it. Cells at or below 0 all say the
same: P(z | c) is alpha^(c - z) there, and z cancels. ``below`` is summed in logarithms and
``above`` in units of p(z), so that nothing underflows, however rare the word and high the rate.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

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


_NEGLIGIBLE_TERM = 1e-12
_MOST_TERMS = 20_000
_RAREST = 1e-300


@dataclass(frozen=True)
class BurstyCounts:
    """Counts of words whose means are known, negative binomial of one ``size``.

    >>> counts = BurstyCounts(np.array([0.2, 3.0]), size=0.5)
    >>> counts.variances
    array([ 0.28, 21.  ])
    """

    means: Floats
    """Of each word, in any shape."""
    size: float
    """How even they are: the variance of a count is m + m^2/size."""

    @property
    def variances(self) -> Floats:
        """Of each word's count: m + m^2/size."""
        return np.asarray(self.means + self.means**2 / self.size)

    def log_chance(self, count: int) -> Floats:
        """The logarithm of P(c = count), of each word."""
        ways = math.lgamma(count + self.size) - math.lgamma(self.size) - math.lgamma(count + 1)
        return np.asarray(
            ways + self.size * np.log1p(-self._repeat_chance) + count * np.log(self._repeat_chance)
        )

    def following(self, count: int) -> Floats:
        """P(c = count + 1)/P(c = count), of each word."""
        return np.asarray(self._repeat_chance * ((count + self.size) / (count + 1)))

    def terms(self, largest: int) -> int:
        """How many counts to sum over, for cells up to ``largest``, until the rest is nothing."""
        ratio = float(self._repeat_chance.max(initial=_RAREST))
        return min(_MOST_TERMS, largest + 8 + int(math.log(_NEGLIGIBLE_TERM) / math.log(ratio)))

    @property
    def _repeat_chance(self) -> Floats:
        means = np.maximum(self.means, _RAREST)
        return np.asarray(means / (means + self.size))


@dataclass(frozen=True, eq=False)
class BurstyCells:
    """The cells 0 (or less), 1, .. Y of each word; the last axis runs over the cells."""

    logs: Floats
    """ln P(clip(z, 0, Y))."""
    expected: Floats
    """E[f(c) | z]; the last is that of z = Y."""
    beyond: Floats
    """E[f(c) | z >= Y], of each word."""

    def gains(self, variances: Floats) -> Floats:
        """Cov(e, c)/Var(c) with e what a clipped cell is read as, where f is the count itself."""
        chances, told = np.exp(self.logs), self.expected.copy()
        told[..., -1] = self.beyond
        means = (chances * told).sum(axis=-1), (chances * self.expected).sum(axis=-1)
        shared = (chances * told * self.expected).sum(axis=-1) - means[0] * means[1]
        return np.asarray(shared / variances)


def bursty_cells(
    law: NoiseLaw,
    counts: BurstyCounts,
    largest: int,
    values: Callable[[Floats], Floats] = np.asarray,
) -> BurstyCells:
    """The law of cells up to Y = ``largest`` >= 1, and what they say of f = ``values``."""
    terms = counts.terms(largest)
    f = np.asarray(values(np.arange(terms + 1.0)))
    above = _sums_above(counts, f, law.alpha, terms, largest)
    logs, expected = [above[0].log - math.log1p(law.alpha)], [above[0].mean]
    below = _Sum(counts.log_chance(0), np.broadcast_to(f[0], counts.means.shape))
    for cell in range(1, largest + 1):
        last, chance = below.scale(-law.rate), counts.log_chance(cell)
        below = last + _Sum(chance, np.broadcast_to(f[cell], chance.shape))
        both = below + above[cell + 1].scale(-law.rate)
        logs.append(both.log + math.log(law.most_common))
        expected.append(both.mean)
    tail = _sums_above(counts, f, 1.0, terms, largest)[largest]
    clipped = last.scale(-math.log1p(law.alpha)) + tail.less(
        above[largest].scale(-law.rate - math.log1p(law.alpha))
    )
    logs[-1] = clipped.log
    return BurstyCells(np.stack(logs, axis=-1), np.stack(expected, axis=-1), clipped.mean)


@dataclass(frozen=True, eq=False)
class _Sum:
    """A sum of positive terms, by its logarithm, and the mean of f under them."""

    log: Floats
    mean: Floats

    def __add__(self, other: "_Sum") -> "_Sum":
        share = special.expit(other.log - self.log)
        log = np.logaddexp(self.log, other.log)
        return _Sum(log, self.mean + share * (other.mean - self.mean))

    def less(self, other: "_Sum") -> "_Sum":
        """Without ``other``, which is at most half of it."""
        share = np.exp(other.log - self.log)
        log = self.log + np.log1p(-share)
        return _Sum(log, (self.mean - share * other.mean) / (1 - share))

    def scale(self, log: float) -> "_Sum":
        """All terms times e^log."""
        return _Sum(self.log + log, self.mean)


def _sums_above(
    counts: BurstyCounts, f: Floats, alpha: float, terms: int, largest: int
) -> "list[_Sum]":
    """above(z) for z = 0 .. largest + 1."""
    ratio, mean = np.ones(counts.means.shape), np.broadcast_to(f[terms], counts.means.shape)
    found = []
    for z in range(terms - 1, -1, -1):
        further = alpha * counts.following(z) * ratio
        ratio = 1 + further
        mean = (f[z] + further * mean) / ratio
        if z <= largest + 1:
            found.append(_Sum(counts.log_chance(z) + np.log(ratio), mean))
    return found[::-1]
