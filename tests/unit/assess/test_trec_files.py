"""TREC's files, out and in."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sottovoce.assess.evaluation.judged import read_judgements, read_ranks
from sottovoce.assess.evaluation.trec import read_qrels, read_run, write_qrels, write_runs
from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError, ParameterError

NAMES = ["u 1", "u%20", "ü\tx", "u4"]


def truth_table(sensitive: list[bool], grades: list[float]) -> pa.Table:
    count = len(grades)
    return pa.table(
        [NAMES[:count], ["big topic"] * count, [None] * count, sensitive, grades], schema=TRUTH
    )


def ranks_table(scores: list[float], measure: str = "lda-dt") -> pa.Table:
    count = len(scores)
    return pa.table(
        {
            "measure": [measure] * count,
            "user": NAMES[:count],
            "topic": ["big topic"] * count,
            "score": scores,
        }
    )


def test_qrels_come_back_as_they_went_out(tmp_path: Path) -> None:
    truth = truth_table([True, False, True, False], [1.0, 0.5, 0.61, 0.0])
    cut = write_qrels(truth, tmp_path / "q.qrels")
    again = read_qrels(tmp_path / "q.qrels", cut)
    assert cut == 61
    for name in ("user", "topic", "sensitive", "grade"):
        assert again[name].to_pylist() == truth[name].to_pylist()
    assert (tmp_path / "q.qrels").stat().st_mode & 0o777 == 0o600


def test_qrels_levels_can_be_one_and_zero(tmp_path: Path) -> None:
    truth = truth_table([True, False], [0.3, 0.9])
    with pytest.raises(InputError, match="1 who are not have a grade as high"):
        write_qrels(truth, tmp_path / "q")
    assert write_qrels(truth, tmp_path / "q", "sensitive") == 1
    lines = (tmp_path / "q").read_text().splitlines()
    assert lines == ["big%20topic 0 u%201 1", "big%20topic 0 u%2520 0"]


def test_levels_below_zero_count_as_zero(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("t 0 a -2\nt 0 b 4\nt 0 c 1\n\n")
    table = read_qrels(tmp_path / "q", cut=2)
    assert table["sensitive"].to_pylist() == [False, True, False]
    assert table["grade"].to_pylist() == [0.0, 1.0, 0.25]


def test_a_run_is_written_by_falling_score_and_ties_share_a_rank(tmp_path: Path) -> None:
    write_runs(ranks_table([0.5, np.inf, 0.5, 0.25]), tmp_path / "out.run")
    lines = [line.split() for line in (tmp_path / "out.run").read_text().splitlines()]
    assert [line[3] for line in lines] == ["1", "2", "2", "4"]
    assert [line[4] for line in lines] == ["inf", "0.5", "0.5", "0.25"]
    assert {line[5] for line in lines} == {"lda-dt"}
    assert (tmp_path / "out.run").stat().st_mode & 0o777 == 0o600


def test_ranks_start_again_with_every_topic(tmp_path: Path) -> None:
    one = ranks_table([2.0, 1.0])
    other = one.set_column(2, "topic", pa.array(["a", "a"]))
    write_runs(pa.concat_tables([one, other]), tmp_path / "r")
    lines = [line.split() for line in (tmp_path / "r").read_text().splitlines()]
    assert [(line[0], line[3]) for line in lines] == [
        ("a", "1"),
        ("a", "2"),
        ("big%20topic", "1"),
        ("big%20topic", "2"),
    ]


def test_a_run_comes_back_with_the_same_scores(tmp_path: Path) -> None:
    scores = [0.1 + 0.2, 1e-300, -np.inf, 1 / 3]
    write_runs(ranks_table(scores), tmp_path / "r")
    again = read_run(tmp_path / "r")
    found = dict(zip(again["user"].to_pylist(), again["score"].to_pylist(), strict=True))
    assert found == dict(zip(NAMES, scores, strict=True))
    assert set(again["topic"].to_pylist()) == {"big topic"}


def test_several_measures_go_into_a_folder_a_file_each(tmp_path: Path) -> None:
    ranks = pa.concat_tables([ranks_table([1.0, 2.0]), ranks_table([2.0, 1.0], "my/own")])
    files = write_runs(ranks, tmp_path / "runs")
    assert [file.name for file in files] == ["lda-dt.run", "my%2Fown.run"]
    assert read_run(files[1])["measure"].to_pylist() == ["my/own"] * 2
    (tmp_path / "folder").mkdir()
    assert write_runs(ranks_table([1.0]), tmp_path / "folder") == [
        tmp_path / "folder" / "lda-dt.run"
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("t Q0 u 1 0.5\n", "line 1: must have 6 fields .* got 5"),
        ("\n\nt Q0 u 1 high r\n", "line 3: score must be a number"),
        ("t Q0 u 1 nan r\n", "line 1: score must be a number"),
        ("t Q0 u first 0.5 r\n", "line 1: rank must be a whole number"),
        ("t Q0 u 1 0.5 r\nt Q0 u 2 0.4 r\n", "line 2: ranks a user of the topic again"),
        ("t Q0 u 1 0.5 r\nt Q0 v 2 0.9 r\n", "1 users rank above one with a higher score"),
        ("", "at least 1 line"),
        ("t Q0 \udcff 1 0.5 r\n", "line 1: must be UTF-8"),
    ],
)
def test_a_broken_run_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "r").write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "r")


def test_equal_scores_may_have_any_order_of_ranks(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("t Q0 a 2 0.5 r\nt Q0 b 1 0.5 r\nt Q0 c 3 0.1 r\n")
    assert read_run(tmp_path / "r").num_rows == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("t 0 u\n", "line 1: must have 4 fields"),
        ("t 0 u yes\n", "line 1: level must be a whole number"),
        ("t 0 u 1\nt 0 u 1\n", "line 2: repeats a user"),
        ("t 0 u 0\n", "must have a user of level 1 or more, got 0"),
        ("", "must have a user of level 1 or more"),
    ],
)
def test_broken_qrels_are_refused_with_their_line(
    tmp_path: Path, content: str, message: str
) -> None:
    (tmp_path / "q").write_text(content)
    with pytest.raises(InputError, match=message):
        read_qrels(tmp_path / "q")


def test_a_file_that_is_not_there_or_a_cut_below_one_is_refused(tmp_path: Path) -> None:
    for reader in (read_run, read_ranks, read_qrels):
        with pytest.raises(InputError, match="cannot read"):
            reader(tmp_path / "absent")
    with pytest.raises(ParameterError, match="must be >= 1, got 0"):
        read_judgements(tmp_path / "q.qrels", 0)


def test_an_empty_name_cannot_be_written(tmp_path: Path) -> None:
    ranks = ranks_table([1.0]).set_column(1, "user", pa.array([""]))
    with pytest.raises(InputError, match="must not be empty"):
        write_runs(ranks, tmp_path / "r")
    assert list(tmp_path.iterdir()) == []
