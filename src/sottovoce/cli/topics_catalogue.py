"""``sottovoce topics catalogue``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, progress, show_json


def catalogue(
    model: Annotated[Path, typer.Argument(help="The folder of a trained lda model.")],
    out: Annotated[Path, typer.Option(help="The catalogue to write.")],
    words: Annotated[int, typer.Option(help="Salient words per topic.")] = 20,
    relevance: Annotated[
        float, typer.Option(help="1: the likeliest words; less: those more telling of the topic.")
    ] = 1.0,
    as_json: AsJson = False,
) -> None:
    """Make a catalogue of a model's own topics, for judges to say which are sensitive.

    Example: sottovoce topics catalogue model --out topics.toml
    """
    from sottovoce.topics.model_matching import (  # noqa: PLC0415 - keeps --help fast
        catalogue_of,
        load_latent,
    )

    with progress("Reading the model"):
        latent = load_latent(model)
        made = catalogue_of(latent, count=words, relevance=relevance)
    made.save(out, private=not latent.origin.public)
    if as_json:
        show_json({"out": out, "model": made.model, "topics": len(made), "words": words})
        return
    typer.echo(f"Wrote {out}: {len(made)} topics of {words} words, yet to be judged.")
    typer.echo(f"Next: sottovoce topics judge export {out} --out sheets.csv")
