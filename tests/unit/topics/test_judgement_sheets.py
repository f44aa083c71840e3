"""Sheets show judges what they should see, and nothing that a spreadsheet would compute."""

import csv
import io
from pathlib import Path

import pytest

from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.sheets import CATEGORIES, check_items, topic_item, topic_sheet
from sottovoce.topics.judgements.votes import (
    csv_text,
    plain_cell,
    read_rows,
    safe_cell,
    write_rows,
)

WORDS = tuple(f"word{number:02}" for number in range(25))
CATALOGUE = Catalogue(
    tuple(Topic(f"secret name {number}", (f"own{number}", *WORDS), "other") for number in range(9))
)


def test_every_judge_sees_every_topic_once_in_an_order_of_her_own() -> None:
    rows = topic_sheet(CATALOGUE, judges=3, seed=1)
    orders = [[row["item"] for row in rows if row["judge"] == f"judge-{n}"] for n in (1, 2, 3)]
    assert all(sorted(order) == sorted(orders[0]) for order in orders)  # type: ignore[type-var] # texts
    assert len({tuple(order) for order in orders}) == 3
    assert len(set(orders[0])) == len(CATALOGUE)
    assert topic_sheet(CATALOGUE, judges=3, seed=1) == rows
    assert topic_sheet(CATALOGUE, judges=3, seed=2) != rows


def test_a_sheet_shows_twenty_words_the_questions_and_no_name() -> None:
    row = topic_sheet(CATALOGUE, judges=1)[0]
    assert len(str(row["words"]).split(", ")) == 20
    assert all(category in str(row["domain_question"]) for category in CATEGORIES)
    assert "secret name" not in str(row)
    assert (row["sensitive"], row["domain"]) == ("", "")


def test_without_judges_there_is_one_row_a_topic() -> None:
    rows = topic_sheet(CATALOGUE, judges=0)
    assert len(rows) == len(CATALOGUE)
    assert {row["judge"] for row in rows} == {""}


def test_an_item_s_code_changes_with_the_words_that_are_shown_only() -> None:
    topic = Topic("a", WORDS, "other")
    assert topic_item(topic) == topic_item(Topic("a", WORDS[:20], "law", sensitive=True))
    assert topic_item(topic) != topic_item(Topic("a", WORDS[1:], "other"))
    assert topic_item(topic) != topic_item(Topic("b", WORDS, "other"))


def test_attention_checks_say_what_to_answer_and_look_like_any_row() -> None:
    rows = topic_sheet(CATALOGUE, judges=1, checks=2)
    checks = [row for row in rows if row["item"] in check_items()]
    assert len(checks) == 2
    for row in checks:
        answer, domain = check_items()[str(row["item"])]
        assert f"answer {answer}, and choose {domain}" in str(row["words"])
    assert len({len(str(row["item"])) for row in rows}) == 1


@pytest.mark.parametrize(
    "options", [{"judges": -1}, {"judges": 1001}, {"checks": 5}, {"checks": -1}]
)
def test_impossible_sheets_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        topic_sheet(CATALOGUE, **options)


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("x")',
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        " =1",
        "\n=1",
        "\N{FULLWIDTH EQUALS SIGN}1",
        "'quoted'",
    ],
)
def test_a_cell_that_would_be_computed_is_guarded_and_read_back(text: str) -> None:
    safe = safe_cell(text)
    assert safe.startswith("'")
    assert plain_cell(safe) == text.strip()


@pytest.mark.parametrize("text", ["word", "3 = 4", "a-b", "", "line\nline"])
def test_an_ordinary_cell_is_left_alone(text: str) -> None:
    assert safe_cell(text) == text


def test_control_characters_become_blanks() -> None:
    assert safe_cell("a\x00b\x1bc\rd") == "a b c d"
    assert safe_cell("\r=1").startswith("'")


def test_what_is_written_is_read_again_whatever_the_delimiter(tmp_path: Path) -> None:
    rows = [{"a": '=x,"y"\nz', "b": "-"}, {"a": "plain;", "b": "'q"}]
    path = tmp_path / "rows.csv"
    write_rows(path, ("a", "b"), rows)
    read = [row for _, row in read_rows(path)]
    assert read == rows
    for delimiter in ";\t":
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter)
        writer.writerows(csv.reader(io.StringIO(csv_text(("a", "b"), rows))))
        path.write_text(out.getvalue())
        assert [row for _, row in read_rows(path)] == rows


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"a,b\n1,2,3\n", "row 1 has more cells"), (b"\xff\xfe\x00", "UTF-8")],
)
def test_a_broken_file_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=says):
        list(read_rows(path))


def test_a_file_that_is_absent_too_large_or_no_csv_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="No such file"):
        list(read_rows(tmp_path / "none.csv"))
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "x" * 200_000 + ",1\n")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        list(read_rows(path))
    monkeypatch.setattr("sottovoce.topics.judgements.votes.MOST_BYTES", 10)
    with pytest.raises(InputError, match="at most 10 bytes"):
        list(read_rows(path))


def test_a_column_named_twice_is_refused_and_blank_names_may_repeat(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("topic,answer, topic \nhiv,yes,debts\n")
    with pytest.raises(InputError, match="name of column 1 comes again"):
        list(read_rows(path))
    path.write_text("topic,,answer,\nhiv,,yes,\n")
    assert [row["answer"] for _, row in read_rows(path)] == ["yes"]
