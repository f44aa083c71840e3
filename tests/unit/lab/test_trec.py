"""TREC's files, out and in."""

from pathlib import Path

import pyarrow as pa
import pytest
from sottovoce_lab.trec import read_qrels, read_run, write_qrels, write_run

from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError

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


def test_grades_that_separate_nobody_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="separate the sensitive"):
        write_qrels(truth_table([True, False], [0.3, 0.9]), tmp_path / "q")


def test_levels_below_zero_count_as_zero(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("t 0 a -2\nt 0 b 4\nt 0 c 1\n\n")
    table = read_qrels(tmp_path / "q", cut=2)
    assert table["sensitive"].to_pylist() == [False, True, False]
    assert table["grade"].to_pylist() == [0.0, 1.0, 0.25]
    with pytest.raises(InputError, match="level 5"):
        read_qrels(tmp_path / "q", cut=5)


def test_runs_come_back_and_equal_scores_share_a_rank(tmp_path: Path) -> None:
    ranks = pa.concat_tables([ranks_table([0.5, 2.0, 0.5, 0.25]), ranks_table([1.0], "ent")])
    write_run(ranks, tmp_path / "run")
    again = read_run(tmp_path / "run")
    assert sorted(map(str, again.to_pylist())) == sorted(map(str, ranks.to_pylist()))
    lines = (tmp_path / "run").read_text(encoding="utf-8").splitlines()
    assert [line.split(" ")[3] for line in lines] == ["1", "1", "2", "2", "4"]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("t Q0 u 1 1 r\nt Q0 u\n")
    with pytest.raises(InputError, match="line 2: must have 6 fields"):
        read_run(tmp_path / "run")
