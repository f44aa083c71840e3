"""One look for all figures, and how they get into a page."""

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

INK = "#1d2733"
ACCENT = "#0b6e6e"
# Told apart with any colour vision, and in grey (after Okabe and Ito).
COLOURS = ("#0b6e6e", "#d55e00", "#56a0d3", "#b8860b", "#7a5195", "#6b7280")

_STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 11,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "sottovoce",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def new_figure(width: float = 7.0, height: float = 3.2) -> tuple[Figure, Axes]:
    """An empty figure of ours and its axes."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot()


def new_panels(
    columns: int, rows: int = 1, *, width: float = 9.0, height: float = 3.2, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """An empty figure of ours and its axes, row by row."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        panels = figure.subplots(rows, columns, sharey=share_y, squeeze=False)
        return figure, list(panels.flat)


def legend_below(figure: Figure, columns: int) -> None:
    """One legend for all panels, under them, series with error bars before plain lines."""
    named: dict[str, Any] = {}
    for axes in figure.axes:
        handles, labels = axes.get_legend_handles_labels()
        named |= dict(zip(labels, handles, strict=True))
    ordered = sorted(named.items(), key=lambda item: isinstance(item[1], Line2D))
    figure.legend(
        [handle for _, handle in ordered],
        [label for label, _ in ordered],
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        fontsize=9,
        handlelength=3.2,
    )


def as_svg(figure: Figure) -> str:
    """The figure as an SVG element for a page; the same figure gives the same text."""
    buffer = io.StringIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    element = buffer.getvalue()
    element = element[element.index("<svg") :]
    # The page sets the width; the view box keeps the proportions.
    return re.sub(r' (width|height)="[^"]*pt"', "", element, count=2)
