"""The budget of queries: signs within it leave theta's direction unknown."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.errors import ParameterError, QueryBudgetError
from sottovoce.learn.query_budget import QueryBudget, planned_budget
from sottovoce.learn.training_terms import Recipe

Floats = NDArray[np.float64]
Ask = Callable[[Floats], float]
PEERS = ("ada", "ben", "cy", "di")
WIDTH = 10


class Oracle:
    """Signs of a hidden theta, for all peers who pool their answers, within the budget."""

    def __init__(self, theta: Floats, budget: QueryBudget) -> None:
        self.theta, self.budget, self.asked = theta, budget, 0

    def __call__(self, row: Floats) -> float:
        for peer in PEERS:
            if self.budget.rows_left(peer):
                self.budget.spend(peer, 1)
                self.asked += 1
                return 1.0 if row @ self.theta > 0 else -1.0
        raise QueryBudgetError("nobody may ask any more.")


def bisected(ask: Ask, found: Floats) -> None:
    """Ratios of theta's numbers to the largest so far, by bisection on pairs of features."""
    unit = np.eye(len(found))
    for at in range(len(found)):
        found[at] = ask(unit[at])
    pivot = 0
    for at in range(1, len(found)):  # the largest by comparisons of sizes
        if ask(found[at] * unit[at] - found[pivot] * unit[pivot]) > 0:
            pivot = at
    signs = found.copy()
    for at in set(range(len(found))) - {pivot}:
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = (low + high) / 2
            row = signs[at] * unit[at] - middle * signs[pivot] * unit[pivot]
            low, high = (middle, high) if ask(row) > 0 else (low, middle)
        found[at] = signs[at] * (low + high) / 2


def cosine_of_attack(recipe: Recipe, seed: int) -> tuple[float, int]:
    theta = np.random.default_rng(seed).normal(size=WIDTH)
    oracle = Oracle(theta, planned_budget(recipe, WIDTH, PEERS))
    found = np.zeros(WIDTH)
    with suppress(QueryBudgetError):
        bisected(oracle, found)
    return float(found @ theta / np.linalg.norm(found) / np.linalg.norm(theta)), oracle.asked


def test_bisection_within_the_default_budget_leaves_the_direction_unknown() -> None:
    attacks = [cosine_of_attack(Recipe(), seed) for seed in range(100)]
    cosines = [cosine for cosine, _ in attacks]
    assert max(asked for _, asked in attacks) <= WIDTH // 2
    assert np.mean(cosines) < 0.65
    assert max(cosines) < 0.95


def test_one_sign_for_each_feature_points_within_a_cosine_of_four_fifths() -> None:
    cosines = [cosine_of_attack(Recipe(queries=WIDTH), seed)[0] for seed in range(200)]
    assert 0.75 < np.mean(cosines) < 0.87


def test_the_same_attack_finds_theta_with_a_hundred_queries_a_peer() -> None:
    recipe = Recipe(queries=100, queries_together=400)
    cosines = [cosine_of_attack(recipe, seed)[0] for seed in range(20)]
    assert min(cosines) > 0.9999


def test_all_peers_together_have_a_budget_too() -> None:
    budget = planned_budget(Recipe(queries=5, queries_together=6), WIDTH, PEERS)
    budget.spend("ada", 5)
    with pytest.raises(QueryBudgetError, match="1 more rows"):
        budget.spend("ben", 2)
    budget.spend("ben", 1)
    assert [budget.rows_left(peer) for peer in PEERS] == [0, 0, 0, 0]


def test_what_a_recipe_leaves_open_follows_from_the_width() -> None:
    assert planned_budget(Recipe(), 40, PEERS).rows_left("ada") == 5
    assert planned_budget(Recipe(), 1, PEERS).rows_left("ada") == 1
    assert planned_budget(Recipe(queries=7), 2, PEERS).rows_left("ada") == 7
    assert planned_budget(Recipe(queries_together=8), 2, PEERS).rows_left("ada") == 2


@pytest.mark.parametrize("name", ["queries", "queries_together"])
def test_a_budget_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="queries"):
        Recipe(**{name: 0})  # type: ignore[arg-type] # a name that varies
