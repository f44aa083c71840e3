"""A bench says which peers are missing, lists itself, and draws its rows; long works say steps."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sottovoce_lab import benches
from sottovoce_lab.bench.rows import BenchRow, bench_row
from sottovoce_lab.benches import bench_result

from sottovoce.steps import repetitions, say_step, steps_heard_by

Run = Callable[..., tuple[int, str, str]]
ROWS = [
    bench_row("b", "small", "words/s", 30.0, "other", 10.0),
    bench_row("b", "large", "words/s", 1.0, "other", 2.0),
    bench_row("b", "large", "words/s", 1.0, "absent", None),
]


class _Bench(benches.Bench):
    def run(self, size: float) -> list[BenchRow]:
        return ROWS


def _bench(*peers: str) -> benches.Bench:
    return _Bench("one", "words", 10, 1, "release", peers)


def test_the_list_names_every_bench_and_what_is_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        benches, "BENCHES", {"one": _bench("json", "not_there"), "two": _bench("json")}
    )
    code, out, _ = run("bench", "list", "--json")
    assert code == 0
    listed = {row["bench"]: row["missing"] for row in json.loads(out)}
    assert listed == {"one": "not_there", "two": "none"}


def test_a_bench_says_before_it_runs_which_peers_are_missing(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benches, "BENCHES", {"one": _bench("not_there")})
    code, out, err = run("bench", "one", "--json")
    assert code == 0
    assert "Not installed: not_there; to compare with it: make peers" in err
    assert len(json.loads(out)) == len(ROWS)


def test_a_bench_draws_the_rows_that_have_a_ratio(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(benches, "BENCHES", {"one": _bench("not_there")})
    assert run("bench", "one", "--out", tmp_path / "drawn")[0] == 0
    page = (tmp_path / "drawn" / "report.html").read_text(encoding="utf-8")
    assert "Ours is better in 1 of 2 comparisons." in page
    assert "large: other" in (tmp_path / "drawn" / "one-1.svg").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "drawn" / "rows.json").read_text(encoding="utf-8")) == ROWS


def test_without_any_peer_there_is_no_figure() -> None:
    result = bench_result(ROWS[2:])
    assert result.plots == ()
    assert "nothing to compare with" in result.notes[0]


def test_steps_are_heard_within_and_only_there() -> None:
    heard: list[str] = []
    with steps_heard_by(heard.append):
        say_step("reading")
        assert list(repetitions(2)) == [0, 1]
    say_step("nobody hears this")
    assert heard == ["reading", "repetition 1 of 2", "repetition 2 of 2"]


@pytest.mark.parametrize("command", ["study", "bench"])
def test_without_the_laboratory_one_sentence_says_how_to_install_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "sottovoce_lab"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sottovoce_lab", None)
    code, out, err = run(command, "list")
    assert (code, out) == (2, "")
    assert "studies and benches are in sottovoce-lab. Run: pip install sottovoce-lab" in err
