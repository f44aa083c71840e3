"""A peer's share of the noise, and the law of the sum of several shares."""

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from sottovoce._arrays import Integers
from sottovoce.privacy._mechanism import GeometricMechanism


def noise_share(cells: int, rate: Fraction, honest: int) -> Integers:
    """One share for each cell: those of any ``honest`` peers together are noise at ``rate``."""
    del honest
    return GeometricMechanism(rate).noise(cells).astype(np.int64)


@dataclass(frozen=True)
class SharesLaw:
    """The noise in a cell of which ``shares`` peers have given a share, each a 1/h-th.

    Attributes:
        rate: epsilon / S.
        shares: of how many peers.
        honest: h.
    """

    rate: Fraction
    shares: int
    honest: int

    @property
    def variance(self) -> float:
        """(shares/h) 2 alpha/(1 - alpha)^2, alpha = e^-rate."""
        alpha = math.exp(-float(self.rate))
        return self.shares / self.honest * 2 * alpha / math.expm1(-float(self.rate)) ** 2

    def margin(self, level: float) -> int:
        """How far the noise takes a cell, at most, with this probability."""
        return math.ceil(NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(self.variance))
