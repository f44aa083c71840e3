"""What ``release`` says: on the way, and of what it counted, promised and wrote."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

from sottovoce.cli._options import ReadingOptions, warn_about_rows
from sottovoce.cli._output import progress, show_facts, show_json
from sottovoce.corpus.read.tally import ReadOptions, Tallied
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.whole_document import to_record
from sottovoce.release.job import Job
from sottovoce.release.make import Done, ReleaseListener
from sottovoce.release.quote import ReleaseQuote

# What is shown that follows from the true texts, without noise.
_PRIVATE = (
    "expected_nonzero_cells",
    "documents_alike",
    "texts",
    "texts_with_quotes_tags_or_addresses",
    "spent_before",
)


class ReleaseTerminal(ReleaseListener):
    """Says on standard error what a call from Python warns of."""

    def __init__(self, reading: ReadingOptions | None) -> None:
        self._reading = reading

    def read(self, source: Any, schema: pa.Schema, told: ReadOptions) -> ReadOptions:  # noqa: ANN401 - a path
        """As told on Spark, which guesses nothing; else as guessed, which is said."""
        if self._reading is None:
            return told
        return self._reading.choose(source, schema, told=told)

    def warn(self, *sentences: str) -> None:
        """Say what must not be overlooked."""
        for each in filter(None, sentences):
            typer.echo(f"warning: {each}", err=True)

    def say_grouping(self, column: str) -> None:
        """Say by which column documents are grouped, where that was guessed."""
        typer.echo(f"grouped by the column {column}; use --by to change this", err=True)

    def say_budget(self, warning: str) -> None:
        """Say that a first release fixes a budget."""
        self.warn(warning)

    def tell_skipped(self, counted: Tallied) -> None:
        """Say which rows were skipped."""
        warn_about_rows(counted)

    def show_step(self, name: str) -> AbstractContextManager[None]:
        """Show that a step is under way."""
        return progress(name)


def show_release(job: Job, made: Done | ReleaseQuote, as_json: bool, out: Path | None) -> None:
    """What was released into ``out``, or what a dry run would."""
    card, account = made.card, made.account
    errors = made.errors if isinstance(made, ReleaseQuote) else None
    n, is_repeated = account.budget.n, made.paid_before and out is not None
    facts: dict[str, object] = {
        "documents": card.documents,
        "documents_left_out": job.documents.left_out,
        "documents_alike": count_copies(job),
        **texts_read(job),
        "words": card.words,
        "columns": card.columns,
        "noise_deviation_per_column": job.plan.noise_deviation,
        "spent_epsilon": text_up(account.spent * n),
        "of_a_budget": f"{text_up(account.budget.epsilon)} at N={n}",
        "ledger": made.ledger,
    }
    if out is None:
        facts["expected_nonzero_cells"] = job.plan.expected_nonzeros(job.documents.counts)
    else:
        facts["folder"] = out
    if as_json:
        if out is None:
            facts["errors"] = None if errors is None else errors.facts()
        for name in ("stated", "guarantee", "per_user"):
            held = getattr(card, name)
            facts[name] = None if held is None else to_record(held)
        facts |= {"in_words": card.in_words(), "dry_run": out is None}
        facts |= {"paid_before": is_repeated, "spent_before": made.spent_before or None}
        show_json({**facts, "private": [name for name in _PRIVATE if name in facts]})
        return
    names = {
        "spent_epsilon": "epsilon then spent" if out is None else "epsilon spent so far",
        **{name: f"{name} (private)" for name in _PRIVATE},
        **units(job),
    }
    title = "Dry run: nothing was drawn or spent" if out is None else "Release"
    if is_repeated:
        title += ", paid for before: this run spent nothing"
    show_facts(title, {names.get(name, name): value for name, value in facts.items()})
    typer.echo("Lines marked private follow from the true texts: do not share them.")
    for sentence in describe_texts(job):
        typer.echo(sentence)
    if made.spent_before and not made.paid_before:
        typer.echo(f"{made.spent_before[:1].upper()}{made.spent_before[1:]}, before this release.")
    typer.echo(card.in_words())
    if errors is not None:
        typer.echo(errors.in_words())


def units(job: Job) -> dict[str, str]:
    """What rows and texts are called on the screen; a row may be a group of texts."""
    if job.documents.grouping is None:
        return {}
    return {
        "documents": f"rows, one for each {job.documents.grouping.by}",
        "documents_alike": "duplicate texts (for you only)",
    }


def texts_read(job: Job) -> dict[str, object]:
    """How many texts were read, and how many are not only their author's."""
    seen = job.documents.found
    if seen is None:
        return {}
    texts = {} if job.documents.grouping is None else {"texts": seen.texts}
    return {**texts, "texts_with_quotes_tags_or_addresses": seen.with_others_words}


def count_copies(job: Job) -> int:
    """How many say what another says: copies of one document would each spend once more."""
    return 0 if job.documents.documents is None else job.documents.documents.copies


def describe_texts(job: Job) -> Iterator[str]:
    """Sentences about what was counted, rows and texts apart."""
    seen, grouping = job.documents.found, job.documents.grouping
    if same := count_copies(job):
        yield (
            f"Texts with the same words as another text: {same:,}. If they are copies of one "
            "document, each copy spends, but the ledger charges the document only once: leave "
            "the copies out."
        )
    if seen is None:
        return
    if grouping is not None:
        folded = seen.values - len(job.documents.groups)
        replies = f" Replies (Re: ...) went to their subject: {folded:,} names." if folded else ""
        yield f"{seen.texts:,} texts are in {len(job.documents.groups):,} rows.{replies}"
    if seen.with_others_words:
        yield (
            f"{seen.with_others_words:,} of {seen.texts:,} texts hold quotes, tags or web "
            "addresses (private). All texts are counted unchanged, also those of deleted authors "
            "and bots: release does not clean."
        )
