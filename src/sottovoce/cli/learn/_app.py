"""``sottovoce learn``: one classifier across several holders of text."""

import typer

from sottovoce.cli.learn import parties, runs

learn = typer.Typer(
    help="Train and use one classifier together, without showing anyone the texts.",
    no_args_is_help=True,
)
learn.command("init")(parties.init)
learn.command("renew")(parties.renew)
learn.command("rotate")(parties.rotate)
learn.command("coordinator")(parties.coordinator)
learn.command("keyholder")(parties.keyholder)
learn.command("peer")(parties.peer)
learn.command("intermediary")(parties.intermediary)
learn.command("train")(runs.train)
learn.command("evaluate")(runs.evaluate)
learn.command("status")(runs.status)
learn.command("classify")(runs.classify)
learn.command("transcript")(runs.transcript)
