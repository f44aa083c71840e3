"""``sottovoce topics``: background knowledge."""

import typer

from sottovoce.cli.topics import judge, models, train

topics = typer.Typer(
    help="Background knowledge: vector spaces, the catalogue of topics, judgements.",
    no_args_is_help=True,
)
topics.command("train")(train.train)
topics.command("show")(models.show)
topics.command("import")(models.import_)
topics.command("catalogue")(models.catalogue)
topics.command("match")(models.match)
topics.add_typer(judge.judge, name="judge")
