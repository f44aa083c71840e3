"""``sottovoce learn``: one classifier across several holders of text."""

import typer

from sottovoce.cli import learn_init, learn_keys

learn = typer.Typer(
    help="Train and use one classifier together, without showing anyone the texts.",
    no_args_is_help=True,
)
learn.command("init")(learn_init.init)
learn.command("renew")(learn_keys.renew)
learn.command("rotate")(learn_keys.rotate)
