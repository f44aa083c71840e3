"""What documents have spent in other ledgers: those of the same user that this one does not know.

One ledger should see all releases, but there may be several: one beside a corpus, one that somebody
named. Each knows documents under a key of its own, so that what two of them know is brought
together for the documents at hand only. A document's rates add up over all ledgers, and the sum
must keep to its budget in the one that is charged:

    spent here  +  sum over the others of what was spent there  +  this release  <=  budget.

The others are asked, not written to: two releases at the same moment from two ledgers do not see
each other. What a ledger spent on a corpus whose documents it was not told, it can say of that
corpus; of others it cannot.

Where a user's ledger lies, and a count of each ledger's spends that is kept apart from it.

One ledger serves all that a user releases on a machine, so that every release of a document meets
what was spent on it before: ``SOTTOVOCE_LEDGER``, or ``ledger`` in the user's folder of state
(``$XDG_STATE_HOME/sottovoce``, by default ``~/.local/state/sottovoce``).

The same folder holds, for each ledger that was ever spent from here, how often. A copy of the
ledger that knows of fewer spends is an old one: whoever released by it would spend twice. The count
is written after the spend is committed, so that it never runs ahead of the ledger it counts. Beside
it stands where that ledger was last, so that a release by another one can ask it, and one that is
gone is missed. What is noted and cannot be read stops a release. Only where there is no folder of
state and none can be made, nothing is noted, and nothing noticed.
"""

import glob
import os
import shlex
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce._notes import ABSENT, Move, NotedCount, folder_of_notes, noted_in, refusing
from sottovoce.errors import BudgetError, LedgerError
from sottovoce.files import state_folder, whole_file
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.privacy.ledger.accounts import SpendRequest, spent_on_corpus, sum_unnamed_spends
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
    may_have_more: bool = False
    """Whether it has spent on corpora whose documents it was not told."""
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
        if met:
            return f"{overlap_in_words(met, self.place.size)}, in the ledger {self.ledger}"
        if self.may_have_more:
            return (
                f"the ledger {self.ledger} may have spent on these documents without being told "
                "which they are; make its requests again with their documents, which is free, and "
                "it learns whose they were"
            )
        return ""


def spent_there(
    connection: sqlite3.Connection, ledger: Path, key: LedgerKey | None, request: SpendRequest
) -> SpentThere:
    """What ``ledger``, with its ``key`` if it has one, knows of the documents of ``request``."""
    documents = request.documents or DocumentSet.of_hashes(b"")
    groups: list[DocumentGroup] = []
    place = np.full(documents.hashes.size, UNKNOWN, np.intp)
    if key is not None:
        groups, place = place_of_each(connection, key.each(documents))
    whole = spent_on_corpus(connection, request.corpus)
    if whole is not None:
        # What these documents are known to have spent comes to what their corpus has.
        groups = [*(group.add_spend(whole.spent) for group in groups), whole]
        place = np.where(place == UNKNOWN, len(groups) - 1, place)
    return SpentThere(ledger, groups, place, bool(sum_unnamed_spends(connection)))


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
    short = [group for group in groups if group.add_spend(request.guarantee.rate).rest < 0]
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


LEDGER_VARIABLE = "SOTTOVOCE_LEDGER"
_PRIVATE_FOLDER = 0o700
_PLACES = "ledgers"


def _state_folder() -> Path:
    try:
        return state_folder()
    except RuntimeError:
        raise LedgerError(f"there is no home folder; set {LEDGER_VARIABLE}.") from None


def user_ledger() -> Path:
    """The one ledger for all that a user releases on this machine.

    >>> user_ledger().name
    'ledger'
    """
    given = os.environ.get(LEDGER_VARIABLE)
    return Path(given) if given else _state_folder() / "ledger"


def make_room(ledger: Path) -> None:
    """Make the folder of a user's ledger, for the user only."""
    try:
        ledger.parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerError(f"cannot make the folder {ledger.parent}: {error.strerror}.") from error


@dataclass(frozen=True)
class LedgerAt:
    """A ledger at a path; one that was spent from on this machine is noted by its own name."""

    path: Path
    known_as: str = ""


def noted_ledgers() -> list[LedgerAt]:
    """Where the ledgers were that this machine has seen spends of."""
    state = folder_of_notes()
    if state is None:
        return []
    with refusing(state / _PLACES, LedgerError), suppress(*ABSENT):
        files = [each for each in (state / _PLACES).iterdir() if not each.name.startswith(".")]
        found = [LedgerAt(Path(noted_in(file)), file.name) for file in sorted(files)]
        if Path() in (each.path for each in found):
            raise ValueError("a place was noted, and is not there")
        return found
    return []


def refuse_lost(ledger: Path) -> None:
    """Refuse to begin a ledger again where one was spent from."""
    path = ledger.resolve()
    for known in noted_ledgers():
        if known.path == path:
            Move("ledger", known.known_as, LedgerError).refuse_moved()
            spends = SpendCount(known.known_as).read_count()
            raise LedgerError(
                f"the ledger {path} is gone, from which {spends} spends were made on this machine; "
                "nothing was spent or released. Restore it with its key "
                f"and outputs; {or_forget(path)}"
            )


def or_forget(path: Path) -> str:
    """How to go on without a ledger that is gone for good, and at which price."""
    command = f"sottovoce ledger forget-place {shlex.quote(str(path))}"
    return f"or, if it is gone for good, run: {command}; what was spent there then counts no more."


class SpendCount(NotedCount):
    """How many spends of one ledger this machine has seen, and where that ledger is."""

    def __init__(self, ledger_id: str | None, at: Path | None = None) -> None:
        super().__init__("spends", ledger_id, LedgerError)
        self._at = at
        self.moves = Move("ledger", ledger_id, LedgerError)

    def pack(self, ledger: Path, archive: Path) -> None:
        """Pack the ledger with its key, its outputs, and notes of what is being drawn."""
        beside = [
            file
            for end in ("key", "outputs/*.bin", "outputs/*.drawing")
            for file in ledger.parent.glob(f"{glob.escape(ledger.name)}.{end}")
        ]
        names = [f"ledger{str(file).removeprefix(str(ledger))}" for file in beside]
        files = {**dict(zip(names, beside, strict=True)), "ledger": ledger}
        self.moves.pack(files, {self.key: self.read_count()}, archive)

    def note_place(self) -> None:
        """Note where the ledger is, the first time."""
        if self._file is not None and self._at is not None:
            place = _place_note(self._file)
            with refusing(place, LedgerError):
                if noted_in(place) != str(self._at):
                    place.parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
                    with whole_file(place, private=True) as unfinished:
                        unfinished.write_text(str(self._at), encoding="utf-8")
            self._at = None

    def forget_place(self) -> None:
        """Note it no more. The count stays: no old copy of that ledger goes on."""
        if self._file is not None:
            with refusing(_place_note(self._file), LedgerError):
                _place_note(self._file).unlink()


def _place_note(count: Path) -> Path:
    return count.parents[1] / _PLACES / count.name
