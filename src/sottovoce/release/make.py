"""Documents in, a release out: what ``sottovoce release`` does, its ledger included."""

import tempfile
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.everyday import named_vocabulary
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.kept_reading import warned_reading
from sottovoce.corpus.read.tally import ReadOptions, named_columns
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError
from sottovoce.files import FilePath
from sottovoce.privacy.exact import Exact, exact, positive_integer
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger import Account, Ledger
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace, ledger_place
from sottovoce.release.card import ReleaseCard
from sottovoce.release.compression import WordVectors, read_embedding
from sottovoce.release.folder import others_in_folder
from sottovoce.release.groups import checked_ids
from sottovoce.release.inputs import (
    CountedDocuments,
    ReleaseInputs,
    load_frequencies,
)
from sottovoce.release.job import Job, ReleaseQuote, open_account, quote, release_to_folder
from sottovoce.release.plan import ReleasePlan
from sottovoce.release.release import Release, load_release
from sottovoce.release.settings import Accounting, PriorKind, ReleaseSettings


@dataclass(frozen=True, eq=False)
class Wanted:
    """How counts are to be released, as it was asked: before the words are known."""

    guarantee: LimitedPrecision
    compress: str = "none"
    columns: int | None = None
    accounting: Accounting = "tight"
    prior: PriorKind = "public"
    prior_share: Exact = "1/10"
    frequencies: FilePath | ArrayLike | None = None
    embedding: FilePath | WordVectors | None = None
    maps: int = 1
    threshold: int | None = None
    constant_work: bool = False

    def job(self, documents: CountedDocuments, declared: tuple[str, ...], label: str = "") -> Job:
        """The release of ``documents``, ready to be quoted or drawn."""
        settings = self._settings(documents.vocabulary)
        return Job(documents, ReleasePlan(settings, documents.vocabulary.terms), declared, label)

    def _settings(self, vocabulary: Vocabulary) -> ReleaseSettings:
        return ReleaseSettings(
            guarantee=self.guarantee,
            compression=self.compress,
            columns=self.columns,
            accounting=self.accounting,
            prior=self.prior,
            prior_share=exact(self.prior_share, "prior share"),
            frequencies=_frequencies(self.frequencies, vocabulary),
            embedding=_embedding(self.embedding),
            maps=self.maps,
            threshold=self.threshold,
            constant_work=self.constant_work,
        )


@dataclass(frozen=True)
class Done:
    """A release that lies in its folder, and what it cost."""

    card: ReleaseCard
    account: Account
    paid_before: bool
    spent_before: str  # by its documents already, in words
    uncounted: str = ""  # what they had spent in other ledgers, if that does not count here
    others_in_folder: str = ""  # what lies there and is no part of the release


def carry_out(
    job: Job,
    place: LedgerPlace,
    budget: LimitedPrecision | None,
    folder: Path | None,
    release: Callable[[Ledger], ReleaseCard] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Done:
    """Spend and release into ``folder``; the same job again gives the same bytes and is free.

    ``release`` does it for a job whose counts are elsewhere (``folder`` may then be None); ``tell``
    hears, before anything is drawn, what a first release fixes.
    """
    quoted = quote(job, place, budget, folder)
    if tell is not None:
        tell(quoted.fixes(budget))
    place.make_room()
    ledger = Ledger(place.path, create=True)
    charged = place.charged(quoted.elsewhere)
    account = open_account(ledger, job, budget, shared=place.shared, elsewhere=charged)
    card = _released(job, ledger, folder) if release is None else release(ledger)
    now = ledger.account(account.corpus)
    said = uncounted(place, quoted), others_in_folder(folder, card)
    return Done(card, now, quoted.paid_before, quoted.spent_before, *said)


def _released(job: Job, ledger: Ledger, folder: Path | None) -> ReleaseCard:
    if folder is None:
        raise ParameterError("a release on this machine needs a folder of this machine.")
    return release_to_folder(job, ledger, folder)


def uncounted(place: LedgerPlace, quoted: ReleaseQuote) -> str:
    """A warning that documents have spent in other ledgers than the one that was named."""
    if quoted.paid_before or not (place.named and quoted.elsewhere):
        return ""
    words = "; ".join(each.in_words() for each in quoted.elsewhere)
    return (
        f"{words}. The ledger that was named does not count that: who sees both releases gets the "
        "sum of their epsilons."
    )


class ReleaseOptions(TypedDict, total=False):
    """The options of `release_counts`, for type checkers: what it returns depends on one of them.

    `release_counts` says what each means.
    """

    words: FilePath | Vocabulary | Iterable[str] | None
    text: str | int
    user: str | int | None
    time: str | int | None
    user_documents: int | None
    labels: str | int | None
    by: str | None
    ids: str | None
    ledger: FilePath | None
    budget: Exact | None
    out: FilePath | None
    compress: str
    columns: int | None
    accounting: Accounting
    prior: PriorKind
    prior_share: Exact
    frequencies: FilePath | ArrayLike | None
    embedding: FilePath | WordVectors | None
    maps: int
    threshold: int | None
    constant_work: bool
    declare_data_dependent: bool
    declare_new_documents: bool
    min_texts: int
    max_terms: int | None
    stop_words: str | None
    label: str
    reading: ReadOptions


@overload
def release_counts(
    documents: Source,
    *,
    epsilon: Exact,
    precision: int,
    dry_run: Literal[False] = False,
    **options: Unpack[ReleaseOptions],
) -> Release: ...


@overload
def release_counts(
    documents: Source,
    *,
    epsilon: Exact,
    precision: int,
    dry_run: Literal[True],
    **options: Unpack[ReleaseOptions],
) -> ReleaseQuote: ...


def release_counts(
    documents: Source,
    *,
    epsilon: Exact,
    precision: int,
    words: FilePath | Vocabulary | Iterable[str] | None = None,
    text: str | int = "text",
    user: str | int | None = None,
    time: str | int | None = None,
    user_documents: int | None = None,
    labels: str | int | None = None,
    by: str | None = None,
    ids: str | None = None,
    ledger: FilePath | None = None,
    budget: Exact | None = None,
    out: FilePath | None = None,
    compress: str = "none",
    columns: int | None = None,
    accounting: Accounting = "tight",
    prior: PriorKind = "public",
    prior_share: Exact = "1/10",
    frequencies: FilePath | ArrayLike | None = None,
    embedding: FilePath | WordVectors | None = None,
    maps: int = 1,
    threshold: int | None = None,
    constant_work: bool = False,
    declare_data_dependent: bool = False,
    declare_new_documents: bool = False,
    min_texts: int = 1,
    max_terms: int | None = None,
    stop_words: str | None = None,
    label: str = "",
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    dry_run: bool = False,
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
    _refuse_matrix(documents)
    place = ledger_place(ledger, Path(documents) if isinstance(documents, str | PathLike) else None)
    if place.note:
        warnings.warn(place.note, stacklevel=2)
    _check_words(words, declared=declare_data_dependent)
    if user_documents is None and not (user is None and time is None):
        raise ParameterError(
            "user and time are read only where each user's documents are bounded; give "
            "user_documents too, or leave them out."
        )
    told = named_columns(reading, text=text, user=user, time=time).named(label=labels)
    inputs = ReleaseInputs(
        corpus=documents,
        reading=told,
        vocabulary=_vocabulary(words),
        min_texts=min_texts,
        max_terms=max_terms,
        stop_words=stop_words,
        user_documents=user_documents,
        declared=declare_data_dependent,
        declared_new=declare_new_documents,
        labelled=labels is not None,
        grouping=checked_ids(by, ids),
    )
    stated = LimitedPrecision(positive_integer(precision, "precision"), epsilon)
    how = (compress, columns, accounting, prior, prior_share, frequencies, embedding)
    wanted = Wanted(stated, *how, maps, threshold, constant_work)
    allowed = None if budget is None else LimitedPrecision(precision, budget)
    read = partial(warned_reading, documents, told=told, stacklevel=4)
    job = _counted_job(inputs.read_as(read), wanted, label)
    if out is not None:
        return _made(job, place, allowed, Path(out), dry_run=dry_run)
    with tempfile.TemporaryDirectory() as folder:
        made = _made(job, place, allowed, Path(folder), dry_run=dry_run)
        return replace(made, rows=made.counts, folder=None) if isinstance(made, Release) else made


def _made(
    job: Job,
    place: LedgerPlace,
    budget: LimitedPrecision | None,
    folder: Path,
    *,
    dry_run: bool,
) -> Release | ReleaseQuote:
    if dry_run:
        return quote(job, place, budget, folder)
    done = carry_out(job, place, budget, folder)
    _warn(done.uncounted, done.others_in_folder)
    return load_release(folder)


def _warn(*of: str) -> None:
    for each in filter(None, of):
        warnings.warn(each, stacklevel=4)


def _counted_job(inputs: ReleaseInputs, wanted: Wanted, label: str) -> Job:
    opened = inputs.open()
    documents, declared = inputs.load(opened)
    if left_out := opened.tally.left_out:
        rows = opened.tally.rows_read
        warnings.warn(f"documents were skipped, of {rows} rows: {left_out}", stacklevel=3)
    job = wanted.job(documents, declared, label)
    _warn(*job.plan.warnings(), inputs.person_warning())
    return job


def _refuse_matrix(documents: object) -> None:
    """Rows of counts are no documents that a ledger could know again."""
    if sparse.issparse(documents) or (
        isinstance(documents, np.ndarray) and documents.dtype.kind in "biuf"
    ):
        raise ParameterError(
            "documents must be texts, which the ledger charges one by one, got a matrix of counts; "
            "give the texts, or use PrivateBagOfWords, which keeps no ledger, and add up yourself."
        )


def _check_words(words: object, *, declared: bool) -> None:
    if words is None and not declared:
        raise ParameterError(
            "words must be a public list (a file, a Vocabulary or words), got none: those of the "
            "documents may tell something about them. Give one, or say so with "
            "declare_data_dependent=True; the card will say so."
        )


def _vocabulary(words: FilePath | Vocabulary | Iterable[str] | None) -> Vocabulary | None:
    if words is None or isinstance(words, Vocabulary):
        return words
    if isinstance(words, str | PathLike):
        return named_vocabulary(words)
    # A set has no order of its own, and another order is another release.
    return Vocabulary.public(sorted(words) if isinstance(words, set | frozenset) else words)


def _frequencies(given: FilePath | ArrayLike | None, vocabulary: Vocabulary) -> Floats | None:
    if given is None:
        return None
    if isinstance(given, str | PathLike):
        return load_frequencies(Path(given), vocabulary)
    return np.asarray(given, np.float64)


def _embedding(given: FilePath | WordVectors | None) -> WordVectors | None:
    return read_embedding(Path(given)) if isinstance(given, str | PathLike) else given
