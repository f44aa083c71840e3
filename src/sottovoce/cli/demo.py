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
    seed: Annotated[int, typer.Option(help="The same seed gives the same report.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Run everything on a simulated community and write a report that opens offline.

    Example: sottovoce demo --out demo
    """
    from sottovoce.corpus.simulate import SimulationParameters  # noqa: PLC0415 - fast --help

    parameters = SimulationParameters(users=users, weeks=weeks, seed=seed)
    with needs_extra("all"):
        from sottovoce.study.demo import run_demo  # noqa: PLC0415 - fast --help
    with progress("Simulating, counting, releasing, drawing"):
        report = run_demo(out, parameters)
    if as_json:
        show_json({"report": report, "users": users, "weeks": weeks, "seed": seed})
    else:
        typer.echo(f"The report is in {report} (open it in a browser; it works offline).")
