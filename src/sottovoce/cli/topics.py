"""``sottovoce topics``: the adversary's background knowledge."""

import typer

topics = typer.Typer(
    help="Background knowledge: models, the catalogue of topics, judgements.",
    no_args_is_help=True,
)
