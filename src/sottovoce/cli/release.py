"""``sottovoce release``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._engines import Address, EngineOptions, OnSpark, folder_of
from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import check_precision, needs_extra
from sottovoce.cli._output import AsJson
from sottovoce.cli._reading import ReadingOptions


@dataclass(frozen=True)
class PromiseOptions(OptionGroup):
    """What every release says."""

    epsilon: Annotated[str, typer.Option(help="For documents up to N words apart, as 0.1 or 1/3.")]
    precision: Annotated[
        int, typer.Option("--precision", "-N", help="N, by how many words they may differ.")
    ]
    out: Annotated[Path, typer.Option(parser=Address, help="Folder for the release.")]
    words: Annotated[
        Path | None,
        typer.Option(
            "--vocabulary",
            help="Public word list: a file, or 'everyday': everyday English of ours.",
        ),
    ] = None
    constant_work: Annotated[
        bool, typer.Option("--constant-work", help="Work that does not depend on the counts.")
    ] = False


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """Into which columns words are summed."""

    panel = "Fewer columns"

    compress: Annotated[
        str,
        typer.Option(help="none, random, frequency, embedding-cluster or embedding-disperse."),
    ] = "none"
    columns: Annotated[int | None, typer.Option(help="K, the columns to release.")] = None
    accounting: Annotated[
        str, typer.Option(help="tight, or paper to reproduce the paper's weaker one.")
    ] = "tight"
    prior: Annotated[
        str, typer.Option(help="Word frequencies: public, local or central (paid for).")
    ] = "public"
    prior_share: Annotated[
        str, typer.Option(help="Part of epsilon that pays for local or central frequencies.")
    ] = "1/10"
    frequencies: Annotated[
        Path | None, typer.Option(help="Public frequencies: word, tab, number.")
    ] = None
    embedding: Annotated[
        Path | None, typer.Option(help="Public word vectors: GloVe, word2vec, or a w2v model.")
    ] = None
    maps: Annotated[int, typer.Option(help="Maps for groups of documents.")] = 1
    threshold: Annotated[int | None, typer.Option(help="Drop outputs below this.")] = None


@dataclass(frozen=True)
class RowOptions(OptionGroup):
    """Which documents make a row, and what is published beside it."""

    panel = "Whose words, in which rows"

    user_documents: Annotated[
        int | None,
        typer.Option(help="Keep so many documents of each user, and promise per user too."),
    ] = None
    labels: Annotated[
        str | None,
        typer.Option(help="Column of public labels, published beside the counts as they are."),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(help="Add up the documents of each value of this column: thread, ..."),
    ] = None
    ids: Annotated[
        str | None,
        typer.Option(help="'public': publish what --by calls its groups; else they are numbered."),
    ] = None


@dataclass(frozen=True)
class ChargeOptions(OptionGroup):
    """What the documents are charged, and where."""

    panel = "The ledger"

    declare_data_dependent: Annotated[
        bool,
        typer.Option("--declare-data-dependent", help="Say that documents chose the words."),
    ] = False
    declare_new_documents: Annotated[
        bool,
        typer.Option(
            "--declare-new-documents",
            help="Say that documents with the same text as released ones are new ones.",
        ),
    ] = False
    ledger: Annotated[
        Path | None,
        typer.Option(help="Privacy ledger; default: the one for all that you release."),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            help="Epsilon at the same N that a document may ever spend; default: --epsilon."
        ),
    ] = None
    label: Annotated[
        str, typer.Option(help="Tells apart two releases that are otherwise the same.")
    ] = ""


@dataclass(frozen=True)
class WordOptions(OptionGroup):
    """Which words are counted, where no list says so."""

    panel = "Which words count"

    min_texts: Annotated[int, typer.Option(help="Drop terms in fewer texts.")] = 1
    max_terms: Annotated[int | None, typer.Option(help="Keep the most frequent terms.")] = None
    stop_words: Annotated[
        str | None, typer.Option(help="'english', or a file with one word a line.")
    ] = None


def release(
    corpus: Annotated[
        Path, typer.Argument(parser=Address, help="Documents, one row of counts each.")
    ],
    *,
    promise: PromiseOptions,
    columns: ColumnOptions,
    rows: RowOptions,
    words: WordOptions,
    charge: ChargeOptions,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show promise, cost, size and errors of sums; draw nothing."
        ),
    ] = False,
    reading: ReadingOptions,
    engine: EngineOptions,
    as_json: AsJson = False,
) -> None:
    """Release word counts so that what a passage says stays in doubt.

    Writes counts.npz, vocabulary.txt, the public map and card.json, which states the guarantee.
    The same command again gives the same bytes and spends nothing.

    Example: sottovoce release community/posts.parquet --vocabulary everyday --epsilon 2
    --precision 2 --out released
    """
    with needs_extra("release"):
        from sottovoce.cli._released_texts import ReleaseTerminal, show_release  # noqa: PLC0415 - fast --help
        from sottovoce.release.make import ThisMachine, carry_out  # noqa: PLC0415 - fast --help
        from sottovoce.release.quote import ReleaseQuote  # noqa: PLC0415 - fast --help
        from sottovoce.release.request import ReleaseRequest  # noqa: PLC0415 - fast --help

    check_precision(promise.precision)
    if engine.is_spark:
        dates = {"--day-first": reading.day_first, "--month-first": reading.month_first}
        engine.refuse({"--by": rows.by, **dates})
    request = ReleaseRequest(
        documents=corpus,
        reading=reading.as_told(),
        **vars(promise),
        **vars(columns),
        **vars(rows),
        **vars(charge),
        **vars(words),
    )
    folder = folder_of(promise.out, engine) or promise.out
    where = OnSpark(engine, corpus, promise.out) if engine.is_spark else ThisMachine(folder)
    listener = ReleaseTerminal(None if engine.is_spark else reading)
    job, made = carry_out(request, where, listener, dry_run=dry_run)
    if isinstance(made, ReleaseQuote):
        listener.warn(made.uncounted, made.fixes(request.limit))
    show_release(job, made, as_json, None if dry_run else promise.out)
