"""``sottovoce release``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._engines import (
    Address,
    EngineOption,
    EngineOptions,
    MasterOption,
    OnSpark,
    PartitionsOption,
    SparkConfOption,
    folder_of,
)
from sottovoce.cli._options import check_precision, needs_extra
from sottovoce.cli._output import AsJson

if TYPE_CHECKING:
    from sottovoce.release.settings import Accounting, PriorKind


def release(
    corpus: Annotated[
        Path,
        typer.Argument(parser=Address, help="Documents, one row of counts each."),
    ],
    epsilon: Annotated[str, typer.Option(help="For documents up to N words apart, as 0.1 or 1/3.")],
    precision: Annotated[
        int, typer.Option("--precision", "-N", help="N, by how many words they may differ.")
    ],
    out: Annotated[Path, typer.Option(parser=Address, help="Folder for the release.")],
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="Public word list: a file, or 'everyday': everyday English of ours."),
    ] = None,
    compress: Annotated[
        str,
        typer.Option(help="none, random, frequency, embedding-cluster or embedding-disperse."),
    ] = "none",
    columns: Annotated[int | None, typer.Option(help="K, the columns to release.")] = None,
    accounting: Annotated[
        str, typer.Option(help="tight, or paper to reproduce the paper's weaker one.")
    ] = "tight",
    prior: Annotated[
        str, typer.Option(help="Word frequencies: public, local or central (paid for).")
    ] = "public",
    prior_share: Annotated[
        str, typer.Option(help="Part of epsilon that pays for local or central frequencies.")
    ] = "1/10",
    frequencies: Annotated[
        Path | None, typer.Option(help="Public frequencies: word, tab, number.")
    ] = None,
    embedding: Annotated[
        Path | None, typer.Option(help="Public word vectors: GloVe, word2vec, or a w2v model.")
    ] = None,
    maps: Annotated[int, typer.Option(help="Maps for groups of documents.")] = 1,
    threshold: Annotated[int | None, typer.Option(help="Drop outputs below this.")] = None,
    constant_work: Annotated[
        bool, typer.Option("--constant-work", help="Work that does not depend on the counts.")
    ] = False,
    user_documents: Annotated[
        int | None,
        typer.Option(help="Keep so many documents of each user, and promise per user too."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Column of public labels, published beside the counts as they are."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Add up the documents of each value of this column: thread, ..."),
    ] = None,
    ids: Annotated[
        str | None,
        typer.Option(help="'public': publish what --by calls its groups; else they are numbered."),
    ] = None,
    declare_data_dependent: Annotated[
        bool,
        typer.Option("--declare-data-dependent", help="Say that documents chose the words."),
    ] = False,
    declare_new_documents: Annotated[
        bool,
        typer.Option(
            "--declare-new-documents",
            help="Say that documents with the same text as released ones are new ones.",
        ),
    ] = False,
    min_texts: Annotated[int, typer.Option(help="Drop terms in fewer texts.")] = 1,
    max_terms: Annotated[int | None, typer.Option(help="Keep the most frequent terms.")] = None,
    stop_words: Annotated[
        str | None, typer.Option(help="'english', or a file with one word a line.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="Privacy ledger; default: the one for all that you release."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            help="Epsilon at the same N that a document may ever spend; default: --epsilon."
        ),
    ] = None,
    label: Annotated[
        str, typer.Option(help="Tells apart two releases that are otherwise the same.")
    ] = "",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Show promise, cost, size and errors of sums; draw nothing."
        ),
    ] = False,
    file_format: formats.FormatOption = None,
    fields: formats.FieldsOption = None,
    header: formats.HeaderOption = None,
    delimiter: formats.DelimiterOption = None,
    day_first: formats.DayFirstOption = False,
    month_first: formats.MonthFirstOption = False,
    timezone: formats.TimezoneOption = "UTC",
    encoding: formats.AnyEncodingOption = formats.AUTO,
    longest: formats.LineLimitOption = formats.LONGEST,
    engine: EngineOption = "embedded",
    master: MasterOption = None,
    spark_conf: SparkConfOption = None,
    partitions: PartitionsOption = None,
    as_json: AsJson = False,
) -> None:
    """Release word counts so that what a passage says stays in doubt.

    Writes counts.npz, vocabulary.txt, the public map and card.json, which states the guarantee.
    The same command again gives the same bytes and spends nothing.

    Example: sottovoce release community/posts.parquet --vocabulary everyday --epsilon 2
    --precision 2 --out released
    """
    with needs_extra("release"):
        from sottovoce.cli._released_texts import Terminal, show_release  # noqa: PLC0415 - fast --help
        from sottovoce.release.make import ThisMachine, carry_out  # noqa: PLC0415 - fast --help
        from sottovoce.release.quote import ReleaseQuote  # noqa: PLC0415 - fast --help
        from sottovoce.release.request import ReleaseRequest  # noqa: PLC0415 - fast --help

    check_precision(precision)
    chosen = EngineOptions(engine, master, spark_conf, partitions)
    told = formats.read_options(
        file_format, fields, header, timezone, encoding, longest, delimiter, day_first, month_first
    )
    if chosen.is_spark:
        chosen.refuse({"--by": by, "--day-first": day_first, "--month-first": month_first})
    request = ReleaseRequest(
        documents=corpus,
        epsilon=epsilon,
        precision=precision,
        words=vocabulary,
        user_documents=user_documents,
        labels=labels,
        by=by,
        ids=ids,
        ledger=ledger,
        budget=budget,
        compress=compress,
        columns=columns,
        accounting=cast("Accounting", accounting),
        prior=cast("PriorKind", prior),
        prior_share=prior_share,
        frequencies=frequencies,
        embedding=embedding,
        maps=maps,
        threshold=threshold,
        constant_work=constant_work,
        declare_data_dependent=declare_data_dependent,
        declare_new_documents=declare_new_documents,
        min_texts=min_texts,
        max_terms=max_terms,
        stop_words=stop_words,
        label=label,
        reading=told,
    )
    folder = folder_of(out, chosen) or out
    where = OnSpark(chosen, corpus, out) if chosen.is_spark else ThisMachine(folder)
    listener = Terminal(None if chosen.is_spark else encoding)
    job, made = carry_out(request, where, listener, dry_run=dry_run)
    if isinstance(made, ReleaseQuote):
        listener.warn(made.uncounted, made.fixes(request.allowed))
    show_release(job, made, as_json, None if dry_run else out)
