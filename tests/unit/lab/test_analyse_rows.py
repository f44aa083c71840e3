"""The rows of the study of readers have the names and the pairs that they promise."""

from dataclasses import replace

import pytest
from sottovoce_lab.release.analyse_rows import NAMES, AnalyseSetting, compared_rows, reader_row

SETTING = AnalyseSetting(data="news", documents=10, words=3, rate=0.5, score="accuracy")


def test_a_row_has_every_name_and_nothing_else() -> None:
    row = reader_row(SETTING, "bits", [0.5, 0.7])
    assert tuple(row) == NAMES
    assert row["mean"] == pytest.approx(0.6)
    assert row["values"] == [0.5, 0.7]
    assert row["topics"] is None


def test_the_difference_is_taken_seed_by_seed_against_the_best_baseline() -> None:
    scores = {"chosen": [0.9, 0.7], "poor": [0.1, 0.1], "good": [0.8, 0.5]}
    rows = compared_rows(SETTING, scores, reference=1.0)
    by_reader = {row["reader"]: row for row in rows}
    assert list(by_reader) == ["poor", "good", "chosen", "difference"]
    assert by_reader["difference"]["values"] == pytest.approx([0.1, 0.2])
    assert by_reader["difference"]["baseline"] == pytest.approx(0.65)
    assert by_reader["chosen"]["reference"] == 1.0


def test_the_best_baseline_of_an_error_is_the_lowest() -> None:
    scores = {"chosen": [0.1], "poor": [0.9], "good": [0.3]}
    rows = compared_rows(replace(SETTING, score="error"), scores)
    assert rows[-1]["baseline"] == 0.3
    assert rows[-1]["mean"] == pytest.approx(-0.2)
