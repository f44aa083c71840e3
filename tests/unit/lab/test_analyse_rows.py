"""The rows of the study of readers have the names and the pairs that they promise."""

import pytest
from sottovoce_lab.release.analyse_rows import NAMES, AnalyseSetting, compared_rows, reader_row

from sottovoce.errors import ParameterError

SETTING = AnalyseSetting(data="news", documents=10, words=3, rate=0.5, score="accuracy")


def test_a_row_has_every_name_and_nothing_else() -> None:
    row = reader_row(SETTING, "bits", [0.5, 0.7])
    assert tuple(row) == NAMES
    assert row["mean"] == pytest.approx(0.6)
    assert row["values"] == [0.5, 0.7]
    assert row["topics"] is None


def test_the_difference_is_taken_seed_by_seed_against_the_best_baseline() -> None:
    chosen = [0.9, 0.7]
    rows = compared_rows(SETTING, chosen, {"poor": [0.1, 0.1], "good": [0.8, 0.5]}, reference=1.0)
    by_reader = {row["reader"]: row for row in rows}
    assert list(by_reader) == ["poor", "good", "chosen", "difference"]
    assert by_reader["difference"]["values"] == pytest.approx([0.1, 0.2])
    assert by_reader["difference"]["baseline"] == pytest.approx(0.65)
    assert by_reader["chosen"]["reference"] == 1.0


def test_a_score_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ParameterError, match="score must be one of jaccard"):
        AnalyseSetting(data="news", documents=1, words=1, rate=1.0, score="f1")
