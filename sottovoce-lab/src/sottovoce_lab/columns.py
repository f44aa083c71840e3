"""Columns of rows: values with intervals (``name``, ``name_low``, ``name_high``), and tests."""

from collections.abc import Sequence

from sottovoce.assess.evaluation.significance import Difference, Interval, holm
from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.result import Row, number


def mean_columns(name: str, values: Sequence[float | None]) -> Row:
    """Mean and Student-t interval of what is known; blank where nothing is."""
    known = [value for value in values if value is not None]
    if not known:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    found = mean_interval(known)
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def interval_columns(name: str, found: Interval | Difference) -> Row:
    """An interval that was found by drawing."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def correct_rows(rows: Sequence[Row], tested: Sequence[Row], p: str, corrected: str) -> list[Row]:
    """The rows with Holm's correction of a column over those that are ``tested``."""
    adjusted = holm([number(row, p) for row in tested])
    found = dict(zip([row["measure"] for row in tested], adjusted, strict=True))
    return [row | {corrected: found.get(row["measure"])} for row in rows]
