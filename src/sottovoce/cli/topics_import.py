"""``sottovoce topics import``."""

from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli.shown import AsJson, progress
from sottovoce.cli.topics_train import show_model


def import_(
    source: Annotated[Path, typer.Argument(help="Another tool's model.")],
    file_format: Annotated[
        str, typer.Option("--format", help="mallet, gensim, tomotopy or word2vec.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    shortest: Annotated[
        int | None, typer.Option(help="Shortest word, in characters; default: the model's.")
    ] = None,
    stop_words: Annotated[
        str | None, typer.Option(help="'english', or a file: words that were not trained on.")
    ] = None,
    stem: Annotated[
        str | None, typer.Option(help="The Snowball stemmer its words went through.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="gensim: let the file run code; see the docs.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Turn another tool's model into one of ours.

    MALLET: the state file of --output-state. tomotopy: what its save wrote. word2vec, GloVe: text,
    or binary if the name ends in .bin. gensim: LdaModel, Word2Vec, KeyedVectors, all pickles.

    Example: sottovoce topics import state.gz --format mallet --out model
    """
    from sottovoce.cli.extras import needs_extra  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.rules import TokenRules  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.words.stopwords import load_stop_words  # noqa: PLC0415 - fast --help
    from sottovoce.files import check_folder  # noqa: PLC0415 - keeps --help fast
    from sottovoce.topics.imports import import_model  # noqa: PLC0415 - keeps --help fast

    check_folder(out)
    given = (shortest, stop_words, stem) != (None, None, None)
    rules = TokenRules(shortest or 2, load_stop_words(stop_words), stem) if given else None
    if trust_pickle and file_format == "gensim":
        typer.echo(f"warning: reading {source} runs whatever code it holds.", err=True)
    with progress("Reading"), needs_extra("topics"):
        model = import_model(source, file_format, rules, trust_pickle=trust_pickle)
    model.save(out)
    show_model(model, out, as_json)
