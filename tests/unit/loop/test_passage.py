"""One passage in a release, told or hidden, beside what the promise allows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from sottovoce.loop._reading import Reading
from sottovoce.loop._round import PassageTest, is_defect, most_told, passage_test
from sottovoce.loop.documents import PrivacySetting, UserDocuments
from sottovoce.release.plan import Released

WORDS = ("debt", "loan", "bank", "boat", "sea")
PROFILE = np.array([[1.0, 0, 0, 0, 0]])
"""The passage is always the first word."""


def documents(rows: int = 600) -> UserDocuments:
    counts = np.random.default_rng(0).poisson(0.3, (rows, len(WORDS)))
    users = pa.array([f"u{number}" for number in range(rows)])
    weeks = np.zeros(rows, np.int32)
    return UserDocuments(users, np.arange(rows), weeks, sparse.csr_array(counts), WORDS)


class Leaky(PrivacySetting):
    """A release that forgets the noise of its first column."""

    def draw_release(self, documents: UserDocuments, frequencies: object, seed: int) -> Released:
        right = super().draw_release(documents, None, seed)
        cells = right.counts.toarray()
        cells[:, 0] = documents.counts[:, [0]].toarray()[:, 0]
        assert frequencies is not None
        return right._replace(counts=sparse.csr_array(cells))


def outcome_of(setting: PrivacySetting) -> PassageTest:
    given = documents()
    drawn = setting.draw_release(given, np.ones(len(WORDS)), 0)
    reading = Reading(drawn.counts, drawn.maps[0], drawn.frequencies, setting.noise_rate)
    return passage_test(setting, given, reading, PROFILE)


@pytest.mark.parametrize("epsilon", ["1/2", "1"])
def test_a_passage_is_told_as_often_as_the_promise_allows_and_no_more(epsilon: str) -> None:
    test = outcome_of(PrivacySetting(precision=1, epsilon=epsilon))
    assert not is_defect([test])
    # Of one word, who knows the rest reaches the bound; 0.06 are at least five standard errors.
    assert test.strongest == pytest.approx(test.bound, abs=0.06)


def test_a_column_without_noise_is_exploited_and_called_a_defect() -> None:
    test = outcome_of(Leaky(precision=1, epsilon=1))
    assert test.strongest == 1
    assert test.bound < 0.14
    assert is_defect([test])


def test_too_much_told_by_the_adversary_alone_is_a_defect_too() -> None:
    fine = PassageTest(seen=0.1, strongest=0.13, bound=0.136, trials=400)
    assert not is_defect([fine] * 5)
    assert is_defect([replace(fine, seen=0.4)] * 5)


@given(words=st.integers(1, 6), rate=st.floats(0.05, 4.0), level=st.floats(0.001, 0.4))
def test_the_bound_is_above_the_best_test_and_is_attained(
    words: int, rate: float, level: float
) -> None:
    """Of a word said ``words`` times more: the best test of one cell, from its exact law."""
    alpha = np.exp(-rate)
    cells = np.arange(-400, 400)
    absent = (1 - alpha) / (1 + alpha) * alpha ** np.abs(cells)
    present = (1 - alpha) / (1 + alpha) * alpha ** np.abs(cells - words)
    # Larger cells speak more for the word, so that the best test takes them first.
    alarms = np.append(np.cumsum(absent[::-1]), 1.0)
    told = np.append(np.cumsum(present[::-1]), 1.0)
    best = float(np.interp(level, np.append(0.0, alarms), np.append(0.0, told)))
    bound = most_told(words * rate, level)
    assert best <= bound + 1e-9
    if level <= alpha**words / (1 + alpha):
        assert best == pytest.approx(bound, rel=1e-6)
