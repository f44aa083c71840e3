"""Fleiss' kappa: what must hold for any votes, and what another implementation says."""

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from statsmodels.stats.inter_rater import fleiss_kappa as peer_kappa

from sottovoce.errors import ParameterError
from sottovoce.topics.judgements.agreement import fleiss_kappa, kappa_interval

# R-Susceptibility, Table 1, from 7 judges agreeing down to 0, and the kappas in the text.
PAPER = {
    "Quora": ((29, 43, 48, 56, 68, 99, 106, 51), 0.241),
    "NYT": ((8, 27, 60, 84, 73, 90, 111, 47), 0.157),
    "HF": ((38, 32, 30, 21, 22, 28, 23, 6), 0.294),
}


@st.composite
def equal_votes(draw: st.DrawFn) -> np.ndarray:
    """Items x categories, the same number of votes on each item."""
    items, judges = draw(st.integers(2, 12)), draw(st.integers(2, 9))
    categories = draw(st.integers(2, 5))
    ballots = draw(
        arrays.arrays(np.int64, (items, judges), elements=st.integers(0, categories - 1))
    )
    return np.stack([(ballots == category).sum(axis=1) for category in range(categories)], axis=1)


any_votes = arrays.arrays(
    np.int64, st.tuples(st.integers(2, 10), st.integers(2, 4)), elements=st.integers(0, 6)
)


@settings(deadline=None)
@given(equal_votes())
def test_equal_numbers_of_votes_agree_with_statsmodels(votes: np.ndarray) -> None:
    assume(np.count_nonzero(votes.sum(axis=0)) > 1)
    assert fleiss_kappa(votes) == pytest.approx(peer_kappa(votes), abs=1e-12)


@settings(deadline=None)
@given(any_votes, st.randoms(use_true_random=False))
def test_the_order_of_items_and_of_categories_is_nothing(
    votes: np.ndarray, source: random.Random
) -> None:
    assume((votes.sum(axis=1) >= 2).any())
    rows, columns = list(range(votes.shape[0])), list(range(votes.shape[1]))
    source.shuffle(rows)
    source.shuffle(columns)
    ours, theirs = fleiss_kappa(votes), fleiss_kappa(votes[rows][:, columns])
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert ours == pytest.approx(theirs, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(2, 9)), min_size=2, max_size=20))
def test_unanimous_votes_of_both_kinds_give_1_however_many_judges(
    items: list[tuple[bool, int]],
) -> None:
    assume(len({answer for answer, _ in items}) == 2)
    votes = np.array([(judges, 0) if yes else (0, judges) for yes, judges in items])
    assert fleiss_kappa(votes) == pytest.approx(1.0)


@settings(deadline=None)
@given(any_votes)
def test_kappa_is_at_most_1(votes: np.ndarray) -> None:
    assume((votes.sum(axis=1) >= 2).any())
    kappa = fleiss_kappa(votes)
    assert kappa is None or kappa <= 1.0 + 1e-12


@pytest.mark.parametrize("corpus", PAPER)
def test_the_paper_s_table_1_gives_the_paper_s_kappas(corpus: str) -> None:
    topics, kappa = PAPER[corpus]
    votes = np.repeat([(yes, 7 - yes) for yes in range(7, -1, -1)], topics, axis=0)
    found = fleiss_kappa(votes)
    assert found is not None
    assert round(found, 3) == kappa


def test_unequal_numbers_of_votes_by_hand() -> None:
    # P = (1/3 + 1 + 0)/3; shares of yes (2/3 + 1 + 1/2)/3 = 13/18; E = (13^2 + 5^2)/18^2.
    votes = np.array([[2, 1], [4, 0], [1, 1]])
    by_chance = (13**2 + 5**2) / 18**2
    assert fleiss_kappa(votes) == pytest.approx((4 / 9 - by_chance) / (1 - by_chance))
    # One vote makes no pair, but it is a vote.
    more = np.array([[2, 1], [4, 0], [1, 1], [0, 1]])
    by_chance = (13**2 + 11**2) / 24**2
    assert fleiss_kappa(more) == pytest.approx((4 / 9 - by_chance) / (1 - by_chance))


def test_one_answer_throughout_leaves_kappa_undefined() -> None:
    assert fleiss_kappa(np.array([[3, 0], [3, 0]])) is None
    interval = kappa_interval(np.array([[3, 0], [3, 0]]), resamples=5)
    assert (interval.kappa, interval.low, interval.high) == (None, None, None)


def test_the_interval_holds_kappa_and_narrows_with_more_items() -> None:
    few = np.array([[7, 0], [5, 2], [1, 6], [0, 7], [4, 3], [2, 5]])
    narrow, wide = kappa_interval(np.tile(few, (30, 1))), kappa_interval(few)
    for found in (narrow, wide):
        assert found.low is not None
        assert found.kappa is not None
        assert found.high is not None
        assert found.low < found.kappa < found.high
    assert narrow.high - narrow.low < (wide.high - wide.low) / 3  # type: ignore[operator] # checked above


@pytest.mark.parametrize(
    "votes",
    [
        np.array([[1, 0], [0, 1]]),
        np.array([[2], [3]]),
        np.array([2, 3]),
        np.array([[2, -1]]),
        np.array([[0.5, 1.5]]),
    ],
)
def test_what_cannot_be_compared_is_refused(votes: np.ndarray) -> None:
    with pytest.raises(ParameterError):
        fleiss_kappa(votes)
