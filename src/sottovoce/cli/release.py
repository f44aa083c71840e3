"""``sottovoce release``; ``statement``, its promise in words; ``loop``, what others see in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli._engines import Address, EngineOptions, OnSpark, folder_of
from sottovoce.cli._groups import OptionGroup
from sottovoce.cli._options import (
    ModelOption,
    ReadingOptions,
    TopicsOption,
    check_precision,
    needs_extra,
)
from sottovoce.cli._output import AsJson, progress, show_json, show_study


@dataclass(frozen=True)
class PromiseOptions(OptionGroup):
    """What every release says.

    Args:
        epsilon: Epsilon for documents up to N words apart, such as 0.1 or 1/3.
        precision: N, the number of words by which two documents may differ.
        out: Folder for the release.
        words: Public word list: a file, or 'everyday', our list of everyday English.
        constant_work: Do the same work whatever the counts are, so that time reveals nothing.
    """

    epsilon: str
    precision: Annotated[int, typer.Option("--precision", "-N")]
    out: Annotated[Path, typer.Option(parser=Address)]
    words: Annotated[Path | None, typer.Option("--vocabulary")] = None
    constant_work: bool = False


@dataclass(frozen=True)
class ColumnOptions(OptionGroup):
    """Into which columns words are summed.

    Args:
        compress: none, random, frequency, embedding-cluster or embedding-disperse.
        columns: K, the columns to release.
        accounting: tight, or paper to reproduce the paper's weaker accounting.
        prior: Word frequencies: public, local or central (paid for).
        prior_share: Part of epsilon that pays for local or central frequencies.
        frequencies: Public frequencies: word, tab, number.
        embedding: Public word vectors: GloVe, word2vec, or a w2v model.
        maps: Maps for groups of documents.
        threshold: Drop outputs below this.
    """

    panel = "Fewer columns"

    compress: str = "none"
    columns: int | None = None
    accounting: str = "tight"
    prior: str = "public"
    prior_share: str = "1/10"
    frequencies: Path | None = None
    embedding: Path | None = None
    maps: int = 1
    threshold: int | None = None


@dataclass(frozen=True)
class RowOptions(OptionGroup):
    """Which documents make a row, and what is published beside it.

    Args:
        user_documents: Keep at most N documents of each user, and promise per user too.
        labels: Column of public labels, published unchanged beside the counts.
        by: Add up the documents of each value of this column: thread, ...
        ids: 'public': publish the names of --by groups; else they are numbered.
    """

    panel = "Whose words, in which rows"

    user_documents: int | None = None
    labels: str | None = None
    by: str | None = None
    ids: str | None = None


@dataclass(frozen=True)
class ChargeOptions(OptionGroup):
    """What the documents are charged, and where.

    Args:
        declare_data_dependent: Declare that the words were chosen from the documents.
        declare_new_documents: Declare that documents with the same text as released ones are new.
        ledger: Privacy ledger; default: one for everything you release.
        budget: Epsilon at the same N that a document may ever spend; default: --epsilon.
        label: A name that makes this release different from an otherwise equal one.
    """

    panel = "The ledger"

    declare_data_dependent: bool = False
    declare_new_documents: bool = False
    ledger: Path | None = None
    budget: str | None = None
    label: str = ""


@dataclass(frozen=True)
class WordOptions(OptionGroup):
    """Which words are counted, where no list says so.

    Args:
        min_texts: Drop terms in fewer texts.
        max_terms: Keep the most frequent terms.
        stop_words: 'english', or a file with one word a line.
    """

    panel = "Which words count"

    min_texts: int = 1
    max_terms: int | None = None
    stop_words: str | None = None


def release(
    corpus: Annotated[Path, typer.Argument(parser=Address)],
    *,
    promise: PromiseOptions,
    columns: ColumnOptions,
    rows: RowOptions,
    words: WordOptions,
    charge: ChargeOptions,
    dry_run: bool = False,
    reading: ReadingOptions,
    engine: EngineOptions,
    as_json: AsJson = False,
) -> None:
    """Release word counts so that what a passage says stays in doubt.

    Writes counts.npz, vocabulary.txt, the public map and card.json, which states the guarantee.
    The same command again gives the same bytes and spends nothing.

    Example: sottovoce release community/posts.parquet --vocabulary everyday --epsilon 2
    --precision 2 --out released

    Args:
        corpus: Documents; each becomes one row of counts.
        dry_run: Show the promise, cost, size and errors of sums; draw no noise.
    """
    with needs_extra("release"):
        from sottovoce.cli._released_texts import ReleaseTerminal, show_release  # noqa: PLC0415 - fast --help
        from sottovoce.release.job import ReleaseRequest  # noqa: PLC0415 - fast --help
        from sottovoce.release.make import ThisMachine, carry_out  # noqa: PLC0415 - fast --help
        from sottovoce.release.quote import ReleaseQuote  # noqa: PLC0415 - fast --help

    check_precision(promise.precision)
    if engine.is_spark:
        dates = {"--day-first": reading.day_first, "--month-first": reading.month_first}
        engine.refuse({"--by": rows.by, **dates})
    request = ReleaseRequest(
        documents=corpus,
        reading=reading.to_read_options(),
        **vars(promise),
        **vars(columns),
        **vars(rows),
        **vars(charge),
        **vars(words),
        dry_run=dry_run,
    )
    folder = folder_of(promise.out, engine) or promise.out
    where = OnSpark(engine, corpus, promise.out) if engine.is_spark else ThisMachine(folder)
    listener = ReleaseTerminal(None if engine.is_spark else reading)
    job, made = carry_out(request, where, listener)
    if isinstance(made, ReleaseQuote):
        listener.warn(made.uncounted, made.fixes(request.limit))
    show_release(job, made, as_json, None if dry_run else promise.out)


def statement(source: str, *, out: Path | None = None, as_json: AsJson = False) -> None:
    """Write a privacy statement: what a release, count or rank server does and does not promise.

    It answers the questions of NIST SP 800-226 from the card alone, and marks what the publisher
    must fill in. All its figures come from the card. Get a rank server's rules from `rank-server
    --dry-run --json`.

    Example: sottovoce statement released --out statement.md

    Args:
        source: A released folder, a .counts file, or a rank server's URL or rules.
        out: File for the statement, in Markdown.
    """
    with needs_extra("all"):
        from sottovoce.statement import make_statement  # noqa: PLC0415 - fast --help

        made = make_statement(source)
    if out is not None:
        from sottovoce.files import whole_file  # noqa: PLC0415 - keeps --help fast

        with whole_file(out) as part:
            part.write_text(made.markdown(), encoding="utf-8")
    if as_json:
        show_json({**made.facts(), "file": out})
    elif out is None:
        typer.echo(made.markdown(), nl=False)
    else:
        typer.echo(f"Wrote {out}.")


@dataclass(frozen=True)
class ComparisonOptions(OptionGroup):
    """What is known of people, and which releases are made.

    Args:
        truth: Whom topics concern; without it, the loop looks at who stays at the top.
        background: Public texts from which the adversary learns topics.
        shape: One document per user and 'week', or one per 'user'.
        compress: none, random or frequency; may be repeated.
        columns: K, the columns that compressions keep.
        whole_documents: Also hide whole documents at this epsilon, by a local release and by
            counting together; may be repeated.
        votes: With --whole-documents, the most words and votes counted per document.
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

    For every setting, it shows how many of the exposed people the best of several adversaries still
    finds, what the release is still good for, and whether it is both useful and safe; then which
    setting to take for the limit you state. It publishes nothing and charges no ledger.
    --whole-documents 1 compares them with counting together, and with a local release of the same
    promise.

    If the columns of a file of posts are not called user, time and text, they are guessed.

    Example: sottovoce loop community --epsilon 16 --epsilon 2 --precision 2 --out loop

    Args:
        corpus: A folder as simulate writes it, or a file of posts.
        precision: N, by how many words documents may differ; may be repeated.
        epsilon: For documents up to N words apart; may be repeated.
        limit: The exposure you accept: a share of the people, 0 to 1.
        seed: Seed for models and maps, never for the noise.
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
            reading=reading.choose(corpus, POSTS) if is_posts else reading.to_read_options(),
            **{name: value for name, value in several.items() if value not in (None, [])},
        )
    show_study(result, name=NAME, title=TITLE, out=out, as_json=as_json)
