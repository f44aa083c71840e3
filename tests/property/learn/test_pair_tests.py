"""Columns that are all but alike: what is found under masks is what a plain count finds."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.learn.modes.guard import PairTests
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.training_terms import ALLOW_RARE, Recipe, TrainingTerms

PEERS = ("ada", "ben", "cy", "dan")
Rows = NDArray[np.float64]
Places = NDArray[np.int64]


def terms_of(fewest_peers: int) -> TrainingTerms:
    identities = {name: bytes(32) for name in PEERS}
    recipe = Recipe(fewest_peers=fewest_peers, allow_rare=ALLOW_RARE)
    return TrainingTerms(bytes(16), identities, ("x",), recipe)


def drawn_rows(seed: int, flips: int, groups: int) -> tuple[dict[str, Rows], dict[str, Places]]:
    """Rows of six words and a label; some are copies or opposites of the first but for few."""
    chance = np.random.default_rng(seed)
    rows, grouped = {}, {}
    for name in PEERS:
        x = (chance.random((int(chance.integers(8, 40)), 7)) < 0.4).astype(float)
        for j in range(1, 7):
            if chance.random() < 0.6:
                x[:, j] = x[:, 0] if chance.random() < 0.5 else 1 - x[:, 0]
                at = chance.integers(0, len(x), int(chance.integers(0, flips + 1)))
                x[at, j] = 1 - x[at, j]
        rows[name] = x
        grouped[name] = np.arange(len(x)) // groups
    return rows, grouped


def summed(tests: PairTests, rows: dict[str, Rows], grouped: dict[str, Places]) -> Ring:
    each = [tests.summand(n, sparse.csr_array(x), grouped[n]) for n, x in rows.items()]
    total: Ring = np.sum(each, axis=0, dtype=np.uint64)
    return total


def differing(rows: dict[str, Rows], grouped: dict[str, Places], j: int, k: int) -> list[list[int]]:
    """How many documents of each peer are not the same in two columns; and do not add up to 1."""
    return [
        [
            len(
                set(grouped[n][x[:, j] + x[:, k] != 1 if opposite else x[:, j] != x[:, k]].tolist())
            )
            for n, x in rows.items()
        ]
        for opposite in (False, True)
    ]


def without(counts: list[int], left: int) -> list[list[int]]:
    """The numbers of all other peers, whichever are left out."""
    groups = combinations(range(len(counts)), left)
    return [[n for at, n in enumerate(counts) if at not in group] for group in groups]


@given(st.integers(0, 2**32), st.integers(0, 8), st.integers(1, 3), st.integers(1, 3))
def test_the_sums_find_what_plain_counts_find(
    seed: int, flips: int, groups: int, fewest_peers: int
) -> None:
    rows, grouped = drawn_rows(seed, flips, groups)
    sizes = {name: len(x) for name, x in rows.items()}
    uses = np.sum([x.sum(axis=0) for x in rows.values()], axis=0)
    tests = PairTests.from_counts(
        terms_of(fewest_peers), uses[:6], uses[6:], sizes, grouped=groups > 1
    )
    found = tests.keep_most_used(summed(tests, rows, grouped))
    left = [*np.flatnonzero(found).tolist(), 6]
    for j, k in combinations(left, 2):
        for counts in differing(rows, grouped, j, k):
            others = [sum(each) for each in without(counts, fewest_peers - 1)]
            assert not sum(counts) or min(others) >= 5
    for j in np.flatnonzero(~found).tolist():
        assert any(
            sum(counts) and any(max(each) < 5 for each in without(counts, fewest_peers - 1))
            for k in left
            for counts in differing(rows, grouped, j, k)
        )


@given(st.integers(0, 2**32))
def test_a_sum_is_uniform_where_somebody_gives_and_zero_where_nobody_does(seed: int) -> None:
    """Drawn again the same documents give other numbers, and zeros at the same places."""
    rows, grouped = drawn_rows(seed, 3, 1)
    sizes = {name: len(x) for name, x in rows.items()}
    uses = np.sum([x.sum(axis=0) for x in rows.values()], axis=0)
    tests = PairTests.from_counts(terms_of(2), uses[:6], uses[6:], sizes)
    one, two = (summed(tests, rows, grouped) for _ in range(2))
    np.testing.assert_array_equal(one == 0, two == 0)
    assert not np.any((one == two) & (one != 0))
    high = np.mean(one[one != 0] >= 1 << 63) if np.count_nonzero(one) > 30 else 0.5
    assert 0.1 < high < 0.9
