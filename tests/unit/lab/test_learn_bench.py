"""The learn bench: rows with figures, and a check that has power."""

from pathlib import Path

import numpy as np
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


def test_phe_is_scaled_up_from_its_part() -> None:
    pytest.importorskip("phe")
    few, many = (learn.phe_sum_seconds(numbers, part=2) for numbers in (10, 2000))
    assert few is not None
    assert many is not None
    assert many > 5 * few


def test_messages_become_rows_of_words(some_data: Path) -> None:
    rows, signs = learn.message_rows(20)
    assert rows.shape == (len(signs), 20)
    assert set(np.unique(rows)) == {0.0, 1.0}
    assert 0.1 < np.mean(signs == 1) < 0.2


@pytest.mark.long
def test_the_bench_compares_with_ridge_and_phe(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn, "RUNS", 1)
    rows = learn.bench_learn(20)
    assert [row["unit"] for row in rows] == ["CPU s"] * 2
    assert all(row["ours"] > 0 for row in rows)
    assert rows[0]["ratio"] is None or rows[0]["ratio"] > 10
