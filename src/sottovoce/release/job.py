"""A release from beginning to end: spend, draw, keep, unpack.

The order makes crashes harmless: the ledger commits the spend before noise is drawn and keeps
what was drawn, so that the same request, made again, gives the same bytes and never new noise.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_facts
from sottovoce.errors import BudgetError, InputError, LedgerError, ParameterError
from sottovoce.files import check_folder, nearest_folder
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger import Account, Ledger, Spend, SpendRequest
from sottovoce.privacy.ledger.accounts import check_budget
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace
from sottovoce.privacy.ledger.database import holds_ledger
from sottovoce.privacy.ledger.elsewhere import SpentThere, budgets_in, new_here, refuse_beyond
from sottovoce.release._sum_errors import SumErrors
from sottovoce.release.card import ReleaseCard, make_card
from sottovoce.release.folder import (
    CARD_FILE,
    needs_spark,
    publish_bundle,
    released_card,
    verified_card,
    write_bundle,
)
from sottovoce.release.inputs import VOUCHED, CountedDocuments, CountsElsewhere
from sottovoce.release.labels import labels_digest
from sottovoce.release.plan import Released, ReleasePlan, Sized

# A count and its column, in the uncompressed archive that the ledger keeps; and in a shard.
_BYTES_PER_CELL, _BYTES_PER_SHARD_CELL = 12, 4


@dataclass(frozen=True, repr=False)
class ReleaseQuote:
    """What a release would promise, hold and cost; nothing was drawn or spent for it.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     quoted = sv.release_counts(
    ...         ["my debt", "a loan"], words=["debt", "loan"], epsilon=2, precision=2, budget=5,
    ...         ledger=f"{folder}/my.ledger", dry_run=True,
    ...     )
    >>> quoted  # doctest: +ELLIPSIS, +NORMALIZE_WHITESPACE
    ReleaseQuote(documents=2, words=2, columns=2, expected_nonzeros=3,
                 costs='epsilon 2 of 5 at N=2', left='epsilon 3',
                 guarantee='(N=2, epsilon=2) ... per word')
    >>> str(quoted.cost), str(quoted.left)
    ('2', '3')
    """

    card: ReleaseCard
    """The card that the release would have, but for its files and its spend."""
    expected_nonzeros: int
    """About how many cells would not be 0. Private: it follows from the true counts."""
    noise_deviation: float
    """The standard deviation of the noise on a column."""
    account: Account
    """What the ledger would say of the documents afterwards."""
    paid_before: bool
    """Whether the ledger holds this very release already: it would then cost nothing."""
    spent_before: str = ""
    """How many of the documents have spent how much already, in words; nothing: none has."""
    errors: SumErrors | None = None
    """What noise does to sums over the rows; None: a threshold would bias them."""
    elsewhere: tuple[SpentThere, ...] = field(default=(), compare=False)
    """What they have spent in other ledgers that were found."""

    def fixes(self, asked: LimitedPrecision | None) -> str:
        """A warning that a first release fixes what its documents may ever spend; "" for others."""
        if asked is not None or self.paid_before or self.spent_before:
            return ""
        fixed = self.account.budget
        return (
            "this first release fixes the budget of these documents: epsilon "
            f"{text_up(fixed.epsilon)} at N={fixed.n}; --budget would allow more releases, and "
            "cannot be changed later."
        )

    @property
    def guarantee(self) -> LimitedPrecision:
        """What would truly hold for each document."""
        return self.card.guarantee

    @property
    def cost(self) -> Fraction:
        """The epsilon that would be spent, at the N of the documents' budget."""
        spent = Fraction(0) if self.paid_before else self.card.guarantee.rate
        return spent * self.account.budget.n

    @property
    def left(self) -> Fraction:
        """The epsilon that these documents could still spend afterwards, at the same N."""
        return self.account.left * self.account.budget.n

    def __repr__(self) -> str:
        card, budget = self.card, self.account.budget
        costs = f"epsilon {text_up(self.cost)} of {text_up(budget.epsilon)} at N={budget.n}"
        return (
            f"ReleaseQuote(documents={card.documents}, words={card.words}, "
            f"columns={card.columns}, expected_nonzeros={self.expected_nonzeros}, "
            f"costs={costs!r}, left='epsilon {text_up(self.left)}', "
            f"guarantee={str(card.guarantee)!r})"
        )

    def _repr_html_(self) -> str:
        facts = {
            "documents": self.card.documents,
            "words": self.card.words,
            "columns": self.card.columns,
            "cells expected not to be 0 (private: follows from the true counts)": (
                self.expected_nonzeros
            ),
            "standard deviation of the noise": self.noise_deviation,
            "epsilon spent": text_up(self.cost),
            "epsilon left": text_up(self.left),
            "errors of sums": self.errors,
            "promise": self.card.in_words(),
        }
        return html_facts(facts, "A release, not made yet")


@dataclass(frozen=True, eq=False)
class Job:
    """Documents to release by a plan.

    ``declared`` names what the data chose and the caller declares; ``label`` tells apart two
    releases that are otherwise the same, for whoever wants to spend twice.
    """

    documents: CountedDocuments
    plan: ReleasePlan
    declared: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        """Refuse what could only fail once the spend is committed."""
        documents, maps = self.documents.counts.shape[0], self.plan.settings.maps
        if maps > documents:
            raise ParameterError(f"maps must be at most one per document, {documents}, got {maps}.")

    @cached_property
    def request(self) -> SpendRequest:
        """What is asked of the ledger; the same job is the same request."""
        guarantee = LimitedPrecision.at_rate(self.plan.guarantee.rate, n=self.plan.guarantee.n)
        return SpendRequest(
            self._fingerprint(),
            self.documents.corpus,
            guarantee,
            documents=self.documents.documents,
            others=VOUCHED in self.declared,
        )

    def card(self, spend: int | None) -> ReleaseCard:
        """The release's card, but for the hashes of its files."""
        return make_card(
            self.plan,
            self.documents.vocabulary,
            documents=self.documents.counts.shape[0],
            documents_per_user=self.documents.per_user,
            declared=self.declared,
            spend=spend,
            labels=self.documents.labels,
            grouping=self.documents.grouping,
        )

    def _fingerprint(self) -> str:
        settings, vocabulary = self.plan.settings, self.documents.vocabulary
        plain = {
            name: str(value)
            for name, value in vars(settings).items()
            if name not in {"embedding", "frequencies", "guarantee"}
        }
        facts = {
            **plain,
            # What frequencies would have cost is no part of a release that buys none.
            "prior_share": str(settings.prior_rate),
            "guarantee": str((settings.guarantee.n, settings.guarantee.epsilon)),
            "frequencies": _digest(settings.frequencies),
            "map": _digest(self._embedded_words()),
            "vocabulary": (vocabulary.fingerprint, vocabulary.data_dependent, vocabulary.origin),
            "counts": self._counts(),
            "corpus": self.documents.corpus,
            "per_user": self.documents.per_user,
            "declared": self.declared,
            "label": self.label,
        }
        # Named only where there are some: the requests of earlier releases stay what they were.
        if self.documents.labels is not None:
            facts["labels"] = labels_digest(self.documents.labels)
        if self.documents.grouping is not None:
            facts["groups"] = self.documents.grouping.facts(self.documents.groups)
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def _embedded_words(self) -> NDArray[np.float64] | None:
        embedding = self.plan.settings.embedding
        return None if embedding is None else embedding.lookup(self.plan.vocabulary)[0]

    def _counts(self) -> list[str | None]:
        """What is released follows from the corpus and every rule that was applied to it."""
        counts = self.documents.counts
        if isinstance(counts, CountsElsewhere):
            return list(counts.digests)
        # In 64 bits each, whatever scipy chose for a matrix of this size.
        parts = (counts.data, counts.indices, counts.indptr)
        return [_digest(part.astype(np.int64, copy=False)) for part in parts]

    def draw(self) -> Released:
        """Draw noise here, for counts that are here."""
        if isinstance(self.documents.counts, CountsElsewhere):
            raise InputError("these counts are on a cluster; draw there.")
        return self.plan.draw(self.documents.counts)


def _digest(array: NDArray[np.generic] | None) -> str | None:
    return None if array is None else hashlib.sha256(array.tobytes()).hexdigest()


def release_to_folder(job: Job, ledger: Ledger, folder: Path) -> ReleaseCard:
    """Spend, draw once, and put the release into ``folder``.

    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = ledger.kept(job.request)
    check_folder(folder)
    _refuse_another_release(folder, job, ledger.find(request))
    check_room(folder, ledger.path.parent, job.plan, job.documents.counts)
    spend = ledger.commit(request)
    note = ledger.drawing_file(spend)

    def draw(path: Path) -> None:
        if note.exists():
            # A cluster died over the same request.
            with needs_spark():
                from sottovoce_spark import sharded_job  # noqa: PLC0415 - another distribution
            sharded_job.clear_attempt(note, sharded_job.local_store_at)
        draw_bundle(path, job, spend.id)

    stored = ledger.release(request, draw)
    if stored.output is not None:
        publish_bundle(stored.output.path, folder)
    card = verified_card(folder)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    return card


def draw_bundle(path: Path, job: Job, spend: int | None) -> None:
    """Draw ``job`` into the one file that is kept of it: every release, and every audit of one."""
    released = job.draw()
    documents = job.documents
    public = documents.labels, documents.public_ids
    write_bundle(path, released, documents.vocabulary, job.card(spend), *public)


def _refuse_another_release(folder: Path | None, job: Job, own: Spend | None) -> None:
    """What lies in ``folder`` may have been published: only the same release may be put there."""
    if folder is None or not (folder / CARD_FILE).exists():
        return
    if own is None or replace(released_card(folder), files={}) != job.card(own.id):
        raise InputError(
            f"{folder} holds another release; give another folder, or remove that one first."
        )


def open_account(
    ledger: Ledger,
    job: Job,
    budget: LimitedPrecision | None,
    *,
    shared: bool = False,
    elsewhere: Sequence[SpentThere] = (),
) -> Account:
    """The account of the job's documents; those that are new get ``budget``, or what is due.

    A ledger that is not ``shared`` by all that its user releases, and knows other documents but
    none of these, needs the budget said outright, unless they have one ``elsewhere``.
    """
    request = ledger.kept(job.request)
    if budget is not None and budget.rate < request.guarantee.rate:
        raise _too_small()
    if budget is not None:
        ledger.set_budget(request.corpus, budget, request.documents)
    else:
        ledger.admit(request, shared=shared, elsewhere=elsewhere)
    return ledger.account(request.corpus)


def quote(
    job: Job,
    place: LedgerPlace,
    budget: LimitedPrecision | None,
    folder: Path | None,
) -> ReleaseQuote:
    """What ``job`` would be and cost, or the error there would be; writes nothing.

    ``folder``: None where it is not this machine's to look at.
    """
    if folder is not None:
        check_folder(folder)
    check_room(folder, place.path.parent, job.plan, job.documents.counts)
    if budget is not None and budget.rate < job.request.guarantee.rate:
        raise _too_small()
    ledger = Ledger(place.path) if holds_ledger(place.path) else None
    elsewhere = place.spent_elsewhere(job.request, ledger)
    charged = place.charged(elsewhere)
    account, paid_before = _account_after(job, place, ledger, budget, folder, charged)
    documents = job.documents.documents
    here = "" if ledger is None or documents is None else ledger.spent_before(documents)
    return ReleaseQuote(
        card=job.card(None),
        expected_nonzeros=job.plan.expected_nonzeros(job.documents.counts),
        noise_deviation=job.plan.noise_deviation,
        account=account,
        paid_before=paid_before,
        spent_before="; ".join(filter(None, [here, *(each.in_words() for each in elsewhere)])),
        elsewhere=tuple(elsewhere),
        errors=job.plan.errors(job.documents.counts.shape[0]),
    )


def _account_after(
    job: Job,
    place: LedgerPlace,
    ledger: Ledger | None,
    budget: LimitedPrecision | None,
    folder: Path | None,
    elsewhere: Sequence[SpentThere],
) -> tuple[Account, bool]:
    """The account as it would be after ``job``, and whether that was paid for before."""
    request = job.request if ledger is None else ledger.kept(job.request)
    own = None if ledger is None else ledger.find(request)
    _refuse_another_release(folder, job, own)
    with _may_be_declared():
        if ledger is None:
            return _first_account(place.path, request, budget, elsewhere), False
        if own is None:
            shared = place.shared
            return ledger.quote(request, budget, shared=shared, elsewhere=elsewhere), False
    account = ledger.account(request.corpus)
    if budget is not None:
        check_budget(account, budget)
    return account, True


def _first_account(
    path: Path,
    request: SpendRequest,
    budget: LimitedPrecision | None,
    elsewhere: Sequence[SpentThere],
) -> Account:
    """The account after ``request`` in a ledger that is not there yet."""
    known = min(budgets_in(elsewhere), key=lambda each: each.rate, default=request.guarantee)
    given = known if budget is None else budget
    if elsewhere and request.documents is not None:
        refuse_beyond(new_here(path, request.documents, given), elsewhere, request)
    return Account(request.corpus, given, request.guarantee.rate)


@contextmanager
def _may_be_declared() -> Iterator[None]:
    """Say how to go on where documents may only say what others said."""
    try:
        yield
    except BudgetError as error:
        if not error.may_be_others:
            raise
        raise BudgetError(
            f"{error} If they are other documents that only say the same, say so with "
            "--declare-new-documents (in Python declare_new_documents=True)."
        ) from None


def _too_small() -> BudgetError:
    return BudgetError(
        "the budget does not even allow this release; nothing was spent or released."
    )


def check_room(folder: Path | None, outputs: Path, plan: ReleasePlan, counts: Sized) -> None:
    """Refuse before anything is spent what the disk could not hold, in the ledger's folder too."""
    cells = plan.expected_nonzeros(counts)
    if isinstance(counts, CountsElsewhere):
        # Shards are kept once, where they are written.
        places = [] if folder is None else [nearest_folder(folder)]
        needed = cells * _BYTES_PER_SHARD_CELL
    else:
        places = [nearest_folder(outputs), *([] if folder is None else [nearest_folder(folder)])]
        shared = len({place.stat().st_dev for place in places}) < len(places)
        needed = cells * _BYTES_PER_CELL * (1 + shared)
    free = min((shutil.disk_usage(place).free for place in places), default=needed)
    if free < needed:
        raise InputError(
            f"the release needs about {_in_bytes(needed)} of disk, {_in_bytes(free)} are free; "
            "nothing was spent or released."
        )


def _in_bytes(number: int) -> str:
    """So many bytes, in the largest unit of which there is one."""
    units = ("bytes", "kB", "MB", "GB", "TB")
    place = min(len(units) - 1, (len(str(number)) - 1) // 3)
    return f"{number / 1000**place:.1f} {units[place]}" if place else f"{number} bytes"
