"""``sottovoce topics``: background knowledge."""

import typer

from sottovoce.cli import (
    topics_catalogue,
    topics_import,
    topics_judge,
    topics_match,
    topics_show,
    topics_train,
)

topics = typer.Typer(
    help="Background knowledge: vector spaces, the catalogue of topics, judgements.",
    no_args_is_help=True,
)
topics.command("train")(topics_train.train)
topics.command("show")(topics_show.show)
topics.command("import")(topics_import.import_)
topics.command("catalogue")(topics_catalogue.catalogue)
topics.command("match")(topics_match.match)
topics.add_typer(topics_judge.judge, name="judge")
