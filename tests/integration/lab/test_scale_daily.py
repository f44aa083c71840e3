"""The study of daily runs: what it sums up is what was measured."""

from pathlib import Path

import pytest
from sottovoce_lab.options import StudyOptions
from sottovoce_lab.scale import daily
from sottovoce_lab.scale._daily import (
    OPENED,
    RANKED,
    SCORED,
    WRITTEN,
    Days,
    Step,
    days_added,
    measure_days,
)

SMALL = Days(users=300, posts=3_000, topics=10, days=2, day_posts=40, day_users=20)


def fixed(days: Days, _folder: Path) -> list[Step]:
    """A machine on which the last day is ten times the others."""
    factors = [1.0] * (days.days - 1) + [10.0]
    return [
        *(
            _step(days, day, name, factor)
            for day, factor in enumerate(factors, start=1)
            for name in (OPENED, SCORED, WRITTEN)
        ),
        _step(days, 0, RANKED, 100.0),
    ]


def _step(days: Days, day: int, name: str, factor: float) -> Step:
    cost = int(factor * 10**6)
    return Step(day, name, factor, factor / 2, cost, cost, days.users, 10**8, 3, 0.5)


def test_days_are_summed_up_by_community(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daily, "measure_days", fixed)
    result = daily.run_scale_daily(StudyOptions())
    rows = {(row["users"], row["what"]): row for row in result.rows}
    assert {users for users, _ in rows} == {10_000, 30_000, 107_000}
    assert rows[107_000, "median day"]["seconds"] == 3.0
    assert rows[107_000, "largest day"]["written_mb"] == 30.0
    assert rows[107_000, "mean day"]["cpu_seconds"] == pytest.approx((39 * 1.5 + 15) / 40)
    assert rows[107_000, WRITTEN]["seconds"] == 1.0
    assert rows[107_000, RANKED]["read_mb"] == 100.0
    assert "load average 0.5 to 0.5" in result.notes[0]
    assert result.table()


def test_each_step_of_each_day_is_measured(tmp_path: Path) -> None:
    steps = list(days_added(SMALL, tmp_path))
    assert [(step.day, step.step) for step in steps] == [
        *((day, name) for day in (1, 2) for name in (OPENED, SCORED, WRITTEN)),
        (0, RANKED),
    ]
    written = {step.step: step.written_bytes for step in steps}
    assert written[OPENED] == 0
    assert written[WRITTEN] >= (tmp_path / "state").stat().st_size
    assert written[RANKED] >= (tmp_path / "ranks.parquet").stat().st_size
    assert 0 < steps[-1].users <= SMALL.users


def test_days_are_measured_in_a_process_of_their_own(tmp_path: Path) -> None:
    assert len(measure_days(SMALL, tmp_path)) == 7
