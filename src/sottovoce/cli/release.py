"""``sottovoce release``."""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli import _reading as formats
from sottovoce.cli._engines import (
    Address,
    Engine,
    EngineOption,
    MasterOption,
    PartitionsOption,
    SparkConfOption,
    address_of,
    chosen_ledger,
    documents_on_spark,
    folder_of,
)
from sottovoce.cli._options import check_precision, needs_extra, warn_about_rows
from sottovoce.cli._output import AsJson, progress, show_facts, show_json
from sottovoce.cli._released_texts import (
    alike,
    as_they_stand,
    named_facts,
    promised,
    texts_read,
    units,
)

if TYPE_CHECKING:
    from sottovoce.release.job import Job, ReleaseQuote
    from sottovoce.release.make import Done
    from sottovoce.release.settings import Accounting, PriorKind


# What is shown that follows from the true texts, without noise.
_PRIVATE = (
    "expected_nonzero_cells",
    "documents_alike",
    "texts",
    "texts_with_quotes_tags_or_addresses",
    "spent_before",
)


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
        from sottovoce.corpus.everyday import named_vocabulary  # noqa: PLC0415 - fast --help
        from sottovoce.privacy.guarantee import LimitedPrecision  # noqa: PLC0415 - fast --help
        from sottovoce.release.groups import checked_ids  # noqa: PLC0415 - fast --help
        from sottovoce.release.inputs import ReleaseInputs  # noqa: PLC0415 - fast --help
        from sottovoce.release.job import quote  # noqa: PLC0415 - fast --help
        from sottovoce.release.make import Wanted, carry_out, uncounted  # noqa: PLC0415 - fast --help

    check_precision(precision)
    stated = LimitedPrecision(precision, epsilon)
    allowed = None if budget is None else LimitedPrecision(precision, budget)
    chosen = Engine(engine, master, spark_conf, partitions)
    told = formats.read_options(
        file_format, fields, header, timezone, encoding, longest, delimiter, day_first, month_first
    ).named(label=labels)
    inputs = ReleaseInputs(
        corpus=corpus,
        reading=told,
        vocabulary=None if vocabulary is None else named_vocabulary(vocabulary),
        min_texts=min_texts,
        max_terms=max_terms,
        stop_words=stop_words,
        user_documents=user_documents,
        declared=declare_data_dependent,
        declared_new=declare_new_documents,
        labelled=labels is not None,
        grouping=checked_ids(by, ids),
    )
    if chosen.is_spark:
        chosen.refuse({"--by": by, "--day-first": day_first, "--month-first": month_first})
    else:
        inputs = inputs.read_as(partial(formats.reading_of, corpus, told=told, encoding=encoding))
    if inputs.grouping is not None and inputs.grouping.by != by:
        typer.echo(f"grouped by the column {inputs.grouping.by}; --by says otherwise", err=True)
    folder = folder_of(out, chosen)
    place = chosen_ledger(ledger, corpus, chosen)
    _warn(place.note)
    with ExitStack() as running:
        remote = (
            running.enter_context(documents_on_spark(chosen, inputs, corpus))
            if chosen.is_spark
            else None
        )
        if remote is not None:
            documents, declared = remote.documents, remote.declared
            warn_about_rows(remote)
        else:
            opened = inputs.open()
            with progress("Counting words"):
                documents, declared = inputs.load(opened)
            warn_about_rows(opened)
        wanted = Wanted(
            guarantee=stated,
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
        )
        job = wanted.job(documents, declared, label)
        if remote is not None:
            remote.check(job.plan)
        for warning in job.plan.warnings():
            _warn(warning)
        warn = partial(_warn, "" if chosen.is_spark else inputs.person_warning())
        if dry_run:
            quoted = quote(job, place, allowed, folder)
            warn(uncounted(place, quoted), quoted.fixes(allowed))
            _show(job, quoted, as_json, place.path)
            return
        with progress("Drawing noise"):
            elsewhere = None if remote is None else partial(remote.release, job, address_of(out))
            done = carry_out(job, place, allowed, folder, elsewhere, warn)
        _warn(done.uncounted, done.others_in_folder)
        _show(job, done, as_json, place.path, out)


def _warn(*of: str) -> None:
    for each in filter(None, of):
        typer.echo(f"warning: {each}", err=True)


def _show(
    job: "Job",
    made: "Done | ReleaseQuote",
    as_json: bool,
    ledger: Path,
    out: Path | None = None,
) -> None:
    """What was released into ``out``, or what a dry run would."""
    from sottovoce.privacy.exact import text_up  # noqa: PLC0415 - fast --help

    card, account = made.card, made.account
    n = account.budget.n
    facts: dict[str, object] = {
        "documents": card.documents,
        "documents_left_out": job.documents.left_out,
        "documents_alike": alike(job),
        **texts_read(job),
        "words": card.words,
        "columns": card.columns,
        "noise_deviation_per_column": job.plan.noise_deviation,
        "spent_epsilon": text_up(account.spent * n),
        "of_a_budget": f"{text_up(account.budget.epsilon)} at N={n}",
        "ledger": ledger,
    }
    if out is None:
        facts["expected_nonzero_cells"] = job.plan.expected_nonzeros(job.documents.counts)
    else:
        facts["folder"] = out
    if as_json:
        planned = {} if out is not None else {"errors": _error_facts(made)}
        shown = {**facts, **planned, **promised(card), **_how(made, out)}
        show_json({**shown, "private": [name for name in _PRIVATE if name in shown]})
        return
    names = {
        "spent_epsilon": "epsilon then spent" if out is None else "epsilon spent so far",
        **{name: f"{name} (private)" for name in _PRIVATE},
    }
    title = "Dry run: nothing was drawn or spent" if out is None else "Release"
    if made.paid_before and out is not None:
        title += ", paid for before: nothing more was spent"
    show_facts(title, named_facts(facts, {**names, **units(job)}))
    typer.echo("What is marked private follows from the true texts: it is for you alone.")
    for sentence in as_they_stand(job):
        typer.echo(sentence)
    if made.spent_before and not made.paid_before:
        typer.echo(f"{made.spent_before[:1].upper()}{made.spent_before[1:]}, before this release.")
    typer.echo(card.in_words())
    if errors := getattr(made, "errors", None):
        typer.echo(errors.in_words())


def _error_facts(made: "Done | ReleaseQuote") -> dict[str, float] | None:
    errors = getattr(made, "errors", None)
    return None if errors is None else dict(errors.facts())


def _how(made: "Done | ReleaseQuote", out: Path | None) -> dict[str, object]:
    return {
        "in_words": made.card.in_words(),
        "dry_run": out is None,
        "paid_before": made.paid_before and out is not None,
        "spent_before": made.spent_before or None,
    }
