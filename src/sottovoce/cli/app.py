"""All commands in one place."""

from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import bench, count, demo, describe, simulate

app = typer.Typer(
    name="sottovoce",
    help="Assess, release and learn from private text. Nothing leaves this machine.",
    no_args_is_help=True,
    # Typer's own traceback would show local variables, and these hold people's texts.
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("simulate")(simulate.simulate)
app.command("describe")(describe.describe)
app.command("count")(count.count)
app.command("bench")(bench.bench)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)
    ] = False,
) -> None:
    """Assess, release and learn from private text. Nothing leaves this machine."""
    if version:
        typer.echo(f"sottovoce {sottovoce.__version__}")
        raise typer.Exit
