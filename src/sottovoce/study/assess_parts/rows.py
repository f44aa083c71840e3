"""Rows of the tables that compare measures."""

from collections.abc import Callable, Sequence
from typing import cast

from sottovoce.assess.evaluation import holm
from sottovoce.study.assess_parts.outcomes import Outcome
from sottovoce.study.assess_parts.summaries import (
    gain_columns,
    metric_columns,
    pair_columns,
    persona_columns,
    significance_columns,
)
from sottovoce.study.result import Row

SPACES = ("bow", "w2v", "lda")
VARIANTS = ("", "-d", "-t", "-dt")


def strength_of(measure: str) -> str | None:
    """The strength measure that a -D, -T or -DT measure extends."""
    space, _, variant = measure.partition("-")
    return space if space in SPACES and variant else None


def level_rows(
    outcomes: Sequence[Outcome],
    *,
    against: Callable[[str], str | None],
    paper: Callable[[str], Row],
    shared: Row,
) -> list[Row]:
    """One row for each measure of one level, with Holm's correction over those compared."""
    level = outcomes[0].community.level
    rows: list[Row] = []
    for measure in outcomes[0].runs:
        baseline = against(measure)
        rows.append(
            {"community": level, "measure": measure}
            | metric_columns(outcomes, measure)
            | gain_columns(outcomes, measure, baseline)
            | significance_columns(outcomes, measure, baseline)
            | persona_columns(outcomes, measure)
            | pair_columns(outcomes, measure, range(len(outcomes[0].community.judged)))
            | paper(measure)
            | shared
        )
    return _corrected(rows)


def _corrected(rows: Sequence[Row]) -> list[Row]:
    tested = [row for row in rows if row["p_permutation"] is not None]
    adjusted = holm([cast("float", row["p_permutation"]) for row in tested])
    by_measure = dict(zip([row["measure"] for row in tested], adjusted, strict=True))
    return [row | {"p_holm": by_measure.get(row["measure"])} for row in rows]
