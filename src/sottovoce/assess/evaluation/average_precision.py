"""Average precision, expected over ties (McSherry and Najork, ECIR 2008)."""

from functools import lru_cache

import numpy as np

from sottovoce.assess.evaluation.ties import Floats, TiedRanking


def average_precision(ranking: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, MAP for one topic.

    In a tie of n users, t of them sensitive, with s users and R sensitive ones above it, place
    s + i is sensitive with probability t/n, and then has R + 1 + (i-1)(t-1)/(n-1) sensitive users
    at or above it. Summed over i, with harmonic numbers H, the tie adds
    t/n (n d + (R + 1 - d (s + 1)) (H(s+n) - H(s))), where d = (t-1)/(n-1).
    """
    n, t, s = ranking.size, ranking.relevant, ranking.above
    before = np.cumsum(t, axis=-1) - t
    d = (t - 1.0) / np.maximum(n - 1.0, 1.0)
    d = np.where(n > 1, d, 0.0)
    harmonic = _harmonic_numbers(int(n.sum(axis=-1).max()))
    first, last = s.astype(np.intp), (s + n).astype(np.intp)
    reciprocals = harmonic[last] - harmonic[first]
    added = t / np.maximum(n, 1.0) * (n * d + (before + 1.0 - d * (s + 1.0)) * reciprocals)
    result: Floats = added.sum(axis=-1) / t.sum(axis=-1)
    return result


@lru_cache(maxsize=8)
def _harmonic_numbers(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, most + 1))])
