"""Studies and the bench of federations, small, between real processes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sottovoce_lab.bench.federation import bench_federation

Run = Callable[..., tuple[int, str, str]]


@pytest.mark.long
def test_the_figures_are_drawn_from_what_was_sent(tmp_path: Path, run: Run) -> None:
    code, out, _ = run("study", "learn-figures", "--quick", "--json", "--out", tmp_path / "out")
    assert code == 0
    rows = json.loads(out)
    assert {row["figure"] for row in rows} == {"1 and 3", "2"}
    assert any(row["sender"] == "intermediary" and row["kind"] == "rados" for row in rows)
    assert len(list((tmp_path / "out").glob("*.svg"))) == 3


@pytest.mark.long
def test_the_bench_compares_the_same_theta(shared_data: Path) -> None:
    rows = bench_federation(20)
    assert [row["unit"] for row in rows] == ["CPU s", "wall s", "bytes sent"] * 2
    assert all(row["theirs"] and row["ours"] > 0 for row in rows)
