"""``sottovoce learn``: one classifier across several holders of text."""

import typer

from sottovoce.cli import learn_init, learn_keys, learn_party, learn_runs, learn_use

learn = typer.Typer(
    help="Train and use one classifier together, without showing anyone the texts.",
    no_args_is_help=True,
)
learn.command("init")(learn_init.init)
learn.command("renew")(learn_keys.renew)
learn.command("rotate")(learn_keys.rotate)
learn.command("coordinator")(learn_party.coordinator)
learn.command("keyholder")(learn_party.keyholder)
learn.command("peer")(learn_party.peer)
learn.command("intermediary")(learn_party.intermediary)
learn.command("train")(learn_runs.train)
learn.command("evaluate")(learn_runs.evaluate)
learn.command("status")(learn_runs.status)
learn.command("classify")(learn_use.classify)
learn.command("transcript")(learn_use.transcript)
