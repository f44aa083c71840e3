"""Normalised discounted cumulative gain, expected over ties.

K. Järvelin and J. Kekäläinen, Cumulated gain-based evaluation of IR techniques (TOIS 2002), with
the discount 1/log2(1 + place); ties as in McSherry and Najork (ECIR 2008).
"""

from functools import lru_cache

import numpy as np

from sottovoce.assess.evaluation.ties import Floats, TiedRanking


def discounted_gain(ranking: TiedRanking) -> Floats:
    """Sum over places of the expected grade there, discounted."""
    discounts = _summed_discounts(int(ranking.size.sum(axis=-1).max()))
    first = ranking.above.astype(np.intp)
    last = first + ranking.size.astype(np.intp)
    mean = ranking.gain / np.maximum(ranking.size, 1.0)
    total: Floats = (mean * (discounts[last] - discounts[first])).sum(axis=-1)
    return total


def ndcg(ranking: TiedRanking, ideal: TiedRanking) -> Floats:
    """R-Susceptibility, Section 5.1.5, NDCG: linear gain on the mean judgement.

    ``ideal`` ranks the same users by their grades.
    """
    return discounted_gain(ranking) / discounted_gain(ideal)


@lru_cache(maxsize=8)
def _summed_discounts(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(1.0 / np.log2(np.arange(2, most + 2)))])
