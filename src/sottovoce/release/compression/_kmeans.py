"""Balanced k-means: clusters whose sizes differ by at most one.

Each round needs the cheapest assignment of points to clusters of fixed sizes: the transportation
problem, solved exactly by successive shortest paths on the graph of clusters. Each point starts in
its cheapest cluster; while a cluster is over its size, the cheapest chain of moves (a to b, b to c,
...) from some overfull cluster to some underfull one is made. Same optimum as
`scipy.optimize.linear_sum_assignment` on repeated clusters, without its M x M matrix.
"""

import numpy as np

from sottovoce.arrays import Floats, Integers
from sottovoce.compiled import kernel
from sottovoce.release.compression.word_map import even_sizes

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


@kernel
def balanced_assignment(costs: Floats, sizes: Integers) -> Integers:
    """The cluster of each point (row of ``costs``): exactly ``sizes[k]`` points in cluster k."""
    points, clusters = costs.shape
    label = np.empty(points, dtype=np.int64)
    excess = -sizes
    for i in range(points):
        label[i] = np.argmin(costs[i])
        excess[label[i]] += 1
    move = np.full((clusters, clusters), np.inf)
    mover = np.full((clusters, clusters), -1)
    for i in range(points):
        offer(i, label[i], costs, move, mover)
    potential = np.zeros(clusters)
    distance, previous = np.empty(clusters), np.empty(clusters, dtype=np.int64)
    for _ in range(points):
        target = cheapest_chain(move, excess, potential, distance, previous)
        if target < 0:
            break
        make_moves(target, previous, costs, label, move, mover, excess)
    return label


@kernel
def offer(i: int, home: int, costs: Floats, move: Floats, mover: Integers) -> None:
    """Let point ``i`` of cluster ``home`` be the one to move where it is the cheapest to."""
    for other in range(costs.shape[1]):
        price = costs[i, other] - costs[i, home]
        if price < move[home, other]:
            move[home, other], mover[home, other] = price, i


@kernel
def cheapest_chain(
    move: Floats, excess: Integers, potential: Floats, distance: Floats, previous: Integers
) -> int:
    """Dijkstra from all overfull clusters to the nearest underfull one; -1 when none is overfull.

    ``potential`` keeps reduced prices from being negative, and is brought up to date.
    """
    clusters = excess.size
    done = np.zeros(clusters, dtype=np.bool_)
    for k in range(clusters):
        distance[k] = 0.0 if excess[k] > 0 else np.inf
        previous[k] = -1
    while True:
        near = -1
        for k in range(clusters):
            if not done[k] and (near < 0 or distance[k] < distance[near]):
                near = k
        if near < 0 or distance[near] == np.inf:
            return -1
        if excess[near] < 0:
            break
        done[near] = True
        for k in range(clusters):
            # Rounding may leave a reduced price a hair below zero.
            step = max(move[near, k] + potential[near] - potential[k], 0.0)
            if not done[k] and distance[near] + step < distance[k]:
                distance[k], previous[k] = distance[near] + step, near
    for k in range(clusters):
        potential[k] += min(distance[k], distance[near])
    return near


@kernel
def make_moves(  # compiled code takes arrays, not objects
    target: int,
    previous: Integers,
    costs: Floats,
    label: Integers,
    move: Floats,
    mover: Integers,
    excess: Integers,
) -> None:
    """Move one point along each step of the chain that ends in ``target``."""
    excess[target] += 1
    home = target
    while previous[home] >= 0:
        # The last step first: a point that arrives must not be the one that leaves.
        into, home = home, previous[home]
        i = mover[home, into]
        label[i] = into
        find_new_movers(i, home, costs, label, move, mover)
        offer(i, into, costs, move, mover)
    excess[home] -= 1


@kernel
def find_new_movers(  # compiled code takes arrays, not objects
    gone: int, home: int, costs: Floats, label: Integers, move: Floats, mover: Integers
) -> None:
    """Replace ``gone`` wherever it was the cheapest point to leave ``home``."""
    stale = np.flatnonzero(mover[home] == gone)
    for other in stale:
        move[home, other], mover[home, other] = np.inf, -1
    for i in range(label.size):
        if label[i] == home:
            for other in stale:
                price = costs[i, other] - costs[i, home]
                if price < move[home, other]:
                    move[home, other], mover[home, other] = price, i
