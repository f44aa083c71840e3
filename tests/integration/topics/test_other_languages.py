"""Training a first-person space on texts that are not in English, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]
TEXTS = [
    *["ich habe meine schulden und sorgen"] * 30,
    *["du solltest deine schulden und den kredit zahlen"] * 30,
    *["der tee war warm und der tag war lang"] * 100,
]


def test_german_names_its_persons_and_function_words(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("\n".join(["text", *TEXTS]))
    (tmp_path / "words.txt").write_text("der\nund\nhabe\nwar\n")
    asked = ("topics", "train", tmp_path / "texts.csv", "--space", "voice", "--out", tmp_path / "m")
    code, _, error = run(*asked)
    assert code == 2
    assert "--first-person ich,mich,mein" in error
    persons = ("--first-person", "ich, meine", "--second-person", "du,deine")
    code, _, error = run(*asked, *persons, "--stop-words", tmp_path / "words.txt")
    assert (code, error) == (0, "")
    card = json.loads((tmp_path / "m" / "card.json").read_text())["parameters"]
    assert (card["first_person"], card["second_person"]) == (["ich", "meine"], ["du", "deine"])
    assert card["function_words"] == ["der", "habe", "und", "war"]


def test_persons_are_for_the_first_person_space_only(run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("\n".join(["text", *TEXTS]))
    code, _, error = run(
        "topics", "train", tmp_path / "texts.csv", "--first-person", "ich", "--out", tmp_path / "m"
    )
    assert code == 2
    assert "are for --space voice, got lda" in error
