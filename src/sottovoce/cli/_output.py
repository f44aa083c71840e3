"""How commands show results: tables for people, JSON for machines, progress on the side.

Columns of a table are as wide as keeps words and numbers whole, where there is room. Progress is
shown on a terminal only; its part of Rich is imported when it is, which keeps --help fast.
"""

import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sottovoce.steps import steps_heard_by

if TYPE_CHECKING:
    from sottovoce.report.result import StudyResult


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_ANY_WIDTH = 10**6
_AROUND_A_CELL = 3  # a blank on either side, and a line


def show_json(value: object) -> None:
    """Print ``value`` as JSON on standard output."""
    typer.echo(json.dumps(value, indent=2, default=_plain, allow_nan=False))


def finite(value: object) -> object:
    """As JSON can hold it: the only user of a word scores infinity, which is null there."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show_line(value: object) -> None:
    """Print one line at once: a text, or anything else as JSON."""
    typer.echo(value if isinstance(value, str) else json.dumps(value, default=_plain))


def show_facts(title: str, facts: Mapping[str, object]) -> None:
    """Print names and values side by side."""
    table = Table(show_header=False, box=None, padding=(0, 2))
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), Text(_readable(value)))
    _show(_console(), title, table)


def show_rows(title: str, rows: Sequence[Mapping[str, object]]) -> None:
    """Print rows that have the same keys as a table."""
    console = _console()
    names, cells = list(rows[0]), [[_readable(value) for value in row.values()] for row in rows]
    columns = list(zip(names, *cells, strict=True))
    widths = fitting_widths(columns, console.width)
    table = Table()
    for name, width in zip(names, widths or repeat(None, len(names)), strict=True):
        table.add_column(name, overflow="fold", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    _show(console, title, table)


def show_study(
    result: "StudyResult", *, name: str, title: str, out: Path | None, as_json: bool
) -> None:
    """A folder if there is to be one; then rows for machines, or a table and what it says."""
    from sottovoce.report.result import write_study  # noqa: PLC0415 - fast --help

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


def _console() -> Console:
    """Standard output; a file or a pipe has room for everything, unless COLUMNS says how much."""
    console = Console()
    told = os.environ.get("COLUMNS", "").isdigit()
    return console if console.is_terminal or told else Console(width=_ANY_WIDTH)


def _show(console: Console, title: str, table: Table) -> None:
    # A title of its own: as part of the table it would be folded to the table's width.
    console.print(Text(title, style="table.title"))
    console.print(table)


@contextmanager
def progress(step: str) -> Iterator[None]:
    """Show that ``step`` is under way, and which part of it, on a terminal only."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - fast --help

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(step, total=None)
        with steps_heard_by(lambda part: bar.update(task, description=f"{step}: {part}")):
            yield


@contextmanager
def counted_progress(step: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much of ``step`` is done, on a terminal only: call what is yielded with that."""
    from rich import progress as parts  # noqa: PLC0415 - fast --help

    console = Console(stderr=True)
    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.TaskProgressColumn(),
        parts.TimeRemainingColumn(elapsed_when_finished=True),
    )
    with parts.Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(step, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


def fitting_widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """A width for each of ``columns``, its texts, within ``room``; None: it needs breaking words.

    Each column has its longest word; what is left goes first to those that want least more.
    """
    wanted = [max(_longest(text.splitlines()) for text in texts) for texts in columns]
    widths = [max(_longest(text.split()) for text in texts) for texts in columns]
    spare = room - 1 - sum(width + _AROUND_A_CELL for width in widths)
    if spare < 0:
        return None
    by_want = sorted(range(len(widths)), key=lambda column: wanted[column] - widths[column])
    for done, column in enumerate(by_want):
        more = min(wanted[column] - widths[column], spare // (len(widths) - done))
        widths[column] += more
        spare -= more
    return widths


def _longest(pieces: Sequence[str]) -> int:
    return max(map(cell_len, pieces), default=0)


def _readable(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, tuple):
        return " to ".join(map(_readable, value))
    return f"{value:,.4g}" if isinstance(value, float) else _harmless(str(value))


def _harmless(text: str) -> str:
    """No character that moves the cursor or turns the writing round, as others' texts may hold."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )


def _plain(value: Any) -> object:  # noqa: ANN401 - JSON asks about whatever it does not know
    return str(value) if isinstance(value, Path) else value.item()
