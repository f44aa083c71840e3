"""The truth about users is read whole, or refused."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sottovoce.corpus.read.corpus import Coverage, check_truth_against_posts, open_posts, read_truth
from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import CorpusError

ROW = {"user": "ann", "topic": "debt", "persona": "student", "sensitive": True, "grade": 0.5}


def table(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), TRUTH)


def test_truth_is_the_same_from_parquet_csv_and_json_lines(tmp_path: Path) -> None:
    parquet.write_table(table(ROW), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(
        "user,topic,persona,sensitive,grade\nann,debt,student,true,0.5\n"
    )
    (tmp_path / "a.jsonl").write_text(
        '{"user":"ann","topic":"debt","persona":"student","sensitive":true,"grade":0.5}\n\n'
    )
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        assert read_truth(tmp_path / name).to_pylist() == [ROW]


def test_persona_may_be_absent() -> None:
    truth = read_truth(table(ROW).drop_columns("persona"))
    assert truth.to_pylist() == [ROW | {"persona": None}]


def test_repeated_pairs_are_counted_and_not_named() -> None:
    with pytest.raises(CorpusError, match="2 rows that repeat") as caught:
        read_truth(table(ROW, ROW | {"grade": 1.0}, ROW, ROW | {"topic": "drugs"}))
    assert "ann" not in str(caught.value)


@pytest.mark.parametrize("grade", [-0.1, 1.1, float("nan")])
def test_grades_outside_their_range_are_counted(grade: float) -> None:
    with pytest.raises(CorpusError, match=r"from 0 to 1; 1 rows"):
        read_truth(table(ROW, ROW | {"user": "bob", "grade": grade}))


@pytest.mark.parametrize("head", ["user,subject\nann,debt\n", "1,2\n3,4\n"])
def test_a_file_with_other_columns_is_told_what_a_truth_has(tmp_path: Path, head: str) -> None:
    (tmp_path / "a.csv").write_text(head)
    with pytest.raises(CorpusError, match="A truth has user, topic, persona, sensitive") as caught:
        read_truth(tmp_path / "a.csv")
    # No command that reads a truth has these options for it.
    assert "--fields" not in str(caught.value)
    assert "--header" not in str(caught.value)


def test_missing_values_are_counted() -> None:
    nullable = pa.schema([field.with_nullable(True) for field in TRUTH])
    truth = pa.Table.from_pylist([ROW, ROW | {"user": None}], nullable)
    with pytest.raises(CorpusError, match="1 rows without a user"):
        read_truth(truth)


def test_unreadable_values_are_refused_without_being_shown(tmp_path: Path) -> None:
    head = "user,topic,persona,sensitive,grade\n"
    path = tmp_path / "a.csv"
    for row, message in {
        "ann,debt,x,perhaps,0.5": "sensitive must be true or false",
        "ann,debt,x,true,much": "grade must be a number",
        "ann,debt,x,true": "every row of the truth must be readable: 1 rows read, 0 kept",
        "": "no row",
    }.items():
        path.write_text(head + row + "\n")
        with pytest.raises(CorpusError, match=message) as caught:
            read_truth(path)
        assert "perhaps" not in str(caught.value)
        assert "much" not in str(caught.value)


def test_users_known_on_one_side_only_are_counted() -> None:
    users = ["ann", "carl", "dora", "dora"]
    posts = open_posts(pa.table({"user": users, "time": [0] * 4, "text": ["x"] * 4}))
    truth = read_truth(table(ROW, ROW | {"user": "bob"}))
    assert check_truth_against_posts(truth, posts) == Coverage(1, 2)
