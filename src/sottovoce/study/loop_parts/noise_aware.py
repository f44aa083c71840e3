"""What an adversary who knows the noise makes of a noisy count.

A published cell is z = c + Z with P(Z = z) proportional to alpha^|z|, alpha = exp(-rate). He takes
counts of a column to be geometric, P(c) proportional to q^c, with the mean that the published
column has (noise has mean 0, so that is an unbiased estimate), and computes E[c | z].
"""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.release.counts import Counts, Floats

_LEAST_MEAN = 1e-6
_NEAR_ONE = 1e-6


def posterior_counts(published: Counts, rate: float) -> sparse.csr_array:
    """E[c | z] less E[c | 0], in every published cell: what the cell tells beyond an empty one.

    An empty cell says the same of everybody, so that only the difference can single anyone out;
    and the matrix stays as sparse as the release.
    """
    means = np.maximum(np.asarray(published.sum(axis=0)) / published.shape[0], _LEAST_MEAN)
    told = expected_count(published.data, np.exp(-rate), (means / (1 + means))[published.indices])
    empty = expected_count(np.zeros(means.size, np.int64), np.exp(-rate), means / (1 + means))
    gained = np.maximum(told - empty[published.indices], 0.0)
    counts = sparse.csr_array((gained, published.indices, published.indptr), shape=published.shape)
    counts.eliminate_zeros()
    return counts


def expected_count(z: NDArray[np.int64], alpha: float, q: Floats) -> Floats:
    """E[c | z] for a count of law (1 - q) q^c under two-sided geometric noise."""
    places = np.maximum(z, 0).astype(np.float64)
    below = q / alpha
    # Of the two orders of summation the one whose terms fall is exact to rounding.
    return np.where(
        below <= 1, _from_zero(places, below, q * alpha), _from_z(places, below, q * alpha)
    )


def _from_zero(z: Floats, ratio: Floats, tail: Floats) -> Floats:
    """Terms ratio^c up to z, then ratio^z tail^j: all relative to c = 0."""
    x = _off_one(np.minimum(ratio, 1.0))
    last = x**z
    weight = (1 - last * x) / (1 - x)
    first = x * (1 - (z + 1) * last + z * last * x) / (1 - x) ** 2
    beyond = last * tail / (1 - tail)
    return (first + beyond * (z + 1 / (1 - tail))) / (weight + beyond)


def _from_z(z: Floats, ratio: Floats, tail: Floats) -> Floats:
    """Terms (1/ratio)^j for c = z - j, then tail^j: all relative to c = z."""
    x = _off_one(1 / np.maximum(ratio, 1.0))
    last = x**z
    weight = (1 - last * x) / (1 - x)
    short = x * (1 - (z + 1) * last + z * last * x) / (1 - x) ** 2
    beyond = tail / (1 - tail)
    return (z * weight - short + beyond * (z + 1 / (1 - tail))) / (weight + beyond)


def _off_one(x: Floats) -> Floats:
    return np.minimum(x, 1 - _NEAR_ONE)
