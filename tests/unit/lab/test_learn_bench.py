"""The learn bench: rows with figures, and a check that has power."""

from pathlib import Path

import pytest
from sottovoce_lab.bench import learn
from support.trainings import pooled, small_peers

from sottovoce.errors import CheckFailedError
from sottovoce.learn import train


def test_the_check_refuses_another_theta() -> None:
    peers = small_peers()
    rows, signs = pooled(peers)
    learn.check_theta(train(peers, penalty=learn.PENALTY), rows, signs)
    with pytest.raises(CheckFailedError):
        learn.check_theta(train(peers, penalty=2 * learn.PENALTY), rows, signs)


@pytest.mark.long
def test_the_bench_compares_with_ridge_and_phe(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn, "RUNS", 1)
    rows = learn.bench_learn(20)
    assert [row["unit"] for row in rows] == ["CPU s"] * 2
    assert all(row["ours"] > 0 for row in rows)
    assert rows[0]["ratio"] is None or rows[0]["ratio"] > 10
