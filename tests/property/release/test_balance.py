"""Balanced assignment and balanced k-means, for any points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sottovoce.arrays import Floats, Integers
from sottovoce.release.compression._kmeans import (
    balanced_assignment,
    balanced_clusters,
    cluster_means,
    squared_distances,
)
from sottovoce.release.compression.word_map import even_sizes

pytestmark = pytest.mark.kernel


def hungarian_cost(costs: Floats, sizes: Integers) -> float:
    """The least cost, by the assignment of points to as many slots as a cluster has places."""
    slots = np.repeat(costs, sizes, axis=1)
    rows, columns = linear_sum_assignment(slots)
    return float(slots[rows, columns].sum())


@st.composite
def problems(draw: st.DrawFn) -> tuple[Floats, Integers]:
    points, clusters = draw(st.integers(1, 25)), draw(st.integers(1, 6))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))
    coarse = draw(st.booleans())  # many equal costs
    costs = (
        generator.integers(0, 4, (points, clusters))
        if coarse
        else generator.random((points, clusters))
    )
    return costs.astype(np.float64), even_sizes(points, clusters)


@given(problems())
@settings(deadline=None, max_examples=30)
def test_the_assignment_is_as_cheap_as_the_hungarian_one(problem: tuple[Floats, Integers]) -> None:
    costs, sizes = problem
    label = balanced_assignment(costs, sizes)
    assert np.bincount(label, minlength=sizes.size).tolist() == sizes.tolist()
    cost = costs[np.arange(label.size), label].sum()
    assert cost == pytest.approx(hungarian_cost(costs, sizes), abs=1e-9)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=10)
def test_long_chains_of_moves_are_found_when_one_cluster_is_wanted_by_all(seed: int) -> None:
    """Nearly every point has to leave its cheapest cluster, often by way of others."""
    generator = np.random.default_rng(seed)
    points, centres = generator.normal(size=(80, 2)), generator.normal(size=(8, 2)) * 0.3
    costs = squared_distances(points, centres) + 3.0 * np.arange(8)
    sizes = even_sizes(80, 8)
    label = balanced_assignment(costs, sizes)
    cost = costs[np.arange(80), label].sum()
    assert cost == pytest.approx(hungarian_cost(costs, sizes), abs=1e-9)


def test_greedy_assignment_would_be_caught() -> None:
    """Planted fault: filling clusters in the order of points costs more than the optimum."""
    costs = np.array([[0.0, 1.0], [0.0, 9.0]])
    greedy = costs[0, 0] + costs[1, 1]
    assert hungarian_cost(costs, np.array([1, 1])) < greedy
    assert balanced_assignment(costs, np.array([1, 1])).tolist() == [1, 0]


@given(st.integers(2, 40), st.data())
@settings(deadline=None, max_examples=30)
def test_cluster_sizes_differ_by_at_most_one(words: int, data: st.DataObject) -> None:
    clusters = data.draw(st.integers(1, words))
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    points = generator.integers(0, 3, (words, 2)).astype(np.float64)  # many coincide
    label = balanced_clusters(points, clusters, generator)
    assert np.ptp(np.bincount(label, minlength=clusters)) <= 1


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=10)
def test_k_means_ends_where_no_round_improves(seed: int) -> None:
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(30, 2))
    label = balanced_clusters(points, 4, generator)
    distances = squared_distances(points, cluster_means(points, label, 4))
    here = distances[np.arange(30), label].sum()
    assert here <= hungarian_cost(distances, even_sizes(30, 4)) + 1e-9
