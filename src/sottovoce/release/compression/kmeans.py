"""Balanced k-means: clusters whose sizes differ by at most one."""

import numpy as np

from sottovoce.release.compression.balance import balanced_assignment
from sottovoce.release.compression.mapping import even_sizes
from sottovoce.release.counts import Floats, Integers

MOST_ROUNDS = 50


def balanced_clusters(points: Floats, clusters: int, generator: np.random.Generator) -> Integers:
    """The cluster of each point: Lloyd's rounds with a balanced assignment in each.

    Neither step raises the sum of squared distances, so the rounds end at a local optimum
    (or after `MOST_ROUNDS`). Every cluster has floor or ceil of points / clusters members.
    """
    sizes = even_sizes(len(points), clusters)
    centres = spread_centres(points, clusters, generator)
    label = balanced_assignment(squared_distances(points, centres), sizes)
    for _ in range(MOST_ROUNDS):
        centres = cluster_means(points, label, clusters)
        better = balanced_assignment(squared_distances(points, centres), sizes)
        if np.array_equal(better, label):
            break
        label = better
    return label


def spread_centres(points: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    """k-means++: each next centre is a point drawn by its squared distance to the nearest one."""
    chosen = [int(generator.integers(len(points)))]
    nearest = np.full(len(points), np.inf)
    while len(chosen) < clusters:
        nearest = np.minimum(nearest, squared_distances(points, points[chosen[-1:]])[:, 0])
        nearest[chosen] = 0
        total = nearest.sum()
        # When every point coincides with a centre any one will do.
        weights = nearest / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen.append(int(generator.choice(len(points), p=weights)))
    return points[chosen]


def cluster_means(points: Floats, label: Integers, clusters: int) -> Floats:
    """The mean of each cluster's points."""
    sums = np.zeros((clusters, points.shape[1]))
    np.add.at(sums, label, points)
    return sums / np.bincount(label, minlength=clusters)[:, None]


def squared_distances(points: Floats, centres: Floats) -> Floats:
    """Squared Euclidean distance of every point to every centre."""
    crossed = points @ centres.T
    squares = (points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1)[None, :]
    return np.ascontiguousarray(np.maximum(squares - 2 * crossed, 0))
