"""What a forecast says to people: an accuracy to expect, and what more documents would show."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sottovoce.cli._app import app
from sottovoce.release.analysis import ReleaseForecast, forecast_release
from sottovoce.release.analysis._forecast import dimensions_grown


def _forecast(documents: int = 3573, **known: Any) -> ReleaseForecast:  # noqa: ANN401 - any argument
    return forecast_release(
        documents=documents, length=72, words=1000, epsilon=1, precision=2, **known
    )


def test_a_forecast_says_by_an_example_what_accuracy_to_expect() -> None:
    found = _forecast()
    for guessing in (0.3, 0.5):
        then = guessing + found.gain_kept * (0.84 - guessing)
        told = found.in_words(guessing)
        assert f"guessing gets {guessing:.0%}, would get about {then:.0%}" in told
    assert "would get" not in found.in_words(0.9)
    assert "would get" not in _forecast(true_accuracy=0.8, largest_class=0.4).in_words()


def test_more_documents_show_as_many_more_dimensions_as_the_rule_of_the_forecast_says() -> None:
    few, many = _forecast(200_000), _forecast(20_000_000)
    assert dimensions_grown(few.dimensions, 100) == pytest.approx(many.dimensions, rel=0.1)


def test_a_dry_run_takes_guessing_from_the_public_labels_and_asks_for_no_more_topics_than_words(
    tmp_path: Path,
) -> None:
    rows = [{"text": "a debt and a loan", "kind": "abcd"[place % 4]} for place in range(40)]
    (tmp_path / "notes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "words.txt").write_text("debt\nloan\n")
    asked = [
        *("release", tmp_path / "notes.jsonl", "--vocabulary", tmp_path / "words.txt"),
        *("--epsilon", 2, "-N", 2, "--labels", "kind", "--dry-run"),
        *("--out", tmp_path / "out", "--ledger", tmp_path / "ledger"),
    ]
    done = CliRunner().invoke(app, [str(word) for word in asked])
    assert done.exit_code == 0, done.output
    told = " ".join(done.stdout.split())
    assert "at epsilon/N = 1 with 2 columns and 40 documents of about 2 counted words" in told
    assert "of 2 topics" in told
    assert "where guessing gets 25%" in told
