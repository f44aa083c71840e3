"""Compression costs nothing in tight accounting, and the paper's is told for what it is."""

import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.plan import account

STATED = LimitedPrecision(2, 1)


def test_tight_accounting_states_the_truth() -> None:
    assert account(STATED, "tight", words=6800, columns=100) == STATED


@pytest.mark.parametrize(("words", "columns", "factor"), [(100, 10, 10), (6800, 100, 68)])
def test_the_papers_accounting_overstates(words: int, columns: int, factor: int) -> None:
    true = account(STATED, "paper", words=words, columns=columns)
    assert true == LimitedPrecision(2, factor)


@pytest.mark.parametrize("columns", [0, -1, 11])
def test_columns_lie_between_one_and_the_words(columns: int) -> None:
    with pytest.raises(ParameterError, match="between 1 and the 10 words"):
        account(STATED, "tight", words=10, columns=columns)


def test_an_unknown_accounting_is_refused() -> None:
    with pytest.raises(ParameterError, match="'tight' or 'paper'"):
        account(STATED, "loose", words=10, columns=5)  # type: ignore[arg-type]  # the point
