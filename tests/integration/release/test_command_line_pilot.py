"""A dry run with a pilot says what a classifier would reach, and marks it private."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sottovoce.cli._app import app


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    texts = {"money": "a debt and a loan and a debt", "sea": "a boat and a sail and a boat"}
    rows = [{"text": texts[kind], "kind": kind} for kind in ["money", "money", "sea"] * 20]
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "words.txt").write_text("boat\ndebt\nloan\nsail\n")
    paths = ("release", tmp_path / "notes.jsonl", "--vocabulary", tmp_path / "words.txt")
    kept = ("--out", tmp_path / "out", "--ledger", tmp_path / "ledger")
    return [str(word) for word in (*paths, *kept, "--epsilon", 8, "-N", 2, "--pilot")]


def test_a_pilot_says_the_accuracy_to_expect_and_that_it_is_private(asked: list[str]) -> None:
    done = CliRunner().invoke(app, [*asked, "--labels", "kind", "--dry-run", "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["pilot"]["accuracy"] > 0.9
    assert said["pilot"]["guessing"] == pytest.approx(2 / 3)
    assert said["pilot"]["documents"] == 60
    assert "pilot" in said["private"]


def test_a_pilot_is_told_in_words(asked: list[str]) -> None:
    done = CliRunner().invoke(app, [*asked, "--labels", "kind", "--dry-run"])
    told = " ".join(done.stdout.split())
    assert "By a pilot of 60 of these documents (private): A classifier that learns from" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "kind"], "--pilot needs --dry-run"),
        (["--dry-run"], "and --labels"),
        (["--dry-run", "--labels", "kind", "--compress", "random", "--columns", "2"], "--compress"),
        (["--dry-run", "--labels", "kind", "--threshold", "1"], "--threshold"),
    ],
)
def test_a_pilot_that_cannot_be_tried_is_refused_in_words(
    asked: list[str], options: list[str], message: str
) -> None:
    done = CliRunner().invoke(app, [*asked, *options])
    assert done.exit_code != 0
    assert message in f"{done.output}{done.exception}"
