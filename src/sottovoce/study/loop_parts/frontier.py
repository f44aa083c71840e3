"""Exposure against usefulness: the figure, and the setting to recommend."""

from collections.abc import Mapping, Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.study.result import Row, number

_MARKERS = "os^Dv"
DASHES = ("-", "--", "-.", ":")
PANELS = {"jaccard": "topic Jaccard", "accuracy": "accuracy of the classifier"}


def _end(row: Row, name: str, end: str) -> float:
    """An end of an interval; the value itself where there is none."""
    return number(row, f"{name}_{end}" if f"{name}_{end}" in row else name)


def recommended(rows: Sequence[Row], exposure: str, limit: float) -> Row | None:
    """Of the private settings whose exposure stays below ``limit``, the most useful one.

    The upper end of the interval must stay below, so that a lucky draw does not decide.
    """
    fit = [
        row for row in rows if row["epsilon"] is not None and _end(row, exposure, "high") <= limit
    ]
    return max(fit, key=lambda row: number(row, "jaccard"), default=None)


def frontier(
    rows: Sequence[Row],
    exposure: str,
    levels: Mapping[str, float],
    *,
    label: str,
    limit: float,
    chosen: Row | None,
    finding: str,
) -> Plot:
    """A point a setting: right is useful, low is private; a line a method, weak to strong."""
    # Few communities give wild intervals; what is drawn is a share all the same.
    top = min(1.0, 1.25 * max(*(number(row, exposure) for row in rows), *levels.values(), limit))
    figure, panels = new_panels(len(PANELS), width=9.5, height=4.4, share_y=True)
    for axes, (score, title) in zip(panels, PANELS.items(), strict=True):
        _draw_methods(axes, rows, exposure, score)
        for (name, level), dashes in zip(levels.items(), DASHES, strict=False):
            axes.axhline(level, color=INK, linewidth=1, linestyle=dashes, label=name)
        axes.axhspan(0, limit, color=COLOURS[0], alpha=0.08)
        if chosen is not None:
            axes.plot(
                number(chosen, score),
                number(chosen, exposure),
                marker="o",
                markersize=13,
                fillstyle="none",
                color=INK,
                linestyle="none",
                label="recommended",
            )
        axes.set(xlabel=f"{title} (right: more useful)", ylim=(0, top))
        axes.margins(x=0.2)  # room for the points' names
    panels[0].set_xscale("log")
    panels[0].xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    panels[0].xaxis.set_minor_formatter(NullFormatter())
    panels[0].xaxis.set_major_locator(FixedLocator([0.05, 0.1, 0.2, 0.5, 1.0]))
    panels[0].set_ylabel(f"{label} (low: more private)")
    figure.suptitle("Each point a setting; the number beside it is ε/N", fontsize=9)
    legend_below(figure, 3)
    description = f"{label} against usefulness, a point for each setting. {finding}"
    return Plot(figure, finding, description)


def _draw_methods(axes: Axes, rows: Sequence[Row], exposure: str, score: str) -> None:
    methods = list(dict.fromkeys(cast("str", row["method"]) for row in rows))
    for method, colour, marker in zip(methods, COLOURS, _MARKERS, strict=False):
        own = in_order([row for row in rows if row["method"] == method])
        across = [number(row, score) for row in own]
        up = [number(row, exposure) for row in own]
        error = [value - _end(row, exposure, "low") for value, row in zip(up, own, strict=True)]
        axes.errorbar(
            across,
            up,
            yerr=error,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.2,
            elinewidth=0.6,
            capsize=2,
            label=method,
        )
        if method == methods[0]:  # the others have the same settings in the same order
            _name_points(axes, own, across, up)


def _name_points(
    axes: Axes, rows: Sequence[Row], across: Sequence[float], up: Sequence[float]
) -> None:
    for x, y, row in zip(across, up, rows, strict=True):
        axes.annotate(
            _named(row),
            (x, y),
            textcoords="offset points",
            xytext=(4, -12) if row["epsilon"] is None else (-6, 4),
            fontsize=8,
            color=INK,
            horizontalalignment="left" if row["epsilon"] is None else "right",
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5},
            zorder=5,
        )


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Without noise first, then from weak to strong privacy."""
    return sorted(rows, key=lambda row: -number(row, "rate") if row["rate"] is not None else -1e9)


def _named(row: Row) -> str:
    return "no noise" if row["epsilon"] is None else f"{number(row, 'rate'):.3g}"
