"""A report is one HTML file that opens offline: no script, no request, readable on paper."""

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from sottovoce.files import whole_file
from sottovoce.report.figures import as_svg


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
