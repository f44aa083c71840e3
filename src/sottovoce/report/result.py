"""What a study gives back, and its folder: rows for machines, pictures, and a page for people.

All files are readable by their owner only: heatmaps show true counts, topics show private words.
"""

import json
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TypeAlias, cast

import sottovoce
from sottovoce._notebook import html_table
from sottovoce.files import output_folder, whole_file
from sottovoce.report.page import DrawnPlot, Plot, Report, Section

Value: TypeAlias = str | int | float | list[str] | list[float] | None
Row: TypeAlias = dict[str, Value]
WRITTEN = {"map": "MAP", "ndcg": "NDCG", "jaccard": "Jaccard", "quora": "Quora", "nyt": "NYT"}
TITLES = {
    "precision": "N",
    "precision_at_5": "Prec@5",
    "overlap_5": "top 5% kept",
    "document_told": "document told",
    "document_bound": "at most, by the promise",
    "accuracy_true": "accuracy, true text",
}
ROWS_FILE = "rows.json"
REPORT_FILE = "report.html"


def number(row: Row, name: str) -> float:
    """A value that is a number in every row it is asked of."""
    return float(cast("float", row[name]))


@dataclass(frozen=True)
class StudyResult:
    """A table or figure of a paper, made again: rows for machines, the rest for people."""

    rows: tuple[Row, ...]
    plots: tuple[Plot, ...]
    shown: tuple[str, ...]
    """The columns that a person wants to see first."""
    notes: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    """Columns that have room on a page but not on a terminal."""

    def table(self, *, wide: bool = False) -> list[dict[str, str]]:
        """The shown columns as text, a mean with the half-width of its 95% interval."""
        names = self.shown + self.wide if wide else self.shown
        return [{_title(name): _readable(row, name) for name in names} for row in self.rows]

    def _repr_html_(self) -> str:
        plots = "".join(plot._repr_html_() for plot in self.plots)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return html_table(self.table()) + plots + notes


def _title(name: str) -> str:
    """A column's name as people write it."""
    if name in TITLES:
        return TITLES[name]
    words = name.replace("r_precision", "R-prec").split("_")
    return " ".join(WRITTEN.get(word, word) for word in words)


def _readable(row: Row, name: str) -> str:
    value, low = row[name], row.get(f"{name}_low")
    if isinstance(value, float) and isinstance(low, float):
        return f"{value:.3f} ± {value - low:.3f}"
    if isinstance(value, float):
        return f"{value:.2g}" if name.startswith("p_") else f"{value:,.4g}"
    if isinstance(value, list):
        return " ".join(f"{each:.4g}" if isinstance(each, float) else each for each in value)
    return "-" if value is None else str(value)


def write_study(
    result: StudyResult, folder: Path, *, name: str, title: str, command: str
) -> list[Path]:
    """Write rows.json, one SVG per figure and report.html; return their paths."""
    plots = (DrawnPlot(each.figure, each.finding, each.description) for each in result.plots)
    result = replace(result, plots=tuple(plots))
    files = {ROWS_FILE: json.dumps(result.rows, indent=2, allow_nan=False) + "\n"}
    for number, plot in enumerate(result.plots, start=1):
        files[f"{name}-{number}.svg"] = str(plot.svg)
    files[REPORT_FILE] = _report(result, name, title, command).html()
    output_folder(folder)
    for file, content in files.items():
        with whole_file(folder / file, private=True) as temporary:
            temporary.write_text(content, encoding="utf-8")
    return [folder / file for file in files]


def _report(result: StudyResult, name: str, title: str, command: str) -> Report:
    rows = result.table(wide=True)
    sections = (
        Section("What it shows", plots=result.plots, command=command),
        Section("Numbers", table=(tuple(rows[0]), *(tuple(row.values()) for row in rows))),
        Section("Notes", paragraphs=result.notes),
    )
    return Report(
        title=f"Study {name}", summary=f"{title}.", sections=sections, version=sottovoce.__version__
    )
