"""What a released cell says of a bursty count: the law of clip(z, 0, Y), and E[f(c) | z].

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

import numpy as np
from scipy import special

from sottovoce.arrays import Floats
from sottovoce.privacy.noise_law import NoiseLaw

_NEGLIGIBLE = 1e-12
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
        return min(_MOST_TERMS, largest + 8 + int(math.log(_NEGLIGIBLE) / math.log(ratio)))

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
