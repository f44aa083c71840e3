"""Exports as other programs and languages write them: a guess with its reason, or a question."""

import json
from pathlib import Path

import pytest

from sottovoce.cluster._read import _located
from sottovoce.corpus._schema import POSTS
from sottovoce.corpus.read import ReadOptions, open_posts
from sottovoce.corpus.read._guessed import guessed_reading
from sottovoce.errors import CorpusError

ROWS = [
    ["1", "ada", "2024-05-01 10:00:00", "A loan", "My loan is late again and the bank wrote."],
    ["2", "ben", "2024-05-02 10:00:00", "Re: A loan", "Mine too, it has been a long winter here."],
    ["3", "ada", "2024-05-03 10:00:00", "The sea", "We went to the sea and it was very cold."],
]


def guessed(path: Path, lines: list[list[str]], between: str = ",") -> dict[str, str | int]:
    quoted = [between.join(f'"{cell}"' for cell in line) for line in lines]
    path.write_text("\n".join(quoted) + "\n", encoding="utf-8")
    return dict(guessed_reading(path, POSTS, ReadOptions()).options.columns)


@pytest.mark.parametrize(
    "names",
    [
        ["Nr", "Nutzername", "Erstellt am", "Betreff", "Beitragstext"],
        ["Post ID", "Display Name", "Posted On", "Thread Title", "Post Content"],
        ["n", "Pseudo", "Publie\u0301 le", "Sujet", "Commentaire"],
    ],
)
def test_names_of_other_programs_and_languages_are_known(tmp_path: Path, names: list[str]) -> None:
    found = guessed(tmp_path / "e.csv", [names, *ROWS])
    assert found == {"user": names[1], "time": names[2], "text": names[4]}


def question(path: Path, lines: list[list[str]], between: str = ",") -> str:
    with pytest.raises(CorpusError) as refused:
        guessed(path, lines, between)
    return str(refused.value)


def test_a_question_speaks_of_nothing_else_and_offers_no_number_of_posts(tmp_path: Path) -> None:
    names = ["Post No", "Team", "created_at", "subject", "body"]
    asked = question(tmp_path / "e.csv", [names, *ROWS])
    assert asked.startswith(f"{tmp_path / 'e.csv'}: No column is clearly the user of a post: Team,")
    assert "--fields user=Team" in asked
    assert "has no column" not in asked


def test_a_name_of_two_words_is_quoted_as_a_shell_wants_it(tmp_path: Path) -> None:
    asked = question(tmp_path / "e.csv", [["n", "Team Kit", *"abc"], *ROWS])
    assert "does not look like column names" in asked
    names = ["n", "Team Kit", "created_at", "subject", "body"]
    assert "--fields 'user=Team Kit'" in question(tmp_path / "e.csv", [names, *ROWS])


def test_a_single_column_is_a_question_about_what_stands_between(tmp_path: Path) -> None:
    asked = question(tmp_path / "e.csv", [["author", "created_at", "body"], *ROWS], " ")
    assert "seems to have 1 column" in asked
    assert "--delimiter" in asked


def test_an_author_within_an_object_is_not_taken_for_a_name(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    rows = [{"author": {"name": row[1]}, "created": row[2], "body": row[4]} for row in ROWS]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(CorpusError, match="No column.*the user.*nested in author is not read"):
        guessed_reading(path, POSTS, ReadOptions())


def test_numbers_that_deleted_authors_share_do_not_part_names_and_numbers(tmp_path: Path) -> None:
    names = ["user_id", "username", "created_at", "body"]
    rows = [[{"ada": "17", "ben": "4"}[row[1]], row[1], row[2], row[4]] for row in ROWS]
    rows += [["-1", name, *rows[0][2:]] for name in ("[deleted]", "news_bot")]
    assert guessed(tmp_path / "e.csv", [names, *rows])["user"] == "user_id"
    rows += [["4", "cy", *rows[0][2:]]]
    assert "2 columns could be the user" in question(tmp_path / "e.csv", [names, *rows])


def test_spark_proposes_what_the_names_tell() -> None:
    names = ["id", "author", "created_at", "body"]
    with pytest.raises(CorpusError, match="--fields user=author,time=created_at,text=body"):
        _located(POSTS, ReadOptions(), names, "posts")
    with pytest.raises(CorpusError, match="--fields user=author,time=created_at[?]"):
        _located(POSTS, ReadOptions().named(text="body"), names, "posts")
    with pytest.raises(CorpusError, match="Map it: --fields"):
        _located(POSTS, ReadOptions(), [*names, "message"], "posts")


def test_blanks_around_a_name_do_not_hide_it(tmp_path: Path) -> None:
    lines = [["n", "author", " Created At ", "subject", "body"], *ROWS]
    guessed(tmp_path / "e.csv", lines)
    said = guessed_reading(tmp_path / "e.csv", POSTS, ReadOptions()).said
    assert "time = Created At (by its name)" in said[0]


def test_an_array_of_json_is_answered_by_how_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(CorpusError, match="--format jsonl.*jq -c"):
        open_posts(path)
