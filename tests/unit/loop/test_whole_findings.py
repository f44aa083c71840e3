"""What is said of whole documents that are hidden in two ways."""

import numpy as np

from sottovoce.loop._round import FOUND
from sottovoce.loop._whole import BOUND, DOCUMENT, LOCAL, NOTHING, TOGETHER, TOLD
from sottovoce.loop.loop import _add_comparison
from sottovoce.report.result import Row, StudyResult


def row(way: str, right: float, told: float, found: float | None, **more: str | None) -> Row:
    epsilon = None if way == NOTHING else "1"
    return {
        "way": way,
        "unit": None if way == NOTHING else DOCUMENT,
        "epsilon": epsilon,
        "votes": 10,
        "accuracy_true": right,
        "accuracy_majority": 0.6,
        "jaccard": right / 2,
        "jaccard_chance": 0.06,
        "totals_error": 0.5,
        TOLD: told,
        BOUND: None if epsilon is None else 0.14,
        FOUND: found,
        "defect": None,
        **more,
    }


ROWS = (row(NOTHING, 0.9, 1, 0.4), row(LOCAL, 0.61, 0.1, 0.03), row(TOGETHER, 0.8, 0.12, None))


def said(rows: tuple[Row, ...]) -> StudyResult:
    return _add_comparison(StudyResult((), (), ("way",)), rows, FOUND)


def test_the_three_ways_are_told_in_one_sentence_with_the_bound() -> None:
    first = said(ROWS).notes[0]
    assert "the classifier is right in 0.80, 0.61 and 0.90 of true documents" in first
    assert "one document is told in 0.12, 0.10 and 1.00 (by the promise at most 0.14)" in first


def test_nobody_is_said_to_be_found_in_a_sum() -> None:
    first = said(ROWS).notes[0]
    assert (
        "concerned is 0.03 in the local release, 0.40 without protection, and does not exist"
        in first
    )
    assert said(ROWS).table()[-1] == {"way": TOGETHER}


def test_every_way_has_a_bar_and_its_bound_a_mark() -> None:
    (plot,) = said(ROWS).plots
    told = plot.figure.axes[0]
    assert [bar.get_extents().width > 0 for bar in told.patches] == [True] * 3
    assert [text.get_text() for text in told.texts] == ["1.00", "0.10", "0.12"]
    assert np.asarray(told.lines[0].get_xdata()).tolist() == [0.14, 0.14]
    assert [label.get_text() for label in told.get_yticklabels()] == [
        "no protection",
        "local release, ε = 1",
        "count together, ε = 1",
    ]


def test_more_than_the_bound_is_called_a_defect_by_its_way() -> None:
    assert said(ROWS).notes[-1].endswith("by more than chance allows.")
    wrong = (*ROWS[:-1], row(TOGETHER, 0.8, 0.9, None, defect="above the bound"))
    assert "DEFECT: by count together, ε = 1 more documents" in said(wrong).notes[-1]
