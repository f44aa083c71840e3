"""Documents in, a release out: what `release_counts` and ``sottovoce release`` do.

A request's documents are counted, its release is worked out, and the ledger is asked what they have
spent. A dry run ends there. Else the spend is committed, noise is drawn once, and the release is
put into its folder.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, ParamSpec, Protocol, cast, overload

import pyarrow as pa

from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.guessed import warned_reading
from sottovoce.corpus.read.tally import ReadOptions, Tallied, Tally
from sottovoce.errors import ParameterError
from sottovoce.keywords import take_keywords
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace, ledger_place
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.release.card import ReleaseCard
from sottovoce.release.folder import others_in_folder
from sottovoce.release.inputs import CountedDocuments, ReleaseInputs
from sottovoce.release.job import Job, ReleaseRequest, release_to_folder
from sottovoce.release.plan import ReleasePlan
from sottovoce.release.quote import (
    LedgerStanding,
    ReleaseQuote,
    find_standing,
    make_quote,
    open_account,
)
from sottovoce.release.release import Release, load_release

Made = ParamSpec("Made")
Quoted = ParamSpec("Quoted")


@dataclass(frozen=True, kw_only=True, repr=False)
class Done(LedgerStanding):
    """A release that was made, and what it cost."""

    card: ReleaseCard


class Counted(Protocol):
    """Documents that were counted, and how their noise is drawn where they are."""

    @property
    def documents(self) -> CountedDocuments: ...

    @property
    def declarations(self) -> tuple[str, ...]: ...

    @property
    def tally(self) -> Tally: ...

    def check(self, plan: ReleasePlan) -> str:
        """Refuse what cannot be drawn there; what to know before anything is spent."""

    def release(self, job: Job, ledger: Ledger) -> ReleaseCard:
        """Spend, draw and publish ``job``."""


class Engine(Protocol):
    """Where the work is done: on this machine, or on a cluster."""

    @property
    def folder(self) -> Path | None:
        """The folder to write to, if it is this machine's to look at."""

    def find_ledger(self, request: ReleaseRequest) -> LedgerPlace:
        """The ledger that the documents are charged to."""

    def count(self, inputs: ReleaseInputs) -> AbstractContextManager[Counted]:
        """The counted documents; they stay where they are for the block."""


class ReleaseListener:
    """Whoever is told what happens on the way; a call from Python, by warnings."""

    def read(self, source: Source, schema: pa.Schema, told: ReadOptions) -> ReadOptions:
        """How to read the documents: as told, or as guessed, which is said."""
        return warned_reading(source, schema, told, stacklevel=8)

    def warn(self, *sentences: str) -> None:
        """Say what must not be overlooked."""
        for each in filter(None, sentences):
            warnings.warn(each, stacklevel=5)

    def say_grouping(self, column: str) -> None:
        """Say by which column documents are grouped, where that was guessed: on a terminal."""

    def say_budget(self, warning: str) -> None:
        """Say that a first release fixes a budget: on a terminal."""

    def tell_skipped(self, counted: Tallied) -> None:
        """Say which rows were skipped."""
        if left_out := counted.tally.left_out:
            rows = counted.tally.rows_read
            warnings.warn(f"documents were skipped, of {rows} rows: {left_out}", stacklevel=5)

    def show_step(self, name: str) -> AbstractContextManager[None]:  # noqa: ARG002 - for terminals
        """Show that a step is under way."""
        return nullcontext()


@dataclass(frozen=True)
class _CountedHere:
    inputs: ReleaseInputs
    folder: Path
    documents: CountedDocuments
    declarations: tuple[str, ...]
    tally: Tally

    def check(self, plan: ReleasePlan) -> str:  # noqa: ARG002 - everything is drawn here
        return self.inputs.person_warning()

    def release(self, job: Job, ledger: Ledger) -> ReleaseCard:
        return release_to_folder(job, ledger, self.folder)


@dataclass(frozen=True)
class ThisMachine:
    """Releases into a ``folder`` of this machine."""

    folder: Path

    def find_ledger(self, request: ReleaseRequest) -> LedgerPlace:
        """The ledger that was given, or the user's, or the one beside the documents' file."""
        return ledger_place(request.ledger, request.file)

    @contextmanager
    def count(self, inputs: ReleaseInputs) -> Iterator[Counted]:
        """The counted documents."""
        opened = inputs.open()
        yield _CountedHere(inputs, self.folder, *inputs.load(opened), opened.tally)


def carry_out(
    request: ReleaseRequest, engine: Engine, listener: ReleaseListener
) -> tuple[Job, ReleaseQuote | Done]:
    """Release as asked, or only quote it; the same request again gives the same bytes for free."""
    asked, place = request.inputs(), engine.find_ledger(request)
    inputs = asked.read_as(lambda schema: listener.read(asked.corpus, schema, asked.reading))
    if inputs.grouping is not None and inputs.grouping.by != request.by:
        listener.say_grouping(inputs.grouping.by)
    listener.warn(place.note)
    with ExitStack() as running:
        with listener.show_step("Counting words"):
            counted = running.enter_context(engine.count(inputs))
        listener.tell_skipped(counted)
        job = request.job(counted.documents, counted.declarations)
        warning = counted.check(job.plan)
        listener.warn(*job.plan.warnings())
        standing = find_standing(job, place, request.limit, engine.folder)
        listener.warn(warning)
        if request.dry_run:
            return job, make_quote(job, standing)
        listener.say_budget(standing.fixes(request.limit))
        with listener.show_step("Drawing noise"):
            place.make_room()
            ledger = Ledger(place.path, create=True)
            charged = place.counted_here(standing.elsewhere)
            account = open_account(
                ledger, job, request.limit, shared=place.shared, elsewhere=charged
            )
            card = counted.release(job, ledger)
    listener.warn(standing.uncounted, others_in_folder(engine.folder, card))
    now = replace(standing, account=ledger.account(account.corpus))
    return job, Done(**vars(now), card=card)


@dataclass(frozen=True, eq=False)
class _MadeRequest(ReleaseRequest):
    dry_run: Literal[False] = False


@dataclass(frozen=True, eq=False)
class _QuotedRequest(ReleaseRequest):
    dry_run: Literal[True]


class ReleaseCall(Protocol[Made, Quoted]):
    """Takes the keywords of a request; a dry run gives a quote, and else there is a release."""

    @overload
    def __call__(self, *given: Made.args, **options: Made.kwargs) -> Release: ...
    @overload
    def __call__(self, *given: Quoted.args, **options: Quoted.kwargs) -> ReleaseQuote: ...


def _take_keywords(
    _made: Callable[Made, ReleaseRequest], _quoted: Callable[Quoted, ReleaseRequest]
) -> Callable[[Callable[[ReleaseRequest], Release | ReleaseQuote]], ReleaseCall[Made, Quoted]]:
    """Let a function of a request take its keywords; checkers tell by ``dry_run`` what is given."""

    def decorate(
        act: Callable[[ReleaseRequest], Release | ReleaseQuote],
    ) -> ReleaseCall[Made, Quoted]:
        return cast("ReleaseCall[Made, Quoted]", take_keywords(ReleaseRequest)(act))

    return decorate


@_take_keywords(_MadeRequest, _QuotedRequest)
def release_counts(  # noqa: D417 - the options are a request's
    request: ReleaseRequest,
) -> Release | ReleaseQuote:
    """Release word counts so that what a passage says stays in doubt.

    What ``sottovoce release`` does. The spend is committed to the ledger before noise is drawn;
    the same call again gives the same bytes and spends nothing. Documents are known to the ledger
    by their texts, whether they come from a file, a frame or rows, and pay one by one.

    >>> import tempfile, sottovoce as sv
    >>> import pyarrow as pa
    >>> notes = pa.table({"body": ["my debt and my loan", "the bank is shut"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     released = sv.release_counts(
    ...         notes, text="body", words=["bank", "debt", "loan"], epsilon=2, precision=2,
    ...         ledger=f"{folder}/notes.ledger",
    ...     )
    >>> print(released.guarantee)
    (N=2, epsilon=2) limited-precision local privacy per document, 1 nat per word

    Args:
        documents: a file's path, a data frame of pandas, polars or Arrow, or rows: texts (a series
            too), dictionaries, or tuples (text, label); with ``user_documents`` (user, time, text).
        epsilon: for documents up to ``precision`` words apart; text such as "0.1" is taken exactly.
        precision: N, in words.
        words: the public words to count: a file's path, a `Vocabulary`, words, or "everyday": a
            list of everyday English that is shipped.
        text: the column of the text: its name, or its place from 0, as in longer tuples.
        user: the column of the user, read only with ``user_documents``; None: "user".
        time: the column of the time, likewise.
        user_documents: keep so many documents of each user, and promise per user too.
        labels: the column of public labels, published beside the counts as they are; None: none.
        by: the column by whose values documents are put together, a row for each; None: a row for
            each document.
        ids: "public": publish what the groups are called; None: rows are only numbered.
        ledger: the privacy ledger's file; None: the one for all that you release (`user_ledger`).
        budget: the epsilon, at the same N, that these documents may ever spend; None: this one. A
            first release fixes it.
        out: folder for the release; None: the ledger alone keeps it, for the same call with one.
        compress: none, random, frequency, embedding-cluster or embedding-disperse.
        columns: K, the columns to release, with a compression.
        accounting: "tight", or "paper" to reproduce the paper's weaker one.
        prior: where word frequencies come from: "public", "local" or "central" (paid for).
        prior_share: part of epsilon that pays for local or central frequencies.
        frequencies: public frequencies: a file of words, tabs and numbers, or one per word.
        embedding: public word vectors: a file, a model's folder, or an `Embedding`.
        maps: how many maps, for groups of documents.
        threshold: drop outputs below this.
        constant_work: work that does not depend on the counts.
        declare_data_dependent: say that documents chose the words; the card says so.
        declare_new_documents: say that documents which say what released ones said are others.
        min_texts: without ``words``: drop words in fewer texts.
        max_terms: without ``words``: keep the most frequent ones.
        stop_words: "english", or a file with one word a line.
        label: tells apart two releases that are otherwise the same.
        reading: how a file is read: format, header, encoding.
        dry_run: only say what it would promise, hold and cost, as a `ReleaseQuote`; draw nothing.
    """
    _check_words(request)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) if request.out is None else Path(request.out)
        _, made = carry_out(request, ThisMachine(folder), ReleaseListener())
        if isinstance(made, ReleaseQuote):
            return made
        released = load_release(folder)
        if request.out is not None:
            return released
        return replace(released, rows=released.counts, folder=None)


def _check_words(request: ReleaseRequest) -> None:
    if request.words is None and not request.declare_data_dependent:
        raise ParameterError(
            "words must be a public list (a file, a Vocabulary or words), got none: those of the "
            "documents may tell something about them. Give one, or say so with "
            "declare_data_dependent=True; the card will say so."
        )
