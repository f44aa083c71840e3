"""``sottovoce analyse``, in this process."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import sottovoce as sv
from sottovoce.cli._app import app

WORDS = ["bank", "boat", "debt", "loan", "sea"]
NOTES = [("debt and a loan, a debt at the bank", "money")] * 40 + [
    ("a boat on the sea", "trip")
] * 60


def asked(*words: object, **options: Any) -> Result:  # noqa: ANN401 - of the runner
    return CliRunner().invoke(app, [str(word) for word in words], **options)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("analysed")
    sv.release_counts(
        NOTES,
        words=WORDS,
        epsilon=6,
        precision=2,
        labels="label",
        ledger=folder / "my.ledger",
        out=folder / "released",
    )
    return folder / "released"


def test_analyse_says_what_the_release_supports(released: Path) -> None:
    done = asked("analyse", released)
    assert done.exit_code == 0, done.output
    for told in ("dimensions stand above the noise of 100 documents", "boat", "money", "trip"):
        assert told in done.stdout


def test_analyse_gives_machines_the_same(released: Path) -> None:
    done = asked("analyse", released, "--json", "--most", 3, "--level", 0.9)
    found = json.loads(done.stdout)
    assert (found["documents"], found["columns"], found["rate"]) == (100, 5, 3.0)
    assert found["level"] == 0.9
    assert found["meter"]["dimensions"] >= 2
    assert len(found["meter"]["eigenvalues"]) == 5
    assert [len(found[name]) for name in ("totals", "pairs")] == [3, 3]
    assert found["totals"][0]["word"] == "debt"
    assert found["totals"][0]["total"] == pytest.approx(80, abs=20)
    assert found["labels"] == {"money": 40, "trip": 60}
    told = {
        row["word"] for row in found["telling_words"] if row["low"] > 0 and row["label"] == "trip"
    }
    assert told == {"boat", "sea"}


class FakeTopics:
    """In the place of the estimator, which has tests of its own."""

    def __init__(self, k: int, *, random_state: int) -> None:
        self.components_ = np.tile([0.1, 0.4, 0.2, 0.3, 0.0], (k, 1))
        self.chosen_ = f"pairs, seed {random_state}"

    def fit(self, _release: object) -> "FakeTopics":
        return self

    def choice_in_words(self) -> str:
        return "Read by pairs, since they say most."


@pytest.fixture(autouse=True)
def _fake_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(PrivateTopics=FakeTopics)
    monkeypatch.setitem(sys.modules, "sottovoce.release.topics.estimator", fake)


def test_topics_are_shown_by_their_words_on_the_page_too(released: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = asked("analyse", released, "--topics", 2, "--seed", 7, "--report", page)
    assert "boat loan debt bank sea" in done.stdout
    assert "chose: pairs, seed 7" in done.stdout
    assert "Read by pairs, since they say most." in done.stdout
    assert ">Topics</h2>" in page.read_text()
    assert "boat, loan, debt, bank, sea" in page.read_text()


def test_a_classifier_is_trained_on_the_labels(released: Path) -> None:
    found = json.loads(asked("analyse", released, "--classifier", "--json").stdout)["classifier"]
    assert found["classes"] == 2
    assert found["held_out_loss"] < 0.5 < found["loss_of_guessing"]
    assert "loss of guessing" in asked("analyse", released, "--classifier").stdout


def test_more_topics_than_the_meter_sees_are_warned_of_with_its_number(released: Path) -> None:
    done = asked("analyse", released, "--topics", 30)
    assert re.search(
        r"warning: 30 topics were asked for, but the noise of this release leaves \d:", done.stderr
    )
    assert "warning" not in asked("analyse", released, "--topics", 2).stderr


def test_labels_of_a_file_take_the_place_of_the_releases_own(
    released: Path, tmp_path: Path
) -> None:
    (tmp_path / "labels").write_text("\n".join(["one"] * 30 + ["two"] * 70) + "\n", "utf-8-sig")
    done = asked("analyse", released, "--labels", tmp_path / "labels", "--json")
    assert json.loads(done.stdout)["labels"] == {"one": 30, "two": 70}


def test_a_file_that_holds_no_labels_is_refused(released: Path, tmp_path: Path) -> None:
    done = asked("analyse", released, "--labels", tmp_path / "absent")
    assert "must be a readable file with one label per line" in str(done.exception)


def test_a_folder_that_holds_no_release_is_refused(tmp_path: Path) -> None:
    assert "is it a release?" in str(asked("analyse", tmp_path).exception)


def test_a_compressed_release_is_shown_by_columns(tmp_path: Path) -> None:
    sv.release_counts(
        NOTES,
        words=WORDS,
        epsilon=6,
        precision=2,
        compress="random",
        columns=2,
        ledger=tmp_path / "my.ledger",
        out=tmp_path / "out",
    )
    found = json.loads(asked("analyse", tmp_path / "out", "--json").stdout)
    assert set(found["totals"][0]) >= {"column", "words", "total"}
    page = tmp_path / "page.html"
    assert asked("analyse", tmp_path / "out", "--report", page).exit_code == 0
    assert "Nobody can tell apart the words of one column" in page.read_text()


def test_the_report_is_one_offline_page_with_what_was_said(released: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = asked("analyse", released, "--report", page)
    assert f"Wrote {page}" in done.stderr
    text = page.read_text()
    assert text.count("<figure>") == 2
    for title in ("What was released", "What stands above the noise", "Labels"):
        assert f">{title}</h2>" in text
    assert "<script" not in text


def test_a_dry_run_says_what_is_exact_of_sums(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a debt and a loan\nthe boat\n")
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    words = f"release {tmp_path}/notes.txt --vocabulary {tmp_path}/words.txt --epsilon 2 -N 2"
    run = (*words.split(), "--out", tmp_path / "out", "--ledger", tmp_path / "ledger", "--dry-run")
    assert "The standard error of a word's total is 1.92" in asked(*run).stdout
    errors = json.loads(asked(*run, "--json").stdout)["errors"]
    assert round(errors["word_error"], 2) == 1.92
    cut = json.loads(asked(*run, "--threshold", 2, "--json").stdout)
    assert cut["errors"] is None
