"""A value with its interval as three columns of a row: ``name``, ``name_low`` and ``name_high``."""

from collections.abc import Sequence

from sottovoce.assess.evaluation.significance import Difference, Interval
from sottovoce.release.topics.evaluation import mean_interval
from sottovoce.report.result import Row


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
