"""Exports as other programs and languages write them: a guess with its reason, or a question."""

import json
from pathlib import Path

import pytest
from sottovoce_spark._read import _locate_columns

from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.read.guess import grouping_column, person_column
from sottovoce.corpus.read.guessed import guessed_reading
from sottovoce.corpus.read.tally import ColumnSample, ReadOptions
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import CorpusError, ParameterError

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
        _locate_columns(POSTS, ReadOptions(), names, "posts")
    with pytest.raises(CorpusError, match="--fields user=author,time=created_at[?]"):
        _locate_columns(POSTS, ReadOptions().with_columns(text="body"), names, "posts")
    with pytest.raises(CorpusError, match="Map it: --fields"):
        _locate_columns(POSTS, ReadOptions(), [*names, "message"], "posts")


def test_blanks_around_a_name_do_not_hide_it(tmp_path: Path) -> None:
    lines = [["n", "author", " Created At ", "subject", "body"], *ROWS]
    guessed(tmp_path / "e.csv", lines)
    said = guessed_reading(tmp_path / "e.csv", POSTS, ReadOptions()).said
    assert "time = Created At (by its name)" in said[0]


def test_keys_are_names_whatever_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text('{"foo": "a", "a whole sentence of somebody": "b"}\n', encoding="utf-8")
    with pytest.raises(CorpusError) as refused:
        open_posts(path)
    assert "it has: foo and 1 more." in str(refused.value)
    assert "--header" not in str(refused.value)
    with pytest.raises(CorpusError, match="No column is clearly the time of a post: foo"):
        guessed_reading(path, POSTS, ReadOptions())


def test_one_column_is_not_several(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("3 and more\n4\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="it has 1 column and its first row does not look"):
        open_posts(path)


def test_a_question_offers_the_column_that_its_name_speaks_for(tmp_path: Path) -> None:
    names = ["id", "Date", "author", "subject", "body"]
    rows = [[row[0], "last week", row[1], *row[3:]] for row in ROWS]
    assert "--fields time=Date" in question(tmp_path / "e.csv", [names, *rows])
    names[1] = "size"
    assert "--fields time=NAME" in question(tmp_path / "e.csv", [names, *rows])


def test_those_who_ask_a_help_desk_are_users(tmp_path: Path) -> None:
    for name in ("Requester Name", "Customer"):
        names = ["id", name, "Date", "Subject", "Description"]
        assert guessed(tmp_path / "e.csv", [names, *ROWS])["user"] == name


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


def test_a_header_without_rows_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("user,time,text\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="there is no row at all, or only a header"):
        open_posts(path).read_all()


def test_an_array_of_json_is_answered_by_how_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "e.json"
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(CorpusError, match="--format jsonl.*jq -c"):
        open_posts(path)


WHOSE = "user author_id patient pat_id PatID subject_id MRN customer Client-ID participant"
WHOSE += " respondent_id student_id employee_no NHS-number uid e-mail person guest_id"


@pytest.mark.parametrize("name", WHOSE.split())
def test_a_column_that_says_whose_documents_are_is_known_by_its_name(name: str) -> None:
    columns = [ColumnSample("note", "note", ("a debt",)), ColumnSample(name, name, ("p1",))]
    assert person_column(columns) == name


@pytest.mark.parametrize("name", ["id", "subject", "thread_id", "product_id", "user_count", "text"])
def test_other_columns_say_of_nobody_whose_they_are(name: str) -> None:
    assert person_column([ColumnSample(name, name, ("p1",))]) is None
