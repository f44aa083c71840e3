"""Counting is paid for before noise is drawn, and noise is drawn once for what was paid.

Each peer charges its documents to its own ledger, which `release` charges too. What it drew lies
with the ledger under the run's name: a run that goes on after a crash finds the same bytes, and
another run pays again. Only the ledger keeps noise from being averaged away.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np

from sottovoce.arrays import Integers
from sottovoce.errors import BudgetError, LedgerError, OtherBudgetError
from sottovoce.learn.documents import Documents
from sottovoce.privacy.exact import text_up
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.chosen_ledger import LedgerPlace
from sottovoce.privacy.ledger.database import holds_ledger
from sottovoce.privacy.ledger.documents import DocumentSet, Hashes
from sottovoce.privacy.ledger.elsewhere import SpentThere, budgets_in, new_here, refuse_beyond
from sottovoce.privacy.ledger.ledger import Ledger
from sottovoce.privacy.whole_document import WholeDocument

Draw = Callable[[], Integers]
_TWICE = (
    "(A ledger counts changes within a document, which may replace all of its votes: twice the "
    "epsilon of a whole one, already at N=1.)"
)


@dataclass(frozen=True)
class CountSpend:
    """What a peer's documents pay for one run.

    Attributes:
        name: of the run and the peer; the same name again is the same spend.
        documents: who pays.
        guarantee: what for.
        times: how often a document is counted, if several peers hold it.
    """

    name: str
    documents: DocumentSet
    guarantee: WholeDocument
    times: int = 1
    joined: bool = False
    """To another spend of the same run: then nobody need state a budget for these documents."""

    @classmethod
    def for_documents(
        cls, name: str, documents: Documents, guarantee: WholeDocument
    ) -> "CountSpend":
        """What a peer's documents pay; for none at all a text pays that is this run's alone."""
        texts, nothing = documents.texts, not len(documents)
        paying = DocumentSet.of_texts((f"no document in {name}",) if nothing else texts)
        return cls(name, paying, guarantee, joined=nothing)

    @property
    def request(self) -> SpendRequest:
        """As a ledger is asked."""
        paid = self.guarantee.at_peers(self.times).in_ledger
        return SpendRequest(self.name, self.documents.name, paid, documents=self.documents)


class Spending(Protocol):
    """Where a peer pays, and keeps what it has drawn."""

    def check(self, spend: CountSpend) -> None:
        """Raise `BudgetError` if it could not be paid; pays nothing."""

    def draw_once(self, spend: CountSpend, draw: Draw) -> Integers:
        """Pay, then draw once; the same spend again gives the same numbers."""


@dataclass(frozen=True)
class LedgerSpending:
    """A ledger on disk.

    Attributes:
        place: of the ledger.
        budget: the epsilon of whole documents that new ones may ever spend; None: this once.
    """

    place: LedgerPlace
    budget: LimitedPrecision | None = None

    def check(self, spend: CountSpend) -> None:
        """Raise `BudgetError` if it could not be paid; pays nothing."""
        if self.budget is not None and self.budget.rate < spend.request.guarantee.rate:
            raise BudgetError(
                f"the budget does not even allow this count: {_counting(spend)} must fit it, got "
                f"{text_up(self.budget.epsilon / 2)}; nothing was spent."
            )
        if not holds_ledger(self.place.path):
            self._check_others(spend)
            return
        ledger = Ledger(self.place.path)
        try:
            request = ledger.key_names(spend.request)
            if ledger.find(request) is None:
                elsewhere, shared = (
                    self._elsewhere(spend, ledger),
                    spend.joined or self.place.shared,
                )
                ledger.quote(request, self.budget, shared=shared, elsewhere=elsewhere)
        except BudgetError as error:
            raise count_refusal(error, spend) from None
        except OtherBudgetError as error:
            raise OtherBudgetError(f"{error} {_TWICE}") from None
        finally:
            ledger.close()

    def knows(self, name: str, guarantee: WholeDocument) -> bool:
        """Whether a spend of this name was made, whichever documents paid."""
        if not holds_ledger(self.place.path):
            return False
        ledger = Ledger(self.place.path)
        try:
            request = CountSpend.for_documents(name, Documents(()), guarantee).request
            return ledger.find(ledger.key_names(request)) is not None
        finally:
            ledger.close()

    def draw_once(self, spend: CountSpend, draw: Draw) -> Integers:
        """Pay, then draw once; the same spend again gives the same numbers."""
        ledger = self._open_ledger()
        try:
            request = self._admit_spend(ledger, spend)
            stored = ledger.release(request, lambda path: _write(path, draw())).output
            if stored is None:
                raise LedgerError("what was drawn for a count was kept but is not there.")
            return _read(stored.path)
        except BudgetError as error:
            raise count_refusal(error, spend) from None
        finally:
            ledger.close()

    def pay(self, spends: Iterable[CountSpend]) -> None:
        """Pay several at once, all or none of them, where nothing need be kept."""
        listed = list(spends)
        for spend in listed:
            self.check(spend)
        ledger = self._open_ledger()
        try:
            for spend in listed:
                ledger.commit(self._admit_spend(ledger, spend))
        finally:
            ledger.close()

    def _check_others(self, spend: CountSpend) -> None:
        """Of a ledger that is not there yet: what other ledgers know of the documents counts."""
        request = spend.request
        elsewhere = self.place.counted_here(self.place.spent_elsewhere(request, None))
        if not elsewhere:
            return
        known = min(budgets_in(elsewhere), key=lambda each: each.rate, default=request.guarantee)
        here = new_here(self.place.path, spend.documents, self.budget or known)
        try:
            refuse_beyond(here, elsewhere, request)
        except BudgetError as error:
            raise count_refusal(error, spend) from None

    def _open_ledger(self) -> Ledger:
        self.place.make_room()
        return Ledger(self.place.path, create=True)

    def _admit_spend(self, ledger: Ledger, spend: CountSpend) -> SpendRequest:
        request = ledger.key_names(spend.request)
        if self.budget is not None:
            ledger.set_budget(request.corpus, self.budget, request.documents)
        else:
            elsewhere, shared = self._elsewhere(spend, ledger), spend.joined or self.place.shared
            ledger.admit(request, shared=shared, elsewhere=elsewhere)
        return request

    def _elsewhere(self, spend: CountSpend, own: Ledger) -> Sequence[SpentThere]:
        return self.place.counted_here(self.place.spent_elsewhere(spend.request, own))


@dataclass(frozen=True)
class PaidBefore:
    """For peers of one process: all of them were paid for before the run began."""

    _kept: dict[str, Integers] = field(default_factory=dict)

    def check(self, spend: CountSpend) -> None:
        """Nothing is left to pay."""

    def draw_once(self, spend: CountSpend, draw: Draw) -> Integers:
        """Draw once."""
        if spend.name not in self._kept:
            self._kept[spend.name] = draw()
        return self._kept[spend.name]


def spend_name(session: bytes, peer: str) -> str:
    """What a peer's spend for a run is called."""
    return f"count {session.hex()} {peer}"


def joint_spends(
    name: str, documents: Mapping[str, Iterable[str]], guarantee: WholeDocument
) -> list[CountSpend]:
    """What peers' documents pay in one ledger for all: k times, if k peers hold the same text."""
    held = [DocumentSet.of_texts(texts) for texts in documents.values()]
    hashes, times = np.unique(np.concatenate([each.hashes for each in held]), return_counts=True)
    return [
        CountSpend(f"{name} {k}", _document_set(hashes[times == k]), guarantee, k, joined=at > 0)
        for at, k in enumerate(np.unique(times).tolist())
    ]


def _document_set(hashes: Hashes) -> DocumentSet:
    return DocumentSet(hashes, hashes.size)


def count_refusal(error: BudgetError, spend: CountSpend) -> BudgetError:
    """What a ledger says, for whoever counts whole documents."""
    said = str(error).replace("the release needs", "the count needs")
    found = BudgetError(f"{_counting(spend)} must fit their budget: {said} {_TWICE}")
    found.may_be_others = error.may_be_others
    return found


def _counting(spend: CountSpend) -> str:
    whole = text_up(spend.guarantee.document_epsilon * spend.times)
    copied = f" ({spend.times} times: {spend.times} of the holders have the same texts)"
    return f"counting whole documents at epsilon {whole}{copied if spend.times > 1 else ''}"


def _write(path: Path, numbers: Integers) -> None:
    with path.open("wb") as file:
        np.save(file, numbers, allow_pickle=False)


def _read(path: Path) -> Integers:
    found: Integers = np.load(path, allow_pickle=False)
    return found
