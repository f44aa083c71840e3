"""``sottovoce study`` as its users meet it."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from support.shown import Run

import sottovoce

NAMES = ["release-figure-1", "release-synthetic", "release-figure-2", "release-table-1"]
SLOWEST = "release-figure-2"
# What every study says of every row: how large it was, how private, and what the paper has.
PAPER_COLUMNS = {
    "release-figure-1": "paper_length_ratio",
    "release-synthetic": "paper_jaccard",
    "release-figure-2": "paper_coherence",
    "release-table-1": "paper_jaccard",
}


def test_options_that_a_study_has_no_use_for_are_named(run_study: Run) -> None:
    code, _, err = run_study("assess-table-3", "--quick", "--topics", "none.toml", "--model", "m")
    assert code == 0
    assert "assess-table-3 ignores --model, --topics." in err
    code, _, err = run_study("assess-table-3", "--votes", "votes.csv")
    assert (code, "assess-table-3 takes no --votes; leave it out." in err) == (2, True)


def test_list_names_every_study_with_what_it_shows(run_study: Run) -> None:
    code, out, _ = run_study("list")
    assert code == 0
    listed = [line.split()[0] for line in out.splitlines()]
    assert [name for name in listed if name.startswith("release-")] == [*NAMES, "release-analyse"]
    assert {f"assess-table-{number}" for number in range(1, 7)} <= set(listed)
    assert {"assess-figure-1", "assess-table-5"} <= set(listed)
    code, out, _ = run_study("list", "--json")
    assert [row["study"] for row in json.loads(out)] == listed
    assert all(row["shows"] for row in json.loads(out))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name == SLOWEST)) for name in NAMES]
)
def test_a_quick_study_prints_its_rows_and_fills_its_folder(
    run_study: Run, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    data = () if name == "release-synthetic" else ("--data", "simulated")
    code, out, err = run_study(name, "--quick", *data, "--out", tmp_path / "out", "--json")
    rows = json.loads(out)
    assert code == 0
    sizes = {"data", "documents", "words", "columns", "true_epsilon", "rate"}
    assert all({*sizes, PAPER_COLUMNS[name]} <= row.keys() for row in rows)
    assert any(row[PAPER_COLUMNS[name]] is not None for row in rows)
    assert rows == json.loads((tmp_path / "out" / "rows.json").read_text())
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == [f"{name}-1.svg", "report.html", "rows.json"]
    assert all(file in err for file in files)
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<svg") == 1
    assert f"sottovoce study {name} --quick" in page
    assert "src=" not in page


def test_people_see_a_table_the_finding_and_the_notes(run_study: Run) -> None:
    code, out, _ = run_study("release-figure-1", "--quick", "--data", "simulated")
    assert code == 0
    assert "mechanism" in out
    assert "times as long" in out
    assert "The documents are simulated" in out


def test_a_study_runs_on_the_user_s_own_columns(run_study: Run, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    words = " ".join(f"word{i}" for i in range(24))
    path.write_text("body\n" + f"{words}\n" * 12)
    code, out, _ = run_study("release-figure-1", "--data", path, "--fields", "text=body", "--json")
    assert code == 0
    assert {(row["documents"], row["words"]) for row in json.loads(out)} == {(12, 24)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["release-figure-2"], "cfpb.jsonl is not in"),
        (["release-figure-2"], "--data simulated"),
        (["release-table-1", "--data", "news"], "bbc-news.tsv is not in"),
        (["release-table-1", "--data", "nothere.csv"], "nothere.csv"),
        (["release-synthetic", "--data", "news"], "makes its own data"),
        (["release-figure-1", "--posts", "p.csv"], "give --data, no posts or models"),
        (["release-figure-1", "--seeds", "2"], "shows one draw"),
        (["release-synthetic", "--seeds", "0"], "seeds must be >= 1"),
        (["nothing"], "study must be list or one of"),
    ],
)
def test_what_cannot_be_run_ends_with_exit_code_2_and_no_output(
    run_study: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run_study(*arguments, "--out", tmp_path / "out")
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_without_the_extras_a_study_says_what_to_install(
    run_study: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    # What is imported again takes its place there too, and must not stay.
    monkeypatch.setattr(sottovoce, "report", import_module("sottovoce.report"))
    for name in [
        name for name in sys.modules if name.startswith(("sottovoce_lab", "sottovoce.report"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    code, _, err = run_study("list")
    assert code == 2
    assert "pip install 'sottovoce[all]'" in err
