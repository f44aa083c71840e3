"""A report is one HTML file that opens offline: no script, no request, readable on paper.

Its figures have one look, and are drawn into the page.
"""

import io
import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sottovoce.files import whole_file

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


@dataclass(frozen=True)
class Plot:
    """A figure with the finding it shows, and how to make it again."""

    figure: Figure
    finding: str
    description: str
    """What a reader who cannot see the figure should know."""

    @property
    def svg(self) -> Markup:
        """The figure as markup of our own making."""
        return Markup(as_svg(self.figure))  # noqa: S704 - drawn by us; labels are escaped there

    def _repr_html_(self) -> str:
        return f"<figure>{self.svg}<figcaption>{escape(self.finding)}</figcaption></figure>"


@dataclass(frozen=True)
class DrawnPlot(Plot):
    """A figure that nobody changes any more: drawn once, wherever it is shown."""

    @cached_property
    def svg(self) -> Markup:
        """The figure as it is when it is first shown."""
        return super().svg


@dataclass(frozen=True)
class Section:
    """A part of a report."""

    title: str
    paragraphs: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    plots: tuple[Plot, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    """Rows of cells; the first names the columns."""
    command: str | None = None
    """What to type to get these numbers again."""
    parts: tuple["Section", ...] = ()
    """What belongs to it under a title of its own; the contents do not list it."""

    @property
    def anchor(self) -> str:
        """The section's address within the page."""
        return "-".join(re.findall(r"\w+", self.title.lower()))


@dataclass(frozen=True)
class Report:
    """Everything on the page."""

    title: str
    summary: str
    sections: tuple[Section, ...]
    version: str
    warning: str | None = None
    """What must be known before any number is read."""

    def html(self) -> str:
        """The whole page."""
        return _templates().get_template("report.html").render(report=self)

    def save(self, path: Path, *, private: bool = False) -> None:
        """Write the page, whole or not at all; one that is ``private`` for its owner only."""
        with whole_file(path, private=private) as temporary:
            temporary.write_text(self.html(), encoding="utf-8")


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("sottovoce.report"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
