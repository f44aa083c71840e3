"""The figures of the loop: settings, rates, and ways to hide whole documents."""

from collections.abc import Mapping, Sequence
from typing import cast

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, StrMethodFormatter

from sottovoce.loop._verdict import (
    LABELS,
    end_of,
    name_levels,
    name_way,
    order_by_rate,
    whole_finding,
)
from sottovoce.loop._whole import BOUND, LOCAL, NOTHING, TOGETHER, TOLD
from sottovoce.loop.adversary import is_simple
from sottovoce.report.page import COLOURS, INK, Plot, legend_below, new_panels
from sottovoce.report.result import Row, number

_MARKERS = "os^Dv"
DASHES = ("-", "--", "-.", ":")
PANELS = {"jaccard": "topic Jaccard", "accuracy_true": "accuracy of the classifier, true documents"}


def draw_frontier(
    rows: Sequence[Row],
    exposure: str,
    levels: Mapping[str, float],
    *,
    limit: float,
    chosen: Row | None,
    finding: str,
) -> Plot:
    """A point a setting: right is useful, low is private; a line a method, weak to strong."""
    label, levels = LABELS[exposure], name_levels(levels)
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
        own = order_by_rate([row for row in rows if row["method"] == method])
        across = [number(row, score) for row in own]
        up = [number(row, exposure) for row in own]
        error = [value - end_of(row, exposure, "low") for value, row in zip(up, own, strict=True)]
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
            _name_point(row),
            (x, y),
            textcoords="offset points",
            xytext=(4, -12) if row["epsilon"] is None else (-6, 4),
            fontsize=8,
            color=INK,
            horizontalalignment="left" if row["epsilon"] is None else "right",
            bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.5},
            zorder=5,
        )


def _name_point(row: Row) -> str:
    return "no noise" if row["epsilon"] is None else f"{number(row, 'rate'):.3g}"


def draw_rates(rows: Sequence[Row], levels: Mapping[str, float], exposure: str) -> Plot:
    """Exposure against the rate, every way of reading a line, for the release of every word."""
    plain = [row for row in rows if row["compression"] == "none"] or list(rows)
    noisy = [row for row in order_by_rate(plain) if row["rate"] is not None]
    figure, (axes,) = new_panels(1, width=7.5, height=4.4)
    reached = _by_reading(noisy, exposure)
    for place, (reading, found) in enumerate(reached.items()):
        axes.plot(
            [number(row, "rate") for row in noisy],
            found,
            color=COLOURS[place % len(COLOURS)],
            linestyle="--" if is_simple((reading, "")) else "-",
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=4,
            linewidth=1.2,
            label=reading,
        )
    for (name, level), dashes in zip(name_levels(levels).items(), DASHES, strict=False):
        axes.axhline(level, color=INK, linewidth=0.8, linestyle=dashes, label=name)
    rates = sorted({number(row, "rate") for row in noisy})
    axes.set(
        xscale="log",
        xlabel="epsilon/N, nats per word (left: more private)",
        ylabel=LABELS[exposure],
        ylim=(0, None),
    )
    axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
    axes.set_xticks([], minor=True)
    legend_below(figure, 3)
    text = (
        f"From {number(noisy[0], 'rate'):.3g} to {number(noisy[-1], 'rate'):.3g} nats per word the "
        f"{LABELS[exposure]}, by the best adversary, goes from "
        f"{max(found[0] for found in reached.values()):.2f} to "
        f"{max(found[-1] for found in reached.values()):.2f}."
    )
    about = f"{LABELS[exposure]} against epsilon/N, a line a way of reading. {text}"
    return Plot(figure, text, about)


def _by_reading(rows: Sequence[Row], exposure: str) -> dict[str, list[float]]:
    """What each way of reading reaches at its best measure, setting by setting."""
    start = f"{exposure}: "
    views = [name for name in rows[0] if name.startswith(start)]
    readings = dict.fromkeys(name.removeprefix(start).split(", ")[0] for name in views)
    return {
        reading: [
            max(number(row, name) for name in views if name.startswith(start + reading))
            for row in rows
        ]
        for reading in readings
    }


_COLOURS = {NOTHING: COLOURS[-1], LOCAL: COLOURS[1], TOGETHER: COLOURS[0]}
_ALLOWED, _IDLE = "at most, by the promise", "the commoner label; random topics"
_PANELS = {
    TOLD: ("whole documents told, 5% false alarms\n(left: more private)", BOUND, _ALLOWED),
    "accuracy_true": ("accuracy, true documents\n(right: more useful)", "accuracy_majority", _IDLE),
    "jaccard": ("topic Jaccard\n(right: more useful)", "jaccard_chance", _IDLE),
}
_ROOM, _NEAR = 1.25, 0.15


def draw_ways(rows: Sequence[Row]) -> Plot:
    """A bar a way, and a mark for what the promise allows or doing nothing gives."""
    height = 1.9 + 0.3 * len(rows)
    figure, panels = new_panels(len(_PANELS), width=9.5, height=height, share_y=True)
    for axes, (score, (title, mark, name)) in zip(panels, _PANELS.items(), strict=True):
        _draw_bars(axes, rows, score, mark)
        _draw_marks(axes, rows, mark, name)
        axes.set(xlabel=title, xlim=(0, _ROOM * max(number(row, score) for row in rows)))
    panels[0].set_yticks(range(len(rows)), [name_way(row) for row in rows])
    panels[0].invert_yaxis()
    legend_below(figure, 2)
    finding = whole_finding(rows)
    about = "Whole documents told, accuracy and topic Jaccard, a bar for each way to protect them."
    return Plot(figure, finding, f"{about} {finding}")


def _draw_bars(axes: Axes, rows: Sequence[Row], score: str, mark: str) -> None:
    values = [number(row, score) for row in rows]
    colours = [_COLOURS[str(row["way"])] for row in rows]
    axes.barh(range(len(rows)), values, height=0.62, color=colours)
    for at, (row, value) in enumerate(zip(rows, values, strict=True)):
        # Beyond the mark, if that is near the bar's end, so that neither hides the other.
        near = row[mark] is not None and abs(number(row, mark) - value) < _NEAR * max(values)
        end = max(value, number(row, mark)) if near else value
        axes.annotate(
            f"{value:.2f}",
            (end, at),
            textcoords="offset points",
            xytext=(6, 0),
            fontsize=8,
            verticalalignment="center",
        )


def _draw_marks(axes: Axes, rows: Sequence[Row], mark: str, name: str) -> None:
    marked = [at for at, row in enumerate(rows) if row[mark] is not None]
    axes.plot(
        [number(rows[at], mark) for at in marked],
        marked,
        color=INK if mark == BOUND else COLOURS[4],
        marker="|",
        markersize=15,
        markeredgewidth=1.6,
        linestyle="none",
        label=name,
    )
