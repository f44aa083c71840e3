"""The bench of shares compares ours and numpy's at the same law only."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from sottovoce_lab.bench import shares

from sottovoce.errors import CheckFailedError


def test_every_rate_and_number_of_parties_has_a_row() -> None:
    rows = shares.shares_rows(1000, [Fraction(1), Fraction(1, 4)], [1, 3], seconds=0)
    assert [row["case"].removesuffix(", 1,000 cells, 1 thread") for row in rows] == [
        "epsilon/S 1, among 1",
        "epsilon/S 1, among 3",
        "epsilon/S 1/4, among 1",
        "epsilon/S 1/4, among 3",
    ]
    assert all(row["ours"] > 0 and row["ratio"] is not None for row in rows)
    assert {row["peer"] for row in rows} == {shares.NUMPY_NAME}


def test_noise_of_another_law_is_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = shares.numpy_shares

    def wider(generator: np.random.Generator, rate: Fraction, among: int, number: int) -> object:
        return sound(generator, rate * Fraction(9, 10), among, number)

    monkeypatch.setattr(shares, "numpy_shares", wider)
    with pytest.raises(CheckFailedError, match="not the law of a share"):
        shares.shares_rows(1000, [Fraction(1, 4)], [2], seconds=0)


def test_the_command_runs_it_at_the_size_that_is_asked_for(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = partial(shares.shares_rows, rates=[Fraction(1, 4)], among=[2], seconds=0)
    monkeypatch.setattr(shares, "shares_rows", quick)
    code, shown, _ = run("bench", "shares", "--size", "2000", "--json")
    assert code == 0
    assert "2,000 cells" in json.loads(shown)[0]["case"]
