"""``sottovoce topics``: background knowledge."""

import typer

from sottovoce.cli import topics_import, topics_show, topics_train

topics = typer.Typer(
    help="Background knowledge: train, import and look at the vector spaces that topics live in.",
    no_args_is_help=True,
)
topics.command("train")(topics_train.train)
topics.command("show")(topics_show.show)
topics.command("import")(topics_import.import_)
