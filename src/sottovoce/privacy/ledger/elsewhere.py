"""What documents have spent in other ledgers: those of the same user that this one does not know.

One ledger should see all releases, but there may be several: one beside a corpus, one that somebody
named. Each knows documents under a key of its own, so that what
two of them know is brought together for the documents at hand only. A document's rates add up over
all ledgers, and the sum must keep to its budget in the one that is charged:

    spent here  +  sum over the others of what was spent there  +  this release  <=  budget.

The others are asked, not written to: two releases at the same moment from two ledgers do not see
each other.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import BudgetError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest
from sottovoce.privacy.ledger.documents import DocumentSet, LedgerKey
from sottovoce.privacy.ledger.groups import (
    DocumentGroup,
    over_budget,
    overlap_in_words,
    place_of_each,
)

UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class SpentThere:
    """Which of some documents a ledger knows, and what each of them has spent there."""

    ledger: Path
    groups: Sequence[DocumentGroup]
    place: NDArray[np.intp]
    """For each document, in the order of its set: the place of its group, or `UNKNOWN`."""
    known_as: str = ""
    """The ledger's own name, which its copies have too."""
    spends: int = 0
    """How many spends it knows of."""
    answers: bool = True

    def in_words(self) -> str:
        """How many have spent how much there; nothing where none has."""
        if not self.answers:
            return f"the ledger {self.ledger} cannot be asked what these documents have spent there"
        number = np.bincount(self.place[self.place != UNKNOWN], minlength=len(self.groups))
        met = [
            replace(group, documents=int(number[i]))
            for i, group in enumerate(self.groups)
            if number[i] and group.spent
        ]
        if not met:
            return ""
        return f"{overlap_in_words(met, self.place.size)}, in the ledger {self.ledger}"


def spent_there(
    connection: sqlite3.Connection, ledger: Path, key: LedgerKey | None, request: SpendRequest
) -> SpentThere:
    """What ``ledger``, with its ``key`` if it has one, knows of the documents of ``request``."""
    documents = request.documents or DocumentSet.of_hashes(b"")
    if key is None:
        return SpentThere(ledger, (), np.full(documents.hashes.size, UNKNOWN, np.intp))
    return SpentThere(ledger, *place_of_each(connection, key.each(documents)))


def silent_ledger(ledger: Path, known_as: str) -> SpentThere:
    """Of a ledger that cannot be asked."""
    return SpentThere(ledger, (), np.zeros(0, np.intp), known_as=known_as, answers=False)


def newest_of_each(found: Sequence[SpentThere], but: str | None) -> list[SpentThere]:
    """Of copies of one ledger the one that knows most, ``but`` for the ledger of this name."""
    newest: dict[str, SpentThere] = {}
    for each in sorted(found, key=lambda each: each.spends):
        if each.known_as != but and each.in_words():
            newest[each.known_as] = each
    return list(newest.values())


def budgets_in(others: Sequence[SpentThere]) -> list[LimitedPrecision]:
    """The budgets that documents have in other ledgers."""
    return [group.budget for each in others for group in each.groups]


def new_here(ledger: Path, documents: DocumentSet, budget: LimitedPrecision) -> SpentThere:
    """Documents in a ledger that is not there yet."""
    group = DocumentGroup(0, documents.hashes.size, budget, Fraction(0))
    return SpentThere(ledger, [group], np.zeros(documents.hashes.size, np.intp))


def refuse_beyond(here: SpentThere, others: Sequence[SpentThere], request: SpendRequest) -> None:
    """Refuse a release by which a document would go beyond its budget here, the others counted."""
    groups = _add_elsewhere(here, others)
    short = [group for group in groups if group.add_spend(request.guarantee.rate).left < 0]
    if short:
        error = over_budget(short, groups, request.guarantee, others=request.others)
        where = ", ".join(str(each.ledger) for each in others if each.in_words())
        told = BudgetError(f"{error} What was spent in other ledgers counts too: {where}.")
        told.may_be_others = error.may_be_others
        raise told


def _add_elsewhere(here: SpentThere, others: Sequence[SpentThere]) -> list[DocumentGroup]:
    """The documents by what they have spent in all ledgers, with their budgets here."""
    places = np.stack([here.place, *(each.place for each in others)])
    kinds, numbers = np.unique(places, axis=1, return_counts=True)
    together = []
    for kind, number in zip(kinds.T.tolist(), numbers.tolist(), strict=True):
        elsewhere = [
            each.groups[place].spent
            for each, place in zip(others, kind[1:], strict=True)
            if place != UNKNOWN
        ]
        group = here.groups[kind[0]]
        together.append(replace(group, documents=number, spent=sum(elsewhere, start=group.spent)))
    return together
