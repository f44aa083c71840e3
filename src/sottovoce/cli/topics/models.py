"""``sottovoce topics list``, ``import``, ``show``, ``match`` and ``catalogue``.

The topics that there are, and what is done with models of them.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli._output import AsJson, progress, show_facts, show_json, show_rows
from sottovoce.cli.topics.train import show_model
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    from sottovoce.topics.load import Model
    from sottovoce.topics.match import Matching


def list_topics(catalogue: Path | None = None, *, as_json: AsJson = False) -> None:
    """List the topics that ship, or those of a catalogue: what `assess --topic` takes.

    Give `assess --topic` a topic's name to rank people on it, or a domain's name for all its
    topics.

    Example: sottovoce topics list

    Args:
        catalogue: Your own catalogue, in TOML; default: ours.
    """
    from sottovoce.cli._options import load_catalogue, load_shipped_catalogue  # noqa: PLC0415 - keeps --help fast

    found = load_catalogue(catalogue) or load_shipped_catalogue()
    rows = [
        {
            "topic": each.name,
            "domain": each.domain,
            "sensitive": each.sensitive,
            "words": len(each.words),
        }
        for each in sorted(found.topics, key=lambda each: (each.domain, each.name))
    ]
    if as_json:
        show_json(rows)
    else:
        show_rows("topics that ship" if catalogue is None else f"topics of {catalogue}", rows)


def import_(
    source: Path,
    *,
    file_format: Annotated[str, typer.Option("--format")],
    out: Path,
    shortest: int | None = None,
    stop_words: str | None = None,
    stem: str | None = None,
    trust_pickle: bool = False,
    as_json: AsJson = False,
) -> None:
    """Turn another tool's model into one of ours.

    MALLET: the state file of --output-state. tomotopy: what its save wrote. word2vec, GloVe: text,
    or binary if the name ends in .bin. gensim: LdaModel, Word2Vec, KeyedVectors, all pickles.

    Example: sottovoce topics import state.gz --format mallet --out model

    Args:
        source: Another tool's model.
        file_format: mallet, gensim, tomotopy or word2vec.
        out: Folder for the model.
        shortest: Shortest word, in characters; default: the model's.
        stop_words: 'english', or a file: words that the model was not trained on.
        stem: The Snowball stemmer that made its words.
        trust_pickle: gensim: let the file run code; see the docs.
    """
    from sottovoce.cli._options import needs_extra  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.rules import TokenRules, load_stop_words  # noqa: PLC0415 - keeps --help fast
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.imports.libraries import import_model  # noqa: PLC0415 - keeps --help fast

    check_folder(out)
    given = (shortest, stop_words, stem) != (None, None, None)
    rules = TokenRules(shortest or 2, load_stop_words(stop_words), stem) if given else None
    if trust_pickle and file_format == "gensim":
        typer.echo(f"warning: reading {source} runs whatever code it holds.", err=True)
    with progress("Reading"), needs_extra("topics"):
        model = import_model(source, file_format, rules, trust_pickle=trust_pickle)
    model.save(out)
    show_model(model, out, as_json)


def show(
    model: Path, *, words: Annotated[int, typer.Option(min=1)] = 10, as_json: AsJson = False
) -> None:
    """Show what a model is, what it was trained on, and the salient words of its dimensions.

    Example: sottovoce topics show model --words 20

    Args:
        model: The folder of a model.
        words: Salient words of each dimension.
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

    from sottovoce.topics.model_file import rules_record  # noqa: PLC0415 - keeps --help fast

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
    from sottovoce.topics.lda.model import LdaModel  # noqa: PLC0415 - keeps --help fast

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


def match(
    model: Path,
    catalogue: Path,
    *,
    out: Path | None = None,
    choose: Annotated[list[str] | None, typer.Option(metavar="TOPIC=3,17")] = None,
    least_share: float = 0.05,
    allow_unmatched: bool = False,
    as_json: AsJson = False,
) -> None:
    """Find the latent dimensions of a model that stand for each topic of a catalogue.

    A dimension goes to the topic whose words have the largest share of it. Look at each
    dimension's own words before you trust it; "also" names another topic that it mixes in.

    Example: sottovoce topics match model community/topics.toml --allow-unmatched
    --out matched.toml

    Args:
        model: The folder of a trained lda model.
        catalogue: The catalogue of topics, in TOML.
        out: The matched catalogue to write; leave out to look only.
        choose: Choose these dimensions for this topic instead.
        least_share: Least share of a dimension that a topic's words must have.
        allow_unmatched: Leave out topics that no dimension stands for.
    """
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.match import load_latent, match_model  # noqa: PLC0415 - keeps --help fast

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


def catalogue(
    model: Path, *, out: Path, words: int = 20, relevance: float = 1.0, as_json: AsJson = False
) -> None:
    """Make a catalogue of a model's own topics, for judges to say which are sensitive.

    Example: sottovoce topics catalogue model --out own.toml

    Args:
        model: The folder of a trained lda model.
        out: The catalogue to write.
        words: Salient words per topic.
        relevance: 1: the most likely words; less: words more typical of the topic.
    """
    from sottovoce.topics.match import catalogue_of, load_latent  # noqa: PLC0415 - keeps --help fast

    with progress("Reading the model"):
        latent = load_latent(model)
        made = catalogue_of(latent, count=words, relevance=relevance)
    made.save(out, private=not latent.origin.public)
    if as_json:
        show_json({"out": out, "model": made.model, "topics": len(made), "words": words})
        return
    typer.echo(f"Wrote {out}: {len(made)} topics of {words} words. Judges have not seen them yet.")
    typer.echo(f"Next: sottovoce topics judge export {out} --out sheets.csv")
