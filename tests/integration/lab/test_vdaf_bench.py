"""The VDAF bench measures what counts rightly, and nothing else."""

import json
from collections.abc import Callable
from functools import partial

import pytest
from sottovoce_lab.bench import vdaf

from sottovoce.errors import CheckFailedError


def test_shard_verify_pace_size_and_products_are_measured() -> None:
    rows = vdaf.bench_vdaf(20, seconds=0)
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


def test_what_counts_wrongly_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vdaf._Ours, "counts", lambda _: [1] * vdaf.BUCKETS)
    with pytest.raises(CheckFailedError, match="does not count what was reported"):
        vdaf.bench_vdaf(2, seconds=0)


def test_the_command_runs_it_at_the_size_that_is_asked_for(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vdaf, "bench_vdaf", partial(vdaf.bench_vdaf, seconds=0))
    code, shown, _ = run("bench", "vdaf", "--size", "20", "--json")
    assert code == 0
    assert json.loads(shown)[0]["case"].endswith("20 reports")
    code, shown, said = run("bench", "vdaf", "--size", "1", "--json")
    assert (code, shown) == (2, "")
    assert "at least 20 reports" in said
