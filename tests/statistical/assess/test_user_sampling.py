"""Users are sampled as section 5.1.2 says: one by one, with probability by a^score."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from sottovoce.errors import ParameterError
from sottovoce.topics.judgements.profiles import sample_users

USERS = ("ann", "bob", "cyd", "dan")
SCORES = np.array([0.0, 0.2, 0.5, 0.9])
BASE = 10.0
DRAWS = 6000
ALPHA = 1e-3


def expected_orders(scores: np.ndarray, base: float) -> dict[tuple[int, ...], float]:
    """By the text: prefix sums of a^score, and whoever was drawn is out."""
    weight = base**scores
    found: dict[tuple[int, ...], float] = {}
    for order in permutations(range(len(scores)), 2):
        first, second = order
        left = weight.sum() - weight[first]
        found[order] = float(weight[first] / weight.sum() * weight[second] / left)
    return found


def p_value(scores: np.ndarray, base: float) -> float:
    expected = expected_orders(SCORES, BASE)
    drawn = [
        tuple(sample_users(USERS, scores, 2, base=base, seed=seed).tolist())
        for seed in range(DRAWS)
    ]
    counts = [drawn.count(order) for order in expected]
    return float(stats.chisquare(counts, [DRAWS * share for share in expected.values()]).pvalue)


def test_ordered_pairs_are_drawn_as_often_as_they_should_and_other_bases_are_caught() -> None:
    assert p_value(SCORES, BASE) > ALPHA
    assert p_value(SCORES, BASE * 1.5) < ALPHA
    assert p_value(-SCORES, BASE) < ALPHA


def test_a_base_of_1_is_uniform_and_a_huge_one_takes_the_top() -> None:
    first = [int(sample_users(USERS, SCORES, 1, base=1.0, seed=seed)[0]) for seed in range(2000)]
    assert stats.chisquare(np.bincount(first, minlength=4)).pvalue > ALPHA
    assert sample_users(USERS, SCORES * 1e3, 4, base=1e300, seed=3).tolist() == [3, 2, 1, 0]


def test_the_sample_does_not_depend_on_the_order_of_users_and_repeats_nobody() -> None:
    names = [f"u{number}" for number in range(50)]
    scores = np.random.default_rng(1).random(50).round(1)
    mixed = np.random.default_rng(2).permutation(50)
    one = sample_users(names, scores, 20, base=100, seed=5)
    other = sample_users([names[i] for i in mixed], scores[mixed], 20, base=100, seed=5)
    assert [names[i] for i in one] == [names[mixed[i]] for i in other]
    assert len(set(one.tolist())) == 20


@pytest.mark.parametrize(
    ("users", "scores", "count", "base", "says"),
    [
        (USERS, SCORES[:3], 1, 10, "as many as users"),
        (("a", "a", "b", "c"), SCORES, 1, 10, "users must differ"),
        (USERS, np.full(4, np.inf), 1, 10, "finite"),
        (USERS, SCORES, 5, 10, "count must be 1 to 4"),
        (USERS, SCORES, 0, 10, "count must be 1 to 4"),
        (USERS, SCORES, 1, 0.5, "base must be"),
        (USERS, SCORES, 1, float("nan"), "base must be"),
    ],
)
def test_bad_parameters_are_refused(
    users: tuple[str, ...], scores: np.ndarray, count: int, base: float, says: str
) -> None:
    with pytest.raises(ParameterError, match=says):
        sample_users(users, scores, count, base=base, seed=0)
