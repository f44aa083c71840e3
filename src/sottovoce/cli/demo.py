"""``sottovoce demo``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.extras import needs_extra
from sottovoce.cli.shown import AsJson, progress, show_json


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the community and report.html.")] = Path(
        "demo"
    ),
    users: Annotated[int, typer.Option(help="People in the community.")] = 1000,
    weeks: Annotated[int, typer.Option(help="Weeks of history.")] = 26,
    seed: Annotated[int, typer.Option(help="The same seed gives the same community.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run everything on a simulated community and write a report that opens offline.

    A part whose libraries are not installed is left out, and that is said.

    Example: sottovoce demo --out demo
    """
    from sottovoce.corpus.simulate import SimulationParameters  # noqa: PLC0415 - fast --help

    parameters = SimulationParameters(users=users, weeks=weeks, seed=seed)
    with needs_extra("all"):
        from sottovoce.study.demo import run_demo  # noqa: PLC0415 - fast --help
    with progress("Simulating, counting, assessing, releasing, learning, drawing"):
        made = run_demo(out, parameters)
    for part, reason in made.left_out.items():
        typer.echo(f"Left out: {part}: {reason}", err=True)
    if as_json:
        sizes = {"users": users, "weeks": weeks, "seed": seed}
        show_json({"report": made.report, **sizes, "left_out": made.left_out})
    else:
        typer.echo(f"The report is in {made.report} (open it in a browser; it works offline).")
