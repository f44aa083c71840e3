"""Benches compare only what is equal."""

import json
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from sottovoce_lab.bench import tokenize
from sottovoce_lab.bench.rows import bench_row, best_times

from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.errors import CheckFailedError

KEYS = {"bench", "case", "unit", "ours", "peer", "theirs", "ratio"}


@pytest.fixture(autouse=True)
def _few_users(monkeypatch: pytest.MonkeyPatch) -> None:
    def few(*, users: int, **given: Any) -> SimulationParameters:  # noqa: ANN401 - as it is called
        return SimulationParameters(users=users // 40, **given)

    monkeypatch.setattr(tokenize, "SimulationParameters", few)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [json.dumps({"text": text}) for text in ("The bank, the BANK!", "a loan", "")]
    (tmp_path / "cfpb.jsonl").write_text("\n".join(lines))
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    return tmp_path


def test_every_case_is_compared_with_every_peer(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenize, "REPEATS", 1)
    monkeypatch.setattr(tokenize, "TURNS_S", 0.0)
    rows = tokenize.bench_tokenize(0.01)
    assert all(set(row) == KEYS for row in rows)
    assert {(row["case"], row["peer"]) for row in rows} >= {
        (f"{case}, one thread", peer)
        for case in ("complaints", "short posts")
        for peer in ("sklearn CountVectorizer", "python re")
    }
    assert all(row["ratio"] and row["ratio"] > 0 for row in rows)


def test_a_bench_says_when_a_peer_or_the_data_are_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    monkeypatch.setattr(tokenize, "REPEATS", 1)
    monkeypatch.setattr(tokenize, "TURNS_S", 0.0)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    rows = tokenize.bench_tokenize(0.01)
    assert {row["case"].partition(",")[0] for row in rows} == {"short posts"}
    assert [row["theirs"] for row in rows if row["peer"].startswith("sklearn")] == [None]


def test_a_bench_refuses_to_compare_different_counts(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenize, "_python_re", lambda _texts: {"the": 1})
    with pytest.raises(CheckFailedError, match="python re counts other words than ours"):
        tokenize.bench_tokenize(0.01)


def test_the_ratio_is_ours_over_theirs() -> None:
    assert bench_row("b", "c", "MB/s", 10.0, "peer", 4.0)["ratio"] == 2.5
    assert bench_row("b", "c", "MB/s", 10.0, "peer", None)["ratio"] is None


def test_where_less_is_better_the_ratio_is_theirs_over_ours() -> None:
    row = bench_row("b", "c", "MB", 10.0, "peer", 40.0, less_is_better=True)
    assert (row["ours"], row["theirs"], row["ratio"]) == (10.0, 40.0, 4.0)
    assert bench_row("b", "c", "MB", 10.0, "peer", None, less_is_better=True)["ratio"] is None


def test_works_that_are_compared_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    works = {"ours": lambda: turns.append("ours"), "theirs": lambda: turns.append("theirs")}
    best = best_times(works, rounds=3, seconds=0)
    assert turns == ["ours", "theirs"] * 3
    assert set(best) == {"ours", "theirs"}
    turns.clear()
    # A clock of its own, since a busy machine may take longer for a single turn.
    clock = (tick / 10_000 for tick in count())
    monkeypatch.setattr("sottovoce_lab.bench.rows.time.perf_counter", lambda: next(clock))
    best_times(works, rounds=1, seconds=0.02)
    changes = sum(a != b for a, b in pairwise(turns))
    assert len(turns) > 2 * changes > 2, "a turn is many runs, and there are many turns"
