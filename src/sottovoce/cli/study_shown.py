"""What `study` and `loop` do with a result: write it where asked, and show it."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sottovoce.cli.shown import show_json, show_rows

if TYPE_CHECKING:
    from sottovoce.study.result import StudyResult


def show_study(
    result: "StudyResult", *, name: str, title: str, out: Path | None, as_json: bool
) -> None:
    """A folder if there is to be one; then rows for machines, or a table and what it says."""
    from sottovoce.study.output import write_study  # noqa: PLC0415 - fast --help

    if out is not None:
        again = shlex.join(["sottovoce", *sys.argv[1:]])
        written = write_study(result, out, name=name, title=title, command=again)
        typer.echo(f"Wrote {', '.join(map(str, written))}.", err=True)
    if as_json:
        show_json(result.rows)
        return
    show_rows(title, result.table())
    for text in (*(plot.finding for plot in result.plots), *result.notes):
        typer.echo(f"\n{text}")
