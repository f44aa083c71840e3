"""The study of scale: what it fits, foretells and plans is what was measured."""

from dataclasses import replace
from pathlib import Path

import pytest
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.query_log import QueryLog
from sottovoce_lab.scale import scale
from sottovoce_lab.scale._plan import Rates, plan
from sottovoce_lab.scale._rows import power_law, straight_line
from sottovoce_lab.scale.measure import (
    EMBEDDED,
    SPARK,
    Figures,
    ScaleCase,
    embedded,
    measure,
    usage,
)

from sottovoce.errors import ParameterError
from sottovoce.report.result import StudyResult


def proportional(case: ScaleCase, _folder: Path) -> Figures:
    """A machine whose costs are as simple as can be."""
    return Figures(
        scoring_s=2e-5 * case.posts,
        ranking_s=0.0,
        scoring_cpu_s=1e-5 * case.posts,
        ranking_cpu_s=1e-6 * case.users,
        peak_bytes=10**9,
        input_bytes=20 * case.posts,
        state_bytes=36 * case.topics * case.users,
        ranks_bytes=30 * case.users,
        shuffle_bytes=0 if case.engine == EMBEDDED else 100 * case.posts,
        users=case.users,
    )


def rows_of(kind: str, result: StudyResult) -> dict[str, dict[str, object]]:
    return {str(row["what"]): dict(row) for row in result.rows if row["kind"] == kind}


def test_a_power_law_is_found_where_there_is_one() -> None:
    law = power_law([1, 10, 100], [3, 3 * 10**0.5, 30])
    assert law is not None
    assert law.exponent == pytest.approx(0.5)
    assert law.at(10_000) == pytest.approx(300)
    assert power_law([5, 5], [1, 2]) is None
    assert power_law([1, 2], [0, 0]) is None


def test_a_straight_line_is_found_where_there_is_one() -> None:
    assert straight_line([1, 2, 3], [5, 7, 9]) == pytest.approx((3, 2))
    assert straight_line([1], [5]) is None


def test_a_proportional_machine_has_exponent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", proportional)
    monkeypatch.setattr(scale, "_without_spark", lambda _sizes: None)
    result = scale.run_scale(StudyOptions())
    exponents = rows_of("exponent", result)
    assert exponents["exponent of scoring_cpu_s in posts"]["value"] == pytest.approx(1)
    assert exponents["exponent of scoring_cpu_s in size"]["value"] == pytest.approx(1)
    assert exponents["exponent of state_bytes in size"]["value"] == pytest.approx(1, abs=0.01)
    assert exponents["exponent of peak_bytes in posts"]["value"] == pytest.approx(0)
    assert exponents["exponent of state_bytes in users"]["value"] == pytest.approx(1)
    assert exponents["exponent of state_bytes in topics"]["value"] == pytest.approx(1)
    assert {row["engine"] for row in result.rows if row["kind"] == "measured"} == {EMBEDDED, SPARK}
    checks = rows_of("check", result)
    for axis in ("posts", "size"):
        check = checks[f"scoring_cpu_s of the largest log, foretold by the smaller ones ({axis})"]
        assert check["posts"] == 13_000_000
        assert check["value"] == pytest.approx(130)
        assert str(check["because"]).endswith("0.0%")
    shuffled = checks["10^9 users: shuffle by what Spark shuffled"]
    assert shuffled["value"] == pytest.approx(100 * 1e9 * 13e6 / 107_000 / 1e12)
    assert len(result.plots) == 4
    assert result.table(wide=True)


def test_the_plan_is_the_rates_times_a_billion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", proportional)
    monkeypatch.setattr(scale, "_without_spark", lambda _sizes: "none")
    planned = rows_of("plan", scale.run_scale(StudyOptions()))
    assert planned["10^9 users: state"]["value"] == pytest.approx(7.2)
    assert planned["10^9 users: posts"]["value"] == pytest.approx(1.215e11, rel=1e-3)
    hours = (1.215e11 * 1e-5 + 1e9 * 1e-6) / 3600
    assert planned["10^9 users: processor time"]["value"] == pytest.approx(hours, rel=1e-2)
    assert planned["10^9 users: sketch, error"]["value"] == pytest.approx(1e6)


def test_the_plan_is_checked_against_the_fitted_powers(monkeypatch: pytest.MonkeyPatch) -> None:
    def steeper(case: ScaleCase, folder: Path) -> Figures:
        """Ten times the log takes a hundred times as long."""
        return replace(proportional(case, folder), scoring_cpu_s=1e-12 * case.posts**2)

    monkeypatch.setattr(scale, "_without_spark", lambda _sizes: "none")
    found = {}
    for machine in (proportional, steeper):
        monkeypatch.setattr(scale, "measure", machine)
        rows = rows_of("check", scale.run_scale(StudyOptions()))
        found[machine] = rows["10^9 users: processor time by the fitted power of size"]
        assert rows["10^9 users: state by the fitted power of size"]["value"] == pytest.approx(
            7.2, rel=0.01
        )
    assert str(found[proportional]["because"]).endswith("1.00 times as much")
    assert str(found[steeper]["because"]).endswith(" 0.00 times as much")


def test_memory_decides_where_it_is_short() -> None:
    small = Rates(1e-9, 0.0, 10_000.0, 2400, 10.0, 20)
    nodes = next(line for line in plan(small) if line.what == "nodes")
    assert nodes.value == pytest.approx(1e9 * 10_000 / (32 << 30))


def test_what_does_not_fit_the_time_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "measure", proportional)
    monkeypatch.setattr(scale, "_without_spark", lambda _sizes: "none")
    result = scale.run_scale(StudyOptions(seconds=1e-9))
    posts = [row["posts"] for row in result.rows if row["axis"] == "posts" and row["users"]]
    assert posts == [100_000, 300_000]
    assert any("before 1,000,000, 3,000,000, 13,000,000 posts" in note for note in result.notes)


def test_one_assessment_is_measured(tmp_path: Path) -> None:
    figures = embedded(QueryLog(3_000, 200, 10), tmp_path)
    assert figures.users <= 200
    assert figures.seconds > 0
    assert figures.cpu_s > 0
    assert figures.input_bytes == (tmp_path / "posts.parquet").stat().st_size
    assert figures.state_bytes == (tmp_path / "state").stat().st_size
    assert figures.peak_bytes > 50e6


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
        found = measure(ScaleCase(EMBEDDED, posts, users, 200), folder)
        assert found.peak_bytes < 2e9
        seconds[posts, users] = found.scoring_cpu_s
    law = power_law([1.3e6, 13e6], [seconds[1_300_000, 10_700], seconds[13_000_000, 10_700]])
    assert law is not None
    assert 0.95 <= law.exponent <= 1.05, seconds
    assert seconds[13_000_000, 107_000] < 20 * seconds[1_300_000, 10_700], seconds


def test_usage_adds_up_a_family() -> None:
    assert usage().peak_bytes > 10e6
    assert usage().cpu_s > 0
    assert usage(2**22 + 1) == (0, 0)


def test_time_must_be_positive() -> None:
    with pytest.raises(ParameterError, match="seconds must be > 0, got 0"):
        StudyOptions(seconds=0)


def test_the_two_things_that_ask_for_most_nodes_are_named() -> None:
    def named(rates: Rates) -> list[str]:
        return [line.what for line in plan(rates) if line.what.startswith("bottleneck")]

    rates = Rates(
        cpu_s_per_post=5e-6,
        ranking_cpu_s_per_user=4e-5,
        state_bytes_per_user=7200.0,
        line_bytes=2400,
        posts_per_user=121.0,
        rankings=20,
    )
    assert named(rates) == ["bottleneck 1: memory", "bottleneck 2: shuffle"]
    slow = replace(rates, cpu_s_per_post=5e-2)
    assert named(slow)[0] == "bottleneck 1: cores"
