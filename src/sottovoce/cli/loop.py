"""``sottovoce loop``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import (
    ModelOption,
    ReadingOptions,
    TopicsOption,
    check_precision,
    needs_extra,
)
from sottovoce.cli._output import AsJson, progress, show_study


@dataclass(frozen=True)
class ComparisonOptions(OptionGroup):
    """What is known of people, and which releases are made.

    Args:
        truth: Whom topics concern; without it, who stays at the top.
        background: Public texts, from which the adversary learns topics.
        shape: A document is what a user wrote in a 'week', or as a 'user'.
        compress: none, random or frequency; may be repeated.
        columns: K, of the compressions.
        whole_documents: An epsilon at which whole documents are hidden, by a local release and by
            counting together; may be repeated.
        votes: Of these, the most counted words and votes of a document.
    """

    panel = "What is compared"

    model: ModelOption = None
    truth: Path | None = None
    background: Path | None = None
    shape: str = "week"
    compress: list[str] | None = None
    columns: int = 300
    whole_documents: list[str] | None = None
    votes: int = 10


def loop(
    corpus: Path,
    *,
    topics: TopicsOption = None,
    compared: ComparisonOptions,
    precision: Annotated[list[int] | None, typer.Option("--precision", "-N")] = None,
    epsilon: list[str] | None = None,
    limit: float = 0.1,
    seed: int = 0,
    out: Path | None = None,
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

    Args:
        corpus: A folder as simulate writes it, or a file of posts.
        precision: N, by how many words documents may differ; may be repeated.
        epsilon: For documents up to N words apart; may be repeated.
        limit: The exposure you accept: a share of the people, 0 to 1.
        seed: Of models and maps; never of the noise.
        out: Folder for rows.json, the figures and report.html.
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
