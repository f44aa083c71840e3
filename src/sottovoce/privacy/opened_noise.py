"""What a reader of an opened sum knows of its noise: the law of several shares together.

m shares of 1/h at the rate r sum to K - K' with K, K' negative binomial of shape s = m/h. With
alpha = exp(-r) and rho_z = P(z)/P(z - 1), from the generating function
((1 - alpha)^2 / ((1 - alpha x)(1 - alpha/x)))^s follows

    rho_z = alpha (z - 1 + s) / ((1 + alpha^2) z - alpha (z + 1 - s) rho_{z+1})

which is computed from far out inwards: nothing cancels, and errors die out.

Figures to read a sum by, in floating point; shares are drawn exactly, elsewhere.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.privacy._laws import Enclosure
from sottovoce.privacy.exact import Exact, positive, positive_integer
from sottovoce.privacy.shares import NegativeBinomial

# exp(-60) < 10^-26: what lies beyond is nothing beside a float's rounding.
_REACH_NATS = 60
_GUARD_BITS = 24


@dataclass(frozen=True, init=False)
class SharesLaw:
    """The law of ``shares`` shares of 1/``among`` together, at ``rate`` nats per unit.

    >>> law = SharesLaw("1/4", shares=4, among=3)
    >>> round(law.variance, 2), law.probability([-1, 0, 1]).round(4).tolist()
    (42.45, [0.0811, 0.0909, 0.0811])
    """

    rate: Fraction
    shape: Fraction

    def __init__(self, rate: Exact, *, shares: int, among: int) -> None:
        h = positive_integer(among, "among")
        object.__setattr__(self, "rate", positive(rate, "rate"))
        object.__setattr__(self, "shape", Fraction(positive_integer(shares, "shares"), h))

    @property
    def alpha(self) -> float:
        """exp(-r)."""
        return math.exp(-float(self.rate))

    @property
    def variance(self) -> float:
        """2 s alpha/(1 - alpha)^2."""
        return 2 * float(self.shape) * self.alpha / math.expm1(-float(self.rate)) ** 2

    @property
    def fourth_moment(self) -> float:
        """E[Z^4] = 3 variance^2 + 2 s alpha (1 + 4 alpha + alpha^2)/(1 - alpha)^4."""
        alpha, fall = self.alpha, math.expm1(-float(self.rate)) ** 4
        excess = 2 * float(self.shape) * alpha * (1 + 4 * alpha + alpha * alpha) / fall
        return 3 * self.variance**2 + excess

    @property
    def most_common(self) -> float:
        """P(Z = 0), which no other value exceeds."""
        return float(self._masses[0])

    @property
    def reach(self) -> int:
        """How far from 0 values are told from impossible ones."""
        return self._masses.size - 1

    def probability(self, noise: ArrayLike) -> Floats:
        """P(Z = z), of each."""
        distance = np.abs(np.asarray(noise, np.int64))
        return np.where(distance > self.reach, 0.0, self._masses[np.minimum(distance, self.reach)])

    def at_least(self, noise: ArrayLike) -> Floats:
        """P(Z >= z), of each."""
        z = np.asarray(noise, np.int64)
        tail = self._tails[np.minimum(np.where(z >= 1, z, 1 - z), self.reach + 1)]
        return np.where(z >= 1, tail, 1 - tail)

    def enclosures(self, reach: int, bits: int = 128) -> list[tuple[Fraction, Fraction]]:
        """For each z = 0..``reach`` two rationals between which P(Z = z) provably lies.

        P(K >= n) <= 2^s e^(-rn/2) (Chernoff) tells how far to sum, and (1 - alpha)^s, from where
        masses grow, how many bits more to begin with.
        """
        law = NegativeBinomial(
            self.rate, self.shape, reach + int(2 * (bits + self.shape) // self.rate) + 2
        )
        working = bits + _GUARD_BITS * (1 + math.ceil(self.shape))
        return [_bounds_of(mass, working) for mass in law.difference(reach, working)]

    @cached_property
    def _masses(self) -> Floats:
        """P(Z = z) for z = 0, 1, ..., `reach`."""
        s, alpha = float(self.shape), self.alpha
        farthest = math.ceil((_REACH_NATS + 8 * s) / float(self.rate)) + 2
        ratios = np.ones(farthest + 1)
        ratio = alpha
        for z in range(farthest, 0, -1):
            ratio = alpha * (z - 1 + s) / ((1 + alpha * alpha) * z - alpha * (z + 1 - s) * ratio)
            ratios[z] = ratio
        relative = np.cumprod(ratios)
        return np.asarray(relative / (2 * relative.sum() - 1))

    @cached_property
    def _tails(self) -> Floats:
        """P(Z >= z) for z = 0, 1, ..., `reach` + 1."""
        return np.append(np.cumsum(self._masses[::-1])[::-1], 0.0)


def _bounds_of(mass: Enclosure, bits: int) -> tuple[Fraction, Fraction]:
    return Fraction(mass.low, 1 << bits), Fraction(mass.high, 1 << bits)
