"""The figures of `study release-analyse`: each score over the rate, the text's own as a line."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sottovoce.report.figures import COLOURS, INK, legend_below, new_panels
from sottovoce.report.page import Plot
from sottovoce.report.result import Row, number
from sottovoce_lab.release.analyse_rows import CHOSEN, DIFFERENCE

TITLES = {
    "jaccard": "Topic Jaccard",
    "topics_seen": "Topics recognised",
    "accuracy": "Accuracy",
    "coverage": "Coverage of 95% intervals",
    "error": "Error of word totals",
}


def plots_of(rows: Sequence[Row]) -> tuple[Plot, ...]:
    """One for each score that was measured over rates."""
    over_rates = [row for row in rows if row["rate"] is not None]
    plots = []
    for score, title in TITLES.items():
        own = [row for row in over_rates if row["score"] == score]
        if own:
            told = finding(own)
            plots.append(Plot(_figure(own), told, f"{title} over the rate. {told}"))
    return tuple(plots)


def finding(rows: Sequence[Row]) -> str:
    """In how many settings the chosen reader's gain over the best baseline has a sign."""
    differences = [row for row in rows if row["reader"] == DIFFERENCE]
    if not differences:
        return "No baseline was compared."
    better = sum(_gain(row)[0] > 0 for row in differences)
    worse = sum(_gain(row)[1] < 0 for row in differences)
    return (
        f"The chosen reader is better than the best baseline in {better} of {len(differences)} "
        f"settings and worse in {worse}, by 95% intervals that each hold by themselves."
    )


def _gain(row: Row) -> tuple[float, float]:
    """The interval of what is gained; of an error less is more."""
    low, high = number(row, "low"), number(row, "high")
    return (-high, -low) if row["score"] == "error" else (low, high)


def _name(row: Row) -> str:
    return f"{row['data']}, {number(row, 'documents'):,.0f} documents"


def _figure(rows: Sequence[Row]) -> Figure:
    names = dict.fromkeys(map(_name, rows))
    lines = -(-len(names) // 2)
    figure, panels = new_panels(min(2, len(names)), lines, width=9.0, height=0.8 + 2.8 * lines)
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, [row for row in rows if _name(row) == name])
        axes.set(xscale="log", title=name, xlabel="rate (nats per word)")
    legend_below(figure, 4)
    return figure


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    chosen = [row for row in rows if row["reader"] == CHOSEN]
    if not chosen:
        for colour, reader in zip(
            COLOURS, dict.fromkeys(str(row["reader"]) for row in rows), strict=False
        ):
            _line(axes, [row for row in rows if row["reader"] == reader], "mean", reader, colour)
        return
    _line(axes, chosen, "mean", CHOSEN, COLOURS[0])
    _line(axes, chosen, "baseline", "best baseline", COLOURS[1])
    if chosen[0]["reference"] is not None:
        axes.axhline(number(chosen[0], "reference"), color=INK, linewidth=1, label="true text")


def _line(axes: Axes, rows: Sequence[Row], value: str, label: str, colour: str) -> None:
    ordered = sorted(rows, key=lambda row: number(row, "rate"))
    rates = [number(row, "rate") for row in ordered]
    axes.plot(rates, [number(row, value) for row in ordered], "o-", color=colour, label=label)
