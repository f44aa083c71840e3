"""Training a first-person space on texts that are not in English, from the command line."""

import json
from pathlib import Path

import pytest
from support.commands import answer, refused
from support.shown import Run

TEXTS = [
    *["ich habe meine schulden und sorgen"] * 30,
    *["du solltest deine schulden und den kredit zahlen"] * 30,
    *["der tee war warm und der tag war lang"] * 100,
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text("\n".join(["text", *TEXTS]))
    Path("words.txt").write_text("der\nund\nhabe\nwar\n")


def test_german_names_its_persons_and_function_words(run: Run) -> None:
    train = "topics train texts.csv --space voice --out m"
    refused(run, train, "--first-person ich,mich,mein")
    persons = "--second-person du,deine --stop-words words.txt --first-person"
    assert not answer(run, f"{train} {persons}", "ich, meine")[1]
    card = json.loads(Path("m/card.json").read_text())["parameters"]
    assert (card["first_person"], card["second_person"]) == (["ich", "meine"], ["du", "deine"])
    assert card["function_words"] == ["der", "habe", "und", "war"]


def test_persons_are_for_the_first_person_space_only(run: Run) -> None:
    words = "topics train texts.csv --first-person ich --out m"
    refused(run, words, "are for --space voice, got lda")
