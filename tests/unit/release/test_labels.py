"""A release can carry public labels, says that it does, and is unchanged where it does not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sottovoce as sv
from sottovoce.cli._app import app
from sottovoce.errors import InputError, ParameterError
from sottovoce.release.groups import MOST_LABELS, checked_labels

NOTES = [
    {"body": "my debt and my loan", "kind": "money"},
    {"body": "the bank is shut", "kind": "money"},
    {"body": "a boat on the sea", "kind": "travel"},
]
WORDS = ["bank", "boat", "debt", "loan", "sea"]


def released(folder: Path, name: str = "released", **options: Any) -> sv.release.Release:  # noqa: ANN401 - any option
    made: sv.release.Release = sv.release_counts(
        NOTES,
        text="body",
        words=WORDS,
        epsilon=2,
        precision=2,
        budget=20,
        ledger=folder / "my.ledger",
        out=folder / name,
        **options,
    )
    return made


def test_the_card_says_that_labels_are_published_and_promises_what_it_did(tmp_path: Path) -> None:
    with_labels, without = released(tmp_path, labels="kind"), released(tmp_path, "other")
    assert "Labels are published as they are" in with_labels.card.in_words()
    assert "Labels" not in without.card.in_words()
    assert with_labels.guarantee == without.guarantee
    assert with_labels.card.labels == {"different": 2}
    assert "labels" not in json.loads((tmp_path / "other" / "card.json").read_text())
    assert not (tmp_path / "other" / "labels.txt").exists()
    assert without.labels is None


def test_the_same_labels_are_the_same_release_and_others_are_another(tmp_path: Path) -> None:
    first = released(tmp_path, labels="kind")
    again = released(tmp_path, "again", labels="kind")
    np.testing.assert_array_equal(first.counts.toarray(), again.counts.toarray())
    with pytest.raises(InputError, match="holds another release"):
        released(tmp_path, "again")


@pytest.mark.parametrize("content", ["money\nmoney\nmoney\n", "money\ntravel\n", "a\n\nb\n", ""])
def test_changed_labels_are_noticed(tmp_path: Path, content: str) -> None:
    released(tmp_path, labels="kind")
    (tmp_path / "released" / "labels.txt").write_text(content)
    with pytest.raises(InputError, match=r"labels.txt is missing or not what the card says"):
        sv.load_release(tmp_path / "released")


@pytest.mark.parametrize("changed", [{"different": 3}, {"different": 0}, {"different": True}, {}])
def test_a_card_that_says_otherwise_of_the_labels_is_refused(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    released(tmp_path, labels="kind")
    card = tmp_path / "released" / "card.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"labels": changed}))
    with pytest.raises(InputError, match=r"labels|kind|different"):
        sv.load_release(tmp_path / "released")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["money", None, " "], "2 of 3 have none"),
        ([str(i) for i in range(MOST_LABELS + 1)], "at most 1,000, got 1,001 different"),
        (["money", "x" * 101], "one line of at most 100 characters"),
        (["money", "two\nlines"], "one line of at most 100 characters"),
    ],
)
def test_what_is_no_label_is_refused_and_not_shown(labels: list[str | None], message: str) -> None:
    with pytest.raises(ParameterError, match=message) as refused:
        checked_labels(labels)
    assert "xx" not in str(refused.value)
    assert "lines" not in str(refused.value)


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no column 'sort' for label"):
        released(tmp_path, labels="sort")


def test_labels_and_bounded_users_are_refused_together(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--labels and --user-documents"):
        released(tmp_path, labels="kind", user_documents=1)


def test_the_command_publishes_the_column_that_is_named(tmp_path: Path) -> None:
    notes = tmp_path / "notes.csv"
    rows = "\n".join(f"{note['body']},{note['kind']}" for note in NOTES)
    notes.write_text(f"text,kind\n{rows}\n")
    (tmp_path / "words.txt").write_text("\n".join(WORDS))
    asked = f"release {notes} --vocabulary {tmp_path}/words.txt --epsilon 2 --precision 2"
    done = CliRunner().invoke(
        app, f"{asked} --labels kind --ledger {tmp_path}/my.ledger --out {tmp_path}/out".split()
    )
    assert done.exit_code == 0, done.stderr
    assert "Labels are published as they are" in done.stdout
    found = sv.load_release(tmp_path / "out").labels
    assert found is not None
    assert found.tolist() == ["money", "money", "travel"]
    assert (tmp_path / "out" / "labels.txt").read_text() == "money\nmoney\ntravel\n"
