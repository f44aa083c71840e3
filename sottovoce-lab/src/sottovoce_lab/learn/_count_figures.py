"""The figures of `study learn-count`: each score over epsilon, beside a local release."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, number
from sottovoce_lab.learn._count_rows import CLEAR, LOCAL
from sottovoce_lab.release.analyse_rows import CHOSEN

TITLES = {"jaccard": "topic Jaccard", "error": "error"}
LINES = {CHOSEN: "count together", LOCAL: "local release", CLEAR: "no noise"}
_PANELS = 3


def plots_of(rows: Sequence[Row]) -> tuple[Plot, ...]:
    """One figure: what counting together gains over a local release at equal epsilon and unit."""
    shown = [row for row in rows if row["score"] in TITLES and row["reader"] in LINES]
    names = list(dict.fromkeys(_name(row) for row in shown))
    if not names:
        return ()
    told = finding(shown)
    return (Plot(_figure(shown, names), told, f"Usefulness at equal epsilon. {told}"),)


def finding(rows: Sequence[Row]) -> str:
    """In how many settings counting together does better than a local release."""
    chosen = [row for row in rows if row["reader"] == CHOSEN]
    local = {_place(row): number(row, "mean") for row in rows if row["reader"] == LOCAL}
    gains = [
        (local[_place(row)] - number(row, "mean")) * (1 if row["score"] == "error" else -1)
        for row in chosen
    ]
    better = sum(gain > 0 for gain in gains)
    times = sorted({round(times_less_noise(row)) for row in chosen})
    return (
        "At equal epsilon for a whole document, counting together has "
        f"{' to '.join(f'{each:,}' for each in dict.fromkeys((times[0], times[-1])))} times less "
        f"noise in a sum than a local release, and is better in {better} of {len(gains)} settings."
    )


def times_less_noise(row: Row) -> float:
    """How many times the noise of D local releases deviates more than that of n shares.

    The root of D to n/h draws; as many times the epsilon would a local release need.
    """
    parties = number(row, "parties")
    honest = parties - number(row, "drop") - number(row, "collude")
    return float((number(row, "documents") * honest / parties) ** 0.5)


def _place(row: Row) -> tuple[str, float]:
    return _name(row), number(row, "epsilon")


def _name(row: Row) -> str:
    return f"{row['data']}, {number(row, 'words'):,.0f} words: {TITLES[str(row['score'])]}"


def _figure(rows: Sequence[Row], names: Sequence[str]) -> Figure:
    columns = min(_PANELS, len(names))
    lines = -(-len(names) // columns)
    figure, panels = new_panels(columns, lines, width=1 + 3 * columns, height=0.8 + 2.8 * lines)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, [row for row in rows if _name(row) == name])
        axes.set(xscale="log", xlabel="epsilon of a whole document")
        axes.set_title(name, fontsize=8)
    legend_below(figure, 3)
    return figure


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    for reader, colour in zip(LINES, (COLOURS[0], COLOURS[1], INK), strict=True):
        own = sorted(
            (row for row in rows if row["reader"] == reader), key=lambda row: number(row, "epsilon")
        )
        axes.errorbar(
            [number(row, "epsilon") for row in own],
            [number(row, "mean") for row in own],
            yerr=[max(number(row, "mean") - number(row, "low"), 0) for row in own],
            color=colour,
            marker="o",
            markersize=4,
            linewidth=1.2,
            capsize=2,
            label=LINES[reader],
        )
