"""``sottovoce topics show``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.shown import AsJson, show_facts, show_json, show_rows

if TYPE_CHECKING:
    from sottovoce.topics.load import Model


def show(
    model: Annotated[Path, typer.Argument(help="The folder of a model.")],
    words: Annotated[int, typer.Option(min=1, help="Salient words of each dimension.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show what a model is, what it was trained on, and the salient words of its dimensions.

    Example: sottovoce topics show model --words 20
    """
    from sottovoce.topics.load import load_model  # noqa: PLC0415 - keeps --help fast

    loaded = load_model(model)
    facts, dimensions = _facts(loaded), _dimensions(loaded, words)
    if as_json:
        show_json({**facts, "topics": dimensions})
        return
    corpus = facts.pop("corpus")
    rules = facts.pop("rules")
    facts |= {f"rules_{name}": value for name, value in rules.items() if name != "stop_words"}
    facts |= {"stop_words": len(rules["stop_words"])}
    facts |= {f"corpus_{name}": value for name, value in (corpus or {}).items()}
    facts |= facts.pop("parameters") | facts.pop("libraries")
    show_facts("Model", facts)
    if dimensions:
        show_rows("Latent dimensions", [_row(each) for each in dimensions])


def _facts(model: "Model") -> dict[str, Any]:
    from dataclasses import asdict  # noqa: PLC0415 - keeps --help fast

    from sottovoce.topics.card import rules_record  # noqa: PLC0415 - keeps --help fast

    return {
        "space": model.name,
        "words": len(model.vocabulary),
        "dimensions": model.dimensions,
        "fingerprint": model.fingerprint,
        "rules": rules_record(model.rules),
        **asdict(model.origin),
    }


def _dimensions(model: "Model", words: int) -> list[dict[str, Any]]:
    """The salient words of a topic model; the dimensions of word vectors have none."""
    from sottovoce.topics.lda import LdaModel  # noqa: PLC0415 - keeps --help fast

    if not isinstance(model, LdaModel):
        return []
    return [
        {
            "dimension": number,
            "alpha": float(model.alpha[number]),
            "words": [{"word": word, "probability": share} for word, share in salient],
        }
        for number, salient in enumerate(model.top_words(words))
    ]


def _row(dimension: dict[str, Any]) -> dict[str, object]:
    return {**dimension, "words": " ".join(each["word"] for each in dimension["words"])}
