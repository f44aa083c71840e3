"""``sottovoce topics match``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.shown import AsJson, progress, show_json, show_rows
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.topics.match import Matching


def match(
    model: Annotated[Path, typer.Argument(help="The folder of a trained lda model.")],
    catalogue: Annotated[Path, typer.Argument(help="The catalogue of topics, in TOML.")],
    out: Annotated[
        Path | None, typer.Option(help="The matched catalogue to write; without it, only look.")
    ] = None,
    choose: Annotated[
        list[str] | None,
        typer.Option(metavar="TOPIC=3,17", help="Overrule: these dimensions for this topic."),
    ] = None,
    least_share: Annotated[
        float, typer.Option(help="Least share of a dimension that a topic's words must have.")
    ] = 0.05,
    allow_unmatched: Annotated[
        bool,
        typer.Option("--allow-unmatched", help="Leave out of the result what nothing stands for."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the latent dimensions of a model that stand for each topic of a catalogue.

    A dimension goes to the topic whose words have the largest share of it. Look at each
    dimension's own words before you trust it; "also" names a topic that it mixes in.

    Example: sottovoce topics match model topics.toml --out matched.toml --choose "hiv=3,17"
    """
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.model_matching import (  # noqa: PLC0415 - keeps --help fast
        load_latent,
        match_model,
    )

    chosen = _choices(choose or [])
    loaded = Catalogue.load(catalogue)
    with progress("Matching"):
        latent = load_latent(model)
        matching = match_model(loaded, latent, chosen=chosen, least_share=least_share)
    _show(matching, out, as_json)
    _warn(matching)
    if out is None:
        return
    if not allow_unmatched:
        matching.require_all()
    matching.without_unmatched().save(out, private=not latent.origin.public)


def _choices(given: list[str]) -> dict[str, tuple[int, ...]]:
    chosen: dict[str, tuple[int, ...]] = {}
    for choice in given:
        topic, _, numbers = choice.rpartition("=")
        parts = [number.strip() for number in numbers.split(",")]
        if not topic.strip() or not all(part.isdecimal() for part in parts):
            raise ParameterError("--choose must look like TOPIC=3,17.")
        if topic.strip() in chosen:
            raise ParameterError("--choose must name a topic once: TOPIC=3,17.")
        chosen[topic.strip()] = tuple(dict.fromkeys(map(int, parts)))
    return chosen


def _show(matching: "Matching", out: Path | None, as_json: bool) -> None:
    if as_json:
        fits = [vars(fit) for fit in matching.fits]
        unmatched = [vars(topic) for topic in matching.unmatched]
        show_json(
            {
                "model": matching.catalogue.model,
                "out": out,
                "matches": fits,
                "unmatched": unmatched,
                "shared": matching.shared,
            }
        )
    elif matching.fits:
        show_rows(
            "topics and their latent dimensions",
            [
                {
                    "topic": fit.topic,
                    "dimension": fit.dimension,
                    "share": round(fit.share, 3),
                    "also": fit.also,
                    "words": " ".join(fit.words),
                }
                for fit in matching.fits
            ],
        )


def _warn(matching: "Matching") -> None:
    for topic in matching.unmatched:
        typer.echo(f"nothing fits {topic.topic!r}: {topic.why}", err=True)
    for dimension in matching.shared:
        typer.echo(
            f"dimension {dimension} stands for several topics: their scores will not differ by it",
            err=True,
        )
