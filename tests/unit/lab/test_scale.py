"""The study of scale: what it measures and fits."""

from pathlib import Path

import pytest
from sottovoce_lab import scale
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.query_log import QueryLog
from sottovoce_lab.scale import Figures, ScaleCase, fit_power, measure, measure_here


def proportional(case: ScaleCase, _folder: Path) -> Figures:
    """A machine whose costs are as simple as can be."""
    state = 36e-6 * case.topics * case.users
    return Figures(2e-5 * case.posts, 1e-5 * case.posts, 1e-6 * case.users, 1e3, state)


def test_a_power_law_is_found_where_there_is_one() -> None:
    assert fit_power([1, 10, 100], [3, 3 * 10**0.5, 30]) == pytest.approx(0.5)
    assert fit_power([5, 5], [1, 2]) is None
    assert fit_power([1, 2], [0, 0]) is None


def test_a_proportional_machine_has_exponent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", proportional)
    result = scale.run_scale(StudyOptions())
    rows = {row["axis"]: row for row in result.rows if row["kind"] == "exponent"}
    assert rows["posts"]["scoring_cpu_seconds"] == pytest.approx(1)
    assert rows["posts"]["peak_mb"] == pytest.approx(0)
    assert rows["size"]["state_mb"] == pytest.approx(1, abs=0.01)
    assert rows["users"]["ranking_cpu_seconds"] == pytest.approx(1)
    assert rows["topics"]["state_mb"] == pytest.approx(1)
    assert len(result.plots) == 4
    assert result.table(wide=True)


def test_what_does_not_fit_the_time_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", proportional)
    result = scale.run_scale(StudyOptions(seconds=1e-9))
    posts = [row["posts"] for row in result.rows if row["axis"] == "posts" and row["users"]]
    assert posts == [100_000, 300_000]
    assert any("before 1,000,000, 3,000,000, 13,000,000 posts" in note for note in result.notes)


def test_one_assessment_is_measured(tmp_path: Path) -> None:
    figures = measure_here(QueryLog(3_000, 200, 10), tmp_path)
    assert figures.seconds > 0
    assert figures.scoring_cpu_seconds > 0
    assert figures.state_mb == (tmp_path / "state").stat().st_size / 1e6
    assert figures.peak_mb > 50


@pytest.mark.long
def test_thirteen_million_queries_need_two_gigabytes_and_time_in_proportion(tmp_path: Path) -> None:
    """Ten times the posts of the same people take ten times as long.

    Where there are ten times the people too, each post takes up to twice as long: what is kept of
    them no longer fits the processor's caches.
    """
    seconds = {}
    for posts, users in [(1_300_000, 10_700), (13_000_000, 10_700), (13_000_000, 107_000)]:
        folder = tmp_path / f"{posts} of {users}"
        folder.mkdir()
        found = measure(ScaleCase(posts, users, 200), folder)
        assert found.peak_mb < 2e3
        seconds[posts, users] = found.scoring_cpu_seconds
    exponent = fit_power([1.3e6, 13e6], [seconds[1_300_000, 10_700], seconds[13_000_000, 10_700]])
    assert exponent is not None
    assert 0.95 <= exponent <= 1.05, seconds
    assert seconds[13_000_000, 107_000] < 20 * seconds[1_300_000, 10_700], seconds
