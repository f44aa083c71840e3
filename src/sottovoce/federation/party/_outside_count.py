"""Counts outside a party's folder, by which it notices that a file was restored from a copy.

A journal only grows, and so does a memory. How often each was added to is noted in the user's state
folder too, each time before anything is sent. One with a smaller count than was noted is a copy of
earlier, or was deleted: what the party has said and opened since is not in it. It must not go on
with a run that it has gone on with before, a peer no longer knows what its trainings opened, and a
helper how many rows were classified. All its runs are ended before the counts are made to agree: a
start that is killed in between is followed by one that finds the same copy.

Where the state folder is restored together with the party's, or a copy runs on another machine,
nobody notices here. What the party draws is bound to its data all the same.
"""

import hmac
import time
from typing import Literal, TypeAlias, get_args

from sottovoce._noted import NotedCount
from sottovoce.errors import ConfigError, JournalError, RestoredCopyError
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation.party._memory import PartyMemory
from sottovoce.federation.party.history import RunHistory
from sottovoce.files import state_folder

_NAME_LETTERS = 32
_ADDED, _RESTORED = "added", "restored"
_NEVER_REACHED = 1 << 40
Counted: TypeAlias = Literal["journal", "memory"]


class OutsideCount(NotedCount):
    """The count of a party's journal, or of its memory.

    Where there is no place for it nothing is noticed: `kept` says so.
    """

    def __init__(self, journal_key: bytes, what: Counted = "journal") -> None:
        _refuse_homeless()
        name = hmac.digest(journal_key, f"sottovoce {what} count".encode(), "sha256").hex()
        super().__init__("journals", name[:_NAME_LETTERS], JournalError)


def note_restored(journal: Journal) -> None:
    """Note that the store was found to be a copy of earlier, or a part of it gone."""
    journal.note_fact(_RESTORED, int(time.time()))


def settle_count(journal: Journal, outside: OutsideCount) -> None:
    """Take a copy of earlier for one no longer: to be called once all its runs are ended."""
    behind = outside.seen() - journal.count
    if behind > 0:
        journal.note_fact(_ADDED, journal.fact(_ADDED) + behind + 1)
    outside.note(journal.count)


def settle_memory(memory: PartyMemory, outside: OutsideCount) -> None:
    """As `settle_count`, of a memory."""
    behind = outside.seen() - memory.count
    if behind > 0:
        memory.skip(behind + 1)
    outside.note(memory.count)


def carry_counts(old: bytes, new: bytes) -> None:
    """Go on counting under a new journal key; whatever is put back under the old one is a copy."""
    for what in get_args(Counted):
        before, after = OutsideCount(old, what), OutsideCount(new, what)
        if not after.seen():
            after.note(before.seen())
        before.note(before.seen() + _NEVER_REACHED)


def _refuse_homeless() -> None:
    try:
        state_folder()
    except RuntimeError:
        raise ConfigError(
            "a party notes outside its store how far it has come, so that it notices a restored "
            "copy, and this user has no home folder for that; set XDG_STATE_HOME to a folder that "
            "is not restored together with the store."
        ) from None


def restored_at(journal: Journal) -> int:
    """When the journal was last found to be a copy, or 0."""
    return journal.fact(_RESTORED)


def restored_error(name: str) -> RestoredCopyError:
    """Why a run that was under way in a copy is ended."""
    return RestoredCopyError(
        f"the store of {name} was restored from a copy of earlier, and this run has gone on since; "
        "train again."
    )


def spent_unknown(training: RunHistory, restored: int, name: str) -> str | None:
    """Why a helper answers no query by a training from before a copy was restored, or None."""
    if training.begun > restored:
        return None
    return (
        f"the store of {name} was restored from a copy, and how many rows were classified since "
        "is not known; train again."
    )
