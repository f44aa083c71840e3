"""``sottovoce statement``: a privacy statement from a card."""

from pathlib import Path

import typer

from sottovoce.cli._options import needs_extra
from sottovoce.cli._output import AsJson, show_json


def statement(source: str, *, out: Path | None = None, as_json: AsJson = False) -> None:
    """Write a privacy statement: what a release, count or rank server promises, and what not.

    It answers the questions of NIST SP 800-226 from the card alone, has no figure
    that the card does not hold, and marks what whoever publishes it must fill in.
    Rules are what `rank-server --dry-run --json` prints.

    Example: sottovoce statement released --out statement.md

    Args:
        source: A released folder, a .counts file, or a rank server's URL or rules.
        out: File for the statement, in Markdown.
    """
    with needs_extra("all"):
        from sottovoce.statement import make_statement  # noqa: PLC0415 - fast --help

        made = make_statement(source)
    if out is not None:
        from sottovoce.files import whole_file  # noqa: PLC0415 - keeps --help fast

        with whole_file(out) as part:
            part.write_text(made.markdown(), encoding="utf-8")
    if as_json:
        show_json({**made.facts(), "file": out})
    elif out is None:
        typer.echo(made.markdown(), nl=False)
    else:
        typer.echo(f"Wrote {out}.")
