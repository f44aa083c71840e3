"""A release from beginning to end: spend, draw, keep, unpack.

The order makes crashes harmless: the ledger commits the spend before noise is drawn and keeps
what was drawn, so that the same request, made again, gives the same bytes and never new noise.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce._files import check_folder, nearest_folder
from sottovoce.errors import BudgetError, InputError, LedgerError, ParameterError
from sottovoce.privacy._guarantee import LimitedPrecision
from sottovoce.privacy.ledger import Account, Ledger, SpendRequest
from sottovoce.privacy.ledger._ledger import other_budget
from sottovoce.release._card import ReleaseCard, make_card
from sottovoce.release._folder import (
    CARD_FILE,
    released_card,
    unpack_bundle,
    verified_card,
    write_bundle,
)
from sottovoce.release._inputs import CountedDocuments, CountsElsewhere
from sottovoce.release._plan import Released, ReleasePlan

# A count and its column, in the uncompressed archive that the ledger keeps.
_BYTES_PER_CELL = 12


@dataclass(frozen=True, eq=False)
class Job:
    """Documents to release by a plan.

    ``declared`` names what the data chose and the caller owns up to; ``label`` tells apart two
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
        return SpendRequest(self._fingerprint(), self.documents.corpus, guarantee)

    def card(self, spend: int | None) -> ReleaseCard:
        """The release's card, but for the hashes of its files."""
        return make_card(
            self.plan,
            self.documents.vocabulary,
            documents=self.documents.counts.shape[0],
            documents_per_user=self.documents.per_user,
            declared=self.declared,
            spend=spend,
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


def release_to_folder(
    job: Job, ledger: Ledger, folder: Path, draw_counts: Callable[[], Released] | None = None
) -> ReleaseCard:
    """Spend, draw once, and put the release into ``folder``.

    ``draw_counts`` draws elsewhere, for a job whose counts are not here. It is called at most once,
    after the spend is committed, and what it gives is kept before anybody sees it.
    Raises `BudgetError`, with nothing spent or drawn, when the budget does not allow it.
    """
    request = job.request
    check_folder(folder)
    _refuse_another_release(folder, job, ledger, request)
    _check_room(folder, ledger.path.parent, job)
    spend = ledger.commit(request)

    def draw(path: Path) -> None:
        released = (draw_counts or job.draw)()
        write_bundle(path, released, job.documents.vocabulary, job.card(spend.id))

    stored = ledger.release(request, draw)
    if stored.output is not None:
        unpack_bundle(stored.output.path, folder)
    card = verified_card(folder)
    if replace(card, files={}) != job.card(spend.id):
        raise LedgerError("the stored output is not what was asked for; do not publish it.")
    return card


def _refuse_another_release(
    folder: Path, job: Job, ledger: Ledger | None, request: SpendRequest
) -> None:
    """What lies in ``folder`` may have been published: only the same release may be put there."""
    if not (folder / CARD_FILE).exists():
        return
    spends = [] if ledger is None else ledger.spends(request.corpus)
    own = [spend.id for spend in spends if spend.request.id == request.id]
    if not own or replace(released_card(folder), files={}) != job.card(own[0]):
        raise InputError(
            f"{folder} holds another release; give another folder, or remove that one first."
        )


def _check_room(folder: Path, outputs: Path, job: Job) -> None:
    """Refuse before anything is spent what the disk could not hold, in the ledger's folder too."""
    places = [nearest_folder(folder), nearest_folder(outputs)]
    shared = places[0].stat().st_dev == places[1].stat().st_dev
    needed = job.plan.expected_nonzeros(job.documents.counts) * _BYTES_PER_CELL * (1 + shared)
    free = min(shutil.disk_usage(place).free for place in places)
    if free < needed:
        raise InputError(
            f"the release needs about {needed / 1e6:,.0f} MB of disk, {free / 1e6:,.0f} MB are "
            "free; nothing was spent or released."
        )


def open_account(ledger: Ledger, job: Job, budget: LimitedPrecision | None) -> Account:
    """The account of the job's corpus; a new ledger gives it ``budget``, or just this release's.

    A ledger that knows other corpora but not this one needs the budget said outright.
    """
    if budget is not None and budget.rate < job.request.guarantee.rate:
        raise _too_small()
    known = {account.corpus for account in ledger.accounts()}
    if budget is not None or not known:
        ledger.set_budget(job.documents.corpus, budget or job.request.guarantee)
    return ledger.account(job.documents.corpus)


def quote(job: Job, path: Path, budget: LimitedPrecision | None, folder: Path) -> Account:
    """The account as it would be after ``job``, or the error there would be; writes nothing."""
    check_folder(folder)
    _check_room(folder, path.parent, job)
    if budget is not None and budget.rate < job.request.guarantee.rate:
        raise _too_small()
    ledger = Ledger(path) if path.exists() and path.stat().st_size else None
    _refuse_another_release(folder, job, ledger, job.request)
    accounts = ledger.accounts() if ledger else []
    known = {account.corpus: account for account in accounts}
    account = known.get(job.documents.corpus)
    if account is None and accounts and budget is None:
        raise LedgerError("this ledger has no budget for this corpus; is it another corpus's?")
    if ledger is None or account is None:
        allowed = budget or job.request.guarantee
        return Account(job.documents.corpus, allowed, job.request.guarantee.rate)
    if budget is not None and budget != account.budget:
        raise other_budget(account)
    asked = {spend.request.id for spend in ledger.spends(account.corpus)}
    return account if job.request.id in asked else ledger.quote(job.request)


def _too_small() -> BudgetError:
    return BudgetError(
        "the budget does not even allow this release; nothing was spent or released."
    )
