"""The rows of the study of readers have the names and the pairs that they promise."""

from dataclasses import replace

import pytest
from sottovoce_lab.release.analyse_rows import AnalyseSetting, compared_rows

SETTING = AnalyseSetting(data="news", documents=10, words=3, rate=0.5, score="accuracy")


def test_the_best_baseline_of_an_error_is_the_lowest() -> None:
    scores = {"chosen": [0.1], "poor": [0.9], "good": [0.3]}
    rows = compared_rows(replace(SETTING, score="error"), scores)
    assert rows[-1]["baseline"] == 0.3
    assert rows[-1]["mean"] == pytest.approx(-0.2)
