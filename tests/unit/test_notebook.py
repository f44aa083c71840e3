"""What results look like in a notebook."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sottovoce._notebook import html_facts, html_table
from sottovoce.assess.evaluation.significance import Interval
from sottovoce.assess.explanation import Explanation, Interest, Position, PostShare, WordShare
from sottovoce.learn.run.evaluate import ConfusionCounts
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.privacy.audit.findings import AuditReport, Finding
from sottovoce.report.page import Plot, new_figure
from sottovoce.report.result import StudyResult


def test_cells_are_escaped_and_numbers_readable() -> None:
    shown = html_table([{"a<b": "<script>", "n": 12345, "x": 0.123456, "y": True, "z": None}])
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    for text in ("a&lt;b", "12,345", "0.1235", "yes", "<td>-</td>"):
        assert text in shown


def test_facts_stand_one_below_the_other() -> None:
    assert html_facts({"users": 3}, "Of <us>").count("<tr>") == 2
    assert "<caption>Of &lt;us&gt;</caption>" in html_facts({"users": 3}, "Of <us>")


def test_an_interval_reads_like_one() -> None:
    assert str(Interval(0.5, 0.41, 0.6)) == "0.500 (0.410 to 0.600)"


def test_an_explanation_shows_times_and_words_and_no_text() -> None:
    post = PostShare(0, datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 4, 29, tzinfo=UTC), 0.2)
    found = Explanation(
        Position(0.5, 3, 10), Interest(0.1, 0.2, 0.3), (post,), (WordShare("debt", 0.1),),
        Position(0.2, 7, 10),
    )  # fmt: skip
    shown = found._repr_html_()
    for text in ("2024-05-01", "debt", "persistence", "rank without"):
        assert text in shown


def test_a_study_shows_its_table_its_figures_and_its_notes() -> None:
    figure, axes = new_figure()
    axes.plot([0, 1])
    plot = Plot(figure, "It rises & falls.", "A line.")
    shown = StudyResult(({"n": 1, "x": 0.5},), (plot,), ("n", "x"), ("A <note>.",))._repr_html_()
    for text in ("<svg", "It rises &amp; falls.", "A &lt;note&gt;.", "<td>0.5</td>"):
        assert text in shown


HOLDS, FAILS = Finding("a", True, "fine"), Finding("b", False, "off")
SUMS = Leakage("sums", (Learns("peer", "nothing"),), "all of them learn it")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (SUMS, ("peer", "nothing", "together", "all of them learn it", "sums")),
        (AuditReport((HOLDS,)), ("The claim holds",)),
        (AuditReport((HOLDS, FAILS)), ("refuted",)),
        (ConfusionCounts(3, 1, 0, 6), ("0.1", "0.75")),
    ],
)
def test_a_result_says_what_matters(result: Any, words: tuple[str, ...]) -> None:  # noqa: ANN401 - any result
    shown = result._repr_html_()
    assert [word for word in words if word not in shown] == []
