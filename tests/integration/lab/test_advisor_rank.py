"""The study of the rank server on a handful of people."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from sottovoce_lab.advisor._errors import opened_by_protocol
from sottovoce_lab.advisor._people import crowd, rules_for
from sottovoce_lab.advisor.rank import RankStudySettings, run

from sottovoce.report.result import StudyResult

SMALL = RankStudySettings(
    people=(200, 400),
    epsilons=(Fraction(1), Fraction(2)),
    repetitions=3,
    fit_repetitions=1,
    attacked=20,
    costed=20,
    cost_seconds=0,
    trials=1 << 12,
)


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return run(SMALL)


def test_every_part_has_its_rows_and_each_row_says_what_came_out(result: StudyResult) -> None:
    parts = [row["part"] for row in result.rows]
    assert {part: parts.count(part) for part in parts} == {
        "noise": 4,
        "shares": 6,
        "report in shares": 1,
        "fitted edges, shares": 8,
        "fitted edges, noise": 8,
        "attack": 5,
        "audit": 4,
    }
    assert all(row["outcome"] for row in result.rows)
    assert len({tuple(row) for row in result.rows}) == 1
    assert "predicted" in result.plots[0].finding
    assert result.table()[0]["part"] == "noise"


def test_the_whole_protocol_opens_everybody_s_reports(result: StudyResult) -> None:
    rows = {row["case"]: row for row in result.rows if row["part"] == "shares" and row["case"]}
    assert set(rows) == {"whole protocol", "whole protocol, 2 fits"}
    for row in rows.values():
        assert row["people"] == 400
        # By the noise's law alone, the most in a million draws is 4 times.
        assert row["error_over_predicted"] < 6  # type: ignore[operator] # a number


def test_the_whole_protocol_without_its_noise_opens_the_exact_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    silent = SimpleNamespace(noise=lambda number: [0] * number)
    monkeypatch.setattr("sottovoce.advisor.rank.shares.GeometricMechanism", lambda _rate: silent)
    rules = rules_for("shares", Fraction(1), SMALL.buckets)
    community = crowd(200, rules, seed=1)
    opened = opened_by_protocol(community, rules)()
    assert opened.counts == tuple(community.counts.tolist())


def test_a_report_in_shares_has_its_size_told(result: StudyResult) -> None:
    costs = {row["case"]: row for row in result.rows if row["part"] == "report in shares"}
    assert {case: row["bytes"] for case, row in costs.items()} == {"Prio3Histogram": 848}
    assert "848 bytes" in str(costs["Prio3Histogram"]["outcome"])


def test_fitted_edges_have_a_row_for_each_round_and_a_place_in_the_finding(
    result: StudyResult,
) -> None:
    fits = [row["fits"] for row in result.rows if row["part"] == "fitted edges, shares"]
    assert fits == [0, 1, 2, 3] * 2
    assert "after 3 fits" in result.plots[0].finding
