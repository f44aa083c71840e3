"""Which columns of somebody's export are the user, the time and the text: guesses and questions."""

import csv
import json
from pathlib import Path

import pytest
from sottovoce_spark._read import _locate_columns

from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.read.guess import grouping_column, named_for, person_column
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import ColumnSample, ReadOptions
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError, ParameterError, UnclearColumnsError

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


def guess_lines(path: Path, lines: list[list[str]], between: str = ",") -> dict[str, str | int]:
    quoted = [between.join(f'"{cell}"' for cell in line) for line in lines]
    path.write_text("\n".join(quoted) + "\n", encoding="utf-8")
    return dict(guessed_reading(path, POSTS, ReadOptions()).options.columns)


@pytest.mark.parametrize(
    "names",
    [
        ["Nr", "Nutzername", "Erstellt am", "Betreff", "Beitragstext"],
        ["Post ID", "Display Name", "Posted On", "Thread Title", "Post Content"],
        ["n", "Pseudo", "Publie\u0301 le", "Sujet", "Commentaire"],
        ["id", "Requester Name", "Date", "Subject", "Description"],
        ["id", "Customer", "Date", "Subject", "Description"],
    ],
)
def test_names_of_other_programs_and_languages_are_known(tmp_path: Path, names: list[str]) -> None:
    found = guess_lines(tmp_path / "e.csv", [names, *ROWS])
    assert found == {"user": names[1], "time": names[2], "text": names[4]}


def question(path: Path, lines: list[list[str]], between: str = ",") -> str:
    with pytest.raises(CorpusError) as refused:
        guess_lines(path, lines, between)
    return str(refused.value)


def test_a_question_speaks_of_nothing_else_and_offers_no_number_of_posts(tmp_path: Path) -> None:
    names = ["Post No", "Team", "created_at", "subject", "body"]
    asked = question(tmp_path / "e.csv", [names, *ROWS])
    assert asked.startswith(f"{tmp_path / 'e.csv'}: No column is clearly the user of a post: Team,")
    assert "--fields user=Team" in asked
    assert "has no column" not in asked


def test_a_name_of_two_words_is_quoted_as_a_shell_wants_it(tmp_path: Path) -> None:
    asked = question(tmp_path / "e.csv", [["n", "Team Kit", *"abc"], *ROWS])
    assert "none of its first row is a name we know (not shown)" in asked
    assert "Kit" not in asked
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
    with pytest.raises(
        CorpusError, match="No column.*the user.*Nested values in author are not read"
    ):
        guessed_reading(path, POSTS, ReadOptions())


def test_numbers_that_deleted_authors_share_do_not_part_names_and_numbers(tmp_path: Path) -> None:
    names = ["user_id", "username", "created_at", "body"]
    rows = [[{"ada": "17", "ben": "4"}[row[1]], row[1], row[2], row[4]] for row in ROWS]
    rows += [["-1", name, *rows[0][2:]] for name in ("[deleted]", "news_bot")]
    assert guess_lines(tmp_path / "e.csv", [names, *rows])["user"] == "user_id"
    rows += [["4", "cy", *rows[0][2:]]]
    assert "2 columns could be the user" in question(tmp_path / "e.csv", [names, *rows])


def test_spark_proposes_what_the_names_tell() -> None:
    names = ["id", "author", "created_at", "body"]
    with pytest.raises(CorpusError, match="--fields user=author,time=created_at,text=body"):
        _locate_columns(POSTS, ReadOptions(), names, "posts")
    with pytest.raises(CorpusError, match="--fields user=author,time=created_at[?]"):
        _locate_columns(POSTS, ReadOptions().with_columns(text="body"), names, "posts")
    with pytest.raises(CorpusError, match="Map it: --fields"):
        _locate_columns(POSTS, ReadOptions(), [*names, "message"], "posts")


def test_blanks_around_a_name_do_not_hide_it_and_a_guess_is_one_line(tmp_path: Path) -> None:
    lines = [["n", "author", " Created At ", "subject", "body"], *ROWS]
    guess_lines(tmp_path / "e.csv", lines)
    (said,) = guessed_reading(tmp_path / "e.csv", POSTS, ReadOptions()).said
    assert "user = author (by its name)" in said
    assert "time = Created At (by its name)" in said


def test_keys_are_names_whatever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"foo": "a", "a whole sentence of somebody": "b"}\n', encoding="utf-8")
    with pytest.raises(CorpusError) as refused:
        open_posts(path)
    assert "it has: foo and 1 more." in str(refused.value)
    assert "--header" not in str(refused.value)
    with pytest.raises(CorpusError, match="No column is clearly the time of a post: foo"):
        guessed_reading(path, POSTS, ReadOptions())


def test_a_question_offers_the_column_that_its_name_speaks_for(tmp_path: Path) -> None:
    names = ["id", "Date", "author", "subject", "body"]
    rows = [[row[0], "last week", row[1], *row[3:]] for row in ROWS]
    assert "--fields time=Date" in question(tmp_path / "e.csv", [names, *rows])
    names[1] = "size"
    assert "--fields time=NAME" in question(tmp_path / "e.csv", [names, *rows])


@pytest.mark.parametrize("name", ["Date", "time"])
def test_serial_dates_of_a_spreadsheet_are_told_as_such(tmp_path: Path, name: str) -> None:
    names = ["id", "author", name, "subject", "body"]
    rows = [[*row[:2], f"4602{row[0]}.34", *row[3:]] for row in ROWS]
    said = question(tmp_path / "e.csv", [names, *rows])
    assert f"the numbers of the column {name} look like a spreadsheet's serial dates" in said
    assert "4602" not in said


@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n', "\ufeffsep=;\n"])
def test_the_first_line_of_excel_names_the_delimiter(tmp_path: Path, line: str) -> None:
    path = tmp_path / "e.csv"
    path.write_text(f"{line}author;time;text\nada;2024-05-01;a, b\n", encoding="utf-8")
    found = guessed_reading(path, POSTS, ReadOptions()).options
    assert found.columns["user"] == "author"
    opened = open_posts(path, options=found)
    kept = opened.read_all().to_pylist()
    assert opened.tally.rows_read == 1
    assert [(row["user"], row["text"]) for row in kept] == [("ada", "a, b")]


def test_threads_go_by_the_title_of_a_topic_and_others_are_asked_for() -> None:
    columns = [ColumnSample(0, "topic_title", ()), ColumnSample(1, "text", ())]
    assert grouping_column(columns, "thread") == "topic_title"
    with pytest.raises(CorpusError, match="Say --by with the name of one of them"):
        grouping_column(columns[1:], "thread")


def test_fields_the_wrong_way_round_are_turned(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("author,time,text\nada,2024-05-01,a\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="got author. Our name comes first: write user=author"):
        open_posts(path, options=ReadOptions(columns={"author": "user"}))


WHOSE = "user author_id patient pat_id PatID subject_id MRN customer Client-ID participant"
WHOSE += " respondent_id student_id employee_no NHS-number uid e-mail person guest_id"


@pytest.mark.parametrize("name", WHOSE.split())
def test_a_column_that_says_whose_documents_are_is_known_by_its_name(name: str) -> None:
    columns = [ColumnSample("note", "note", ("a debt",)), ColumnSample(name, name, ("p1",))]
    assert person_column(columns) == name


@pytest.mark.parametrize("name", ["id", "subject", "thread_id", "product_id", "user_count", "text"])
def test_other_columns_say_of_nobody_whose_they_are(name: str) -> None:
    assert person_column([ColumnSample(name, name, ("p1",))]) is None
