"""Which columns of somebody's export are the user, the time and the text: guesses and questions."""

import csv
from pathlib import Path

import pytest

from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.read.guess import named_for
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError, UnclearColumnsError

NAMES = ["id", "author", "created_at", "subject", "body"]
ROWS = [
    ["1", "ada", "2024-05-01 10:00:00", "A loan", "My loan is late again and the bank wrote."],
    ["2", "ben", "2024-05-02 10:00:00", "Re: A loan", "Mine too, it has been a long winter here."],
    ["3", "ada", "2024-05-03 10:00:00", "The sea", "We went to the sea and it was very cold."],
]


def write(path: Path, names: list[str], rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([names, *rows])
    return path


def guessed(path: Path, **told: str) -> tuple[dict[str, str | int], tuple[str, ...]]:
    found = guessed_reading(path, POSTS, ReadOptions().with_columns(**told))
    return dict(found.options.columns), found.said


def test_a_forum_export_is_understood_and_said_in_one_line(tmp_path: Path) -> None:
    columns, said = guessed(write(tmp_path / "e.csv", NAMES, ROWS))
    assert columns == {"user": "author", "time": "created_at", "text": "body"}
    assert len(said) == 1
    assert "user = author (by its name)" in said[0]


def test_our_own_names_in_any_case_need_no_guess(tmp_path: Path) -> None:
    path = write(
        tmp_path / "e.csv", ["USER", " Time", "Text"], [row[1:3] + row[4:] for row in ROWS]
    )
    assert guessed(path) == ({}, ())
    assert open_posts(path).read_all()["user"].to_pylist() == ["ada", "ben", "ada"]


def test_what_was_told_stays_and_the_rest_is_guessed(tmp_path: Path) -> None:
    columns, _ = guessed(write(tmp_path / "e.csv", NAMES, ROWS), text="subject")
    assert columns == {"user": "author", "time": "created_at", "text": "subject"}


def test_a_column_that_was_told_and_is_not_there_is_answered_by_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no column 'boddy'.*Did you mean 'body'"):
        guessed(write(tmp_path / "e.csv", NAMES, ROWS), text="boddy")


@pytest.mark.parametrize(
    ("names", "asked"),
    [
        (["author", "created_at", "body", "message"], "2 columns could be the text.*body, message"),
        (["colour", "created_at", "body", "size"], "No column is clearly the user"),
        (["author", "colour", "body", "size"], "No column is clearly the time"),
        (["author", "created_at", "posted_at", "body"], "2 columns could be the time"),
    ],
)
def test_what_is_not_clear_is_asked(tmp_path: Path, names: list[str], asked: str) -> None:
    kinds = {
        "author": ["ada", "ben", "ada"],
        "colour": ["red", "red", "blue"],
        "size": ["small", "large", "small"],
        "created_at": [row[2] for row in ROWS],
        "posted_at": [row[2].replace("2024", "2023") for row in ROWS],
        "body": [row[4] for row in ROWS],
        "message": [f"{row[4]} indeed" for row in ROWS],
    }
    rows = [list(row) for row in zip(*(kinds[name] for name in names), strict=True)]
    with pytest.raises(UnclearColumnsError, match=f"(?s){asked}.*Which one is it.*--fields"):
        guessed(write(tmp_path / "e.csv", names, rows))


def test_two_names_of_the_same_people_are_one(tmp_path: Path) -> None:
    rows = [[row[1], {"ada": "17", "ben": "4"}[row[1]], *row[2:]] for row in ROWS]
    names = ["author", "author_id", *NAMES[2:]]
    columns, said = guessed(write(tmp_path / "e.csv", names, rows))
    assert columns["user"] == "author"
    assert "names the same people as author_id" in said[0]


def test_columns_without_a_known_name_are_told_by_what_they_hold(tmp_path: Path) -> None:
    columns, said = guessed(write(tmp_path / "e.csv", ["n", "author", "x", "y", "z"], ROWS))
    assert columns == {"user": "author", "time": "x", "text": "z"}
    assert "the only one that holds times" in said[0]
    assert "by far the longest" in said[0]


def test_a_first_row_that_is_somebodys_post_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as refused:
        guessed(write(tmp_path / "e.csv", ROWS[0], ROWS[1:]))
    assert "does not look like column names" in str(refused.value)
    assert "loan" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "role", "sure"),
    [
        ("createdAt", "time", 3),
        ("Screen Name", "user", 3),
        ("tweet_text", "text", 2),
        ("comment_count", "text", 0),
        ("author_karma", "user", 0),
        ("subject", "text", 1),
        ("colour", "text", 0),
    ],
)
def test_names_are_known_however_they_are_spelt(name: str, role: str, sure: int) -> None:
    assert named_for(name, role) == sure


@pytest.mark.parametrize(("delimiter", "said"), [(";", "semicolon"), ("\t", "tab"), ("|", "bar")])
def test_other_delimiters_are_found_and_said(tmp_path: Path, delimiter: str, said: str) -> None:
    path = write(tmp_path / "e.csv", NAMES, ROWS, delimiter)
    found = guessed_reading(path, POSTS, ReadOptions())
    assert said in found.said[0]
    assert open_posts(path, options=found.options).read_all().num_rows == 3


def test_a_semicolon_within_a_comma_file_stays_a_character(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text('user,time,text\nada,2024-01-01,"a; b"\n')
    assert open_posts(path).read_all()["text"].to_pylist() == ["a; b"]


def test_a_newline_in_quotes_is_kept_whatever_the_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", ["user", "time", "text"], [["ada", "2024-01-01", "a\nb"]], ";")
    assert open_posts(path).read_all()["text"].to_pylist() == ["a\nb"]


def test_only_one_order_of_day_and_month_is_taken(tmp_path: Path) -> None:
    rows = [[row[0], row[1], f"{10 + int(row[0])}/2/2024 9:05", *row[3:]] for row in ROWS]
    path = write(tmp_path / "e.csv", NAMES, rows)
    found = guessed_reading(path, POSTS, ReadOptions())
    assert "day-first" in found.said[1]
    days = [
        time.day for time in open_posts(path, options=found.options).read_all()["time"].to_pylist()
    ]
    assert days == [11, 12, 13]


def test_dates_that_fit_both_orders_are_asked_about(tmp_path: Path) -> None:
    rows = [[row[0], row[1], f"{row[0]}/2/2024", *row[3:]] for row in ROWS]
    with pytest.raises(UnclearColumnsError, match="--day-first or --month-first"):
        guessed(write(tmp_path / "e.csv", NAMES, rows))


def test_another_encoding_is_guessed_with_its_reason_or_asked(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    text = "author,created_at,body\nada,2024-01-01,grün ist die Straße im Frühling sagt man\n"
    path.write_bytes(text.encode("windows-1252"))
    found = guessed_reading(path, POSTS, ReadOptions())
    assert found.options.encoding == "windows-1252"
    assert "no byte of it beyond ASCII is UTF-8" in found.said[0]
    path.write_bytes(
        text.replace("grün ist die", "привет это мой долгий текст о").encode("cp1251", "ignore")
    )
    with pytest.raises(CorpusError, match="Which encoding is"):
        guessed_reading(path, POSTS, ReadOptions())
    path.write_bytes(text.encode("utf-16"))
    assert guessed_reading(path, POSTS, ReadOptions()).options.encoding == "utf-16"
    path.write_bytes(text.encode() + b"ben,2024-01-02,a damaged \xff byte\n")
    assert guessed_reading(path, POSTS, ReadOptions()).options.encoding == "utf-8"
