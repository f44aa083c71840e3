"""``sottovoce loop``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import ModelOption, TopicsOption, check_precision, needs_extra
from sottovoce.cli._output import AsJson, progress, show_study
from sottovoce.cli._reading import ReadingOptions


@dataclass(frozen=True)
class ComparisonOptions(OptionGroup):
    """What is known of people, and which releases are made."""

    panel = "What is compared"

    model: ModelOption = None
    truth: Annotated[
        Path | None, typer.Option(help="Whom topics concern; without it, who stays at the top.")
    ] = None
    background: Annotated[
        Path | None, typer.Option(help="Public texts, from which the adversary learns topics.")
    ] = None
    shape: Annotated[
        str, typer.Option(help="A document is what a user wrote in a 'week', or as a 'user'.")
    ] = "week"
    compress: Annotated[
        list[str] | None,
        typer.Option(help="none, random or frequency; may be repeated."),
    ] = None
    columns: Annotated[int, typer.Option(help="K, of the compressions.")] = 300
    whole_documents: Annotated[
        list[str] | None,
        typer.Option(
            help="An epsilon at which whole documents are hidden, by a local release and by "
            "counting together; may be repeated."
        ),
    ] = None
    votes: Annotated[
        int, typer.Option(help="Of these, the most counted words and votes of a document.")
    ] = 10


def loop(
    *,
    corpus: Annotated[
        Path, typer.Argument(help="A folder as simulate writes it, or a file of posts.")
    ],
    topics: TopicsOption = None,
    compared: ComparisonOptions,
    precision: Annotated[
        list[int] | None,
        typer.Option(
            "--precision", "-N", help="N, by how many words documents may differ; may be repeated."
        ),
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(help="For documents up to N words apart; may be repeated."),
    ] = None,
    limit: Annotated[
        float, typer.Option(help="The exposure you accept: a share of the people, 0 to 1.")
    ] = 0.1,
    seed: Annotated[int, typer.Option(help="Of models and maps; never of the noise.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rows.json, the figures and report.html.")
    ] = None,
    reading: ReadingOptions,
    as_json: AsJson = False,
) -> None:
    """Assess a community, release its word counts, and assess what an adversary sees in them.

    For every setting: how many of the exposed are still found, by the best of several adversaries,
    who read the release as well as its friends do, and what it is still good for; whether a setting
    is both useful and safe, and the one to take for the limit you state. Noise is drawn to look at
    it only: nothing is published, and no ledger is charged. --whole-documents 1 sets beside them
    what counting together gives, and a local release that promises the same.

    Of a file of posts, columns are guessed where they are not called user, time and text.

    Example: sottovoce loop community --epsilon 16 --epsilon 2 --precision 2 --out loop
    """
    with needs_extra("all"):
        from sottovoce.corpus.schema import POSTS  # noqa: PLC0415 - fast --help
        from sottovoce.loop.loop import NAME, TITLE, compare_settings  # noqa: PLC0415 - fast --help

    check_precision(*(precision or ()))
    several = {"precision": precision, "epsilon": epsilon, **vars(compared)}
    is_posts = corpus.is_file()
    with progress("Going round the loop"):
        result = compare_settings(
            corpus,
            topics=topics,
            limit=limit,
            seed=seed,
            reading=reading.choose(corpus, POSTS) if is_posts else reading.as_told(),
            **{name: value for name, value in several.items() if value not in (None, [])},
        )
    show_study(result, name=NAME, title=TITLE, out=out, as_json=as_json)
