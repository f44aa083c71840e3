"""How far a published count can be from the true one: margins with a stated coverage.

A margin t of "at least k" says: the true number of people in bucket k or higher lies below the
estimate + t, and likewise above the estimate - t, each with probability (1 + coverage)/2. Only the
noise's known law enters; nothing is estimated from the data.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from sottovoce.advisor.rank.one_hot import OneHotNoise

Floats = NDArray[np.float64]


def noise_margins(noise: OneHotNoise, reports: int, coverage: float) -> Floats:
    """Margins of sums of reports that each carry noise, for "at least k", k = 0 to B.

    The number of reports is known, so the estimates are moved to sum to it: the sum over m of the
    B buckets then has the variance n sigma^2 m (B - m)/B. It is a sum of n B independent terms, so
    the normal law serves from the 100 reports on that a histogram needs at least.
    """
    return norm.ppf((1 + coverage) / 2) * deviations(noise, reports)


def deviations(noise: OneHotNoise, reports: int) -> Floats:
    """The standard deviation of the estimated number of people in bucket k or higher."""
    above = noise.buckets - np.arange(noise.buckets + 1)
    share = above * (noise.buckets - above) / noise.buckets
    return np.sqrt(reports * noise.variance * share)


def share_margins(rate: float, buckets: int, coverage: float) -> Floats:
    """Margins of an opened sum with two servers' noise in every bucket, for "at least k".

    The fewer of the buckets above and below are added, m of them, with 2m terms of noise; the law
    of their sum is computed, as the normal one is too light in its tails for few terms.
    """
    above = buckets - np.arange(buckets + 1)
    fewer = np.minimum(above, buckets - above)
    known = {int(m): _quantile(rate, 2 * int(m), (1 + coverage) / 2) for m in np.unique(fewer)}
    return np.array([known[int(m)] for m in fewer], dtype=np.float64)


@lru_cache(maxsize=1024)
def _quantile(rate: float, terms: int, chance: float) -> int:
    """The least t with P(sum of ``terms`` two-sided geometric draws <= t) >= ``chance``.

    By the characteristic function (1 - a)^2 / (1 - 2 a cos(w) + a^2) of one draw, a = exp(-rate).
    """
    if not terms:
        return 0
    alpha = math.exp(-rate)
    deviation = math.sqrt(2 * alpha * terms) / (1 - alpha)
    size = 1 << math.ceil(math.log2(80 * deviation + 80))
    angle = 2 * np.pi * np.arange(size) / size
    one = (1 - alpha) ** 2 / (1 - 2 * alpha * np.cos(angle) + alpha**2)
    law = np.maximum(np.fft.ifft(one**terms).real, 0)
    ordered = np.concatenate([law[size // 2 :], law[: size // 2]])
    return int(np.searchsorted(np.cumsum(ordered), chance) - size // 2)
