"""The VDAF bench measures what counts rightly, and nothing else."""

import json
import subprocess
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest
from sottovoce_lab.bench import rank_pair, vdaf
from support.warm_python import WarmPopen

from sottovoce.errors import CheckFailedError


def test_shard_verify_pace_size_and_products_are_measured() -> None:
    rows = vdaf.vdaf_rows(20, seconds=0)
    assert {row["bench"] for row in rows} == {"vdaf"}
    shard, verify, pace, size, *products = rows
    assert [row["case"].split(",")[0] for row in rows[:3]] == [
        "shard a report",
        "verify a report",
        "verified on one core",
    ]
    keys = {"bench", "case", "unit", "ours", "peer", "theirs", "ratio"}
    assert all(set(row) == keys for row in rows)
    alone = [(row["peer"], row["theirs"], row["ratio"]) for row in (shard, verify, size)]
    assert alone == [("none", None, None)] * 3
    assert pace["ours"] == pytest.approx(1000 / verify["ours"])
    assert size["ours"] == 848
    assert [row["peer"] for row in products] == ["Python's int", "gmpy2's mpz"]


def test_without_gmpy2_its_figures_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vdaf, "_gmpy2", lambda: None)
    assert [row["theirs"] is None for row in vdaf._product_rows(0)] == [False, True]


def test_what_counts_wrongly_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vdaf._Ours, "counts", lambda _: [1] * vdaf.BUCKETS)
    with pytest.raises(CheckFailedError, match="does not count what was reported"):
        vdaf.vdaf_rows(2, seconds=0)


def test_the_command_runs_it_at_the_size_that_is_asked_for(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vdaf, "vdaf_rows", partial(vdaf.vdaf_rows, seconds=0))
    monkeypatch.setattr(vdaf, "pair_rows", lambda reports: [])
    code, shown, _ = run("bench", "vdaf", "--size", "20", "--json")
    assert code == 0
    assert json.loads(shown)[0]["case"].endswith("20 reports")
    code, shown, said = run("bench", "vdaf", "--size", "1", "--json")
    assert (code, shown) == (2, "")
    assert "at least 20 reports" in said


def test_two_servers_take_and_verify_every_report_that_they_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warm = SimpleNamespace(Popen=WarmPopen, PIPE=subprocess.PIPE)
    monkeypatch.setattr("sottovoce_lab.bench.rows.subprocess", warm)
    held, behind, latency, cost = rank_pair.pair_rows(20, offered=100)
    assert held["case"] == "server pair, 20 reports at 100/s, one core each, held"
    assert held["theirs"] == rank_pair.PACE < rank_pair.OFFERED
    assert (behind["unit"], behind["theirs"]) == ("s", rank_pair.BEHIND_S)
    assert held["ours"] > 0
    assert (latency["unit"], latency["theirs"]) == ("ms", rank_pair.BOUND_MS)
    assert cost["theirs"] == pytest.approx(1000 / rank_pair.PACE)


def test_servers_that_do_not_verify_what_they_acknowledged_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    idle = SimpleNamespace(verified=lambda: 3)
    monkeypatch.setattr(rank_pair, "_PATIENCE_S", 0)
    with pytest.raises(CheckFailedError, match="did not verify all"):
        rank_pair._waited(idle, idle, 4)  # type: ignore[arg-type] # what is asked of a server
