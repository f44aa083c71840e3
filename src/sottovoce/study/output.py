"""A study's folder: rows for machines, pictures, and a page for people.

All files are readable by their owner only: heatmaps show true counts, topics show private words.
"""

import json
from pathlib import Path

import sottovoce
from sottovoce.files import output_folder, whole_file
from sottovoce.report.page import Report, Section
from sottovoce.study.result import StudyResult

ROWS_FILE = "rows.json"
REPORT_FILE = "report.html"


def write_study(
    result: StudyResult, folder: Path, *, name: str, title: str, command: str
) -> list[Path]:
    """Write rows.json, one SVG per figure and report.html; return their paths."""
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
