"""Scores that are equal on paper are equal in bits, so that rounding never ranks anybody."""

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from support.communities import CATALOGUE

from sottovoce.assess import Setting, State
from sottovoce.assess.measures import interest
from sottovoce.assess.measures.catalogue import MEASURES, plan_scoring
from sottovoce.assess.measures.measure import on_grid
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.space import BagOfWords

TOPIC = CATALOGUE.names.index("depression")
SIBLING = CATALOGUE.names.index("pregnancy")


@pytest.mark.kernel
@given(
    counts=st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any),
    times=st.integers(1, 50),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=50, deadline=None)
def test_scaled_and_permuted_counts_have_the_same_strength(
    counts: list[int], times: int, order: Random
) -> None:
    words = tuple(f"word{number}" for number in range(len(counts)))
    scorer = BagOfWords().scorer(Catalogue((Topic("t", words, "d"),)))
    permuted = list(counts)
    order.shuffle(permuted)
    rows = np.array([counts, permuted, [times * count for count in counts]], np.int32)
    assert len(set(scorer.strengths(sparse.csr_array(rows))[:, 0].tolist())) == 1


User = tuple[int, int, int, int]


def scores_of(users: list[User], name: str, unit: float) -> NDArray[np.float64]:
    """Users with three weeks of strengths in a topic and one in its sibling, in multiples."""
    _, scoring = plan_scoring(CATALOGUE, (), (name,))
    state = State(scoring.header)
    state.rows(pa.array([str(number) for number in range(len(users))]))
    strengths = np.zeros((3 * len(users), len(CATALOGUE.names)))
    strengths[:, TOPIC] = np.array([user[:3] for user in users]).ravel() * unit
    strengths[:, SIBLING] = np.repeat([user[3] for user in users], 3) * unit
    weeks = np.tile(np.arange(3, dtype=np.int32), len(users))
    state.spaces["bow"].add_posts(np.repeat(np.arange(len(users)), 3), weeks, strengths)
    return MEASURES[name].score(state, "depression", Setting())


EXACT: dict[str, Callable[[User], int]] = {
    "bow-d": lambda user: max(user[:3]) - user[3],
    "bow-t": lambda user: sum(user[:3]),
    "bow-dt": lambda user: sum(user[:3]) - 3 * user[3],
}
USERS = [
    (*weeks, breadth)
    for weeks, breadth in product(combinations_with_replacement(range(10), 3), range(10))
]


def check_ties(name: str) -> None:
    for unit in (math.sqrt(0.05) / 3, math.sqrt(1 / 7) / 10, 0.1, 1 / 12):
        found = scores_of(USERS, name, unit)
        exact = np.array([EXACT[name](user) for user in USERS])
        assert len(np.unique(found)) == len(np.unique(exact))
        assert len({*zip(found.tolist(), exact.tolist(), strict=True)}) == len(np.unique(exact))


@pytest.mark.parametrize("name", EXACT)
def test_users_with_equal_scores_tie_and_no_others(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the grid they do not."""
    check_ties(name)
    for module in (interest, interest):
        monkeypatch.setattr(module, "on_grid", lambda scores: scores)
    with pytest.raises(AssertionError):
        check_ties(name)


def test_the_grid_leaves_what_has_no_bound() -> None:
    large = np.array([math.inf, -math.inf, 1e300, -5000.3, 4096.1])
    assert on_grid(large).tolist() == large.tolist()
    small = np.array([0.5, -1.25, 0.0, 1 / 3, 4095.9])
    assert on_grid(small)[:3].tolist() == [0.5, -1.25, 0.0]
    assert np.abs(on_grid(small) - small).max() <= 2.0**-41
    assert on_grid(small)[3] != small[3]
