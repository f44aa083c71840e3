"""The rows of a bench as a figure: how many times better ours is than each peer."""

from typing import TYPE_CHECKING, cast

from sottovoce.report.figures import ACCENT, INK, new_figure
from sottovoce.report.page import Plot
from sottovoce.report.result import StudyResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sottovoce.report.result import Row
    from sottovoce_lab.bench.rows import BenchRow

_NOBODY = "No peer was at hand: there is nothing to compare with."


def bench_result(rows: "Sequence[BenchRow]") -> StudyResult:
    """All rows, and a bar for each that has a ratio."""
    compared = [row for row in rows if row["ratio"] is not None]
    return StudyResult(
        rows=tuple(cast("Row", dict(row)) for row in rows),
        plots=(_ratios(compared),) if compared else (),
        shown=("case", "unit", "ours", "peer", "theirs", "ratio"),
        notes=("A ratio above 1 means that ours is better.",) if compared else (_NOBODY,),
    )


def _ratios(rows: "Sequence[BenchRow]") -> Plot:
    figure, axes = new_figure(height=1.2 + 0.3 * len(rows))
    named = [f"{row['case']}: {row['peer']}" for row in rows]
    ratios = [row["ratio"] or 0.0 for row in rows]
    axes.barh(range(len(rows)), ratios, color=ACCENT)
    axes.set_yticks(range(len(rows)), named)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.axvline(1, color=INK, linewidth=0.8)
    axes.set_xlabel("times better than the peer")
    better = sum(ratio > 1 for ratio in ratios)
    return Plot(
        figure,
        f"Ours is better in {better} of {len(rows)} comparisons.",
        "; ".join(f"{name} {ratio:.3g}" for name, ratio in zip(named, ratios, strict=True)),
    )
