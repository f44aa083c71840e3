"""Counts outside a party's folder, by which it notices that a file was restored from a copy.

A journal only grows, and so does a memory. How often each was added to is noted in the user's state
folder too, each time before anything is sent. One with a smaller count than was noted is a copy of
earlier, or was deleted: what the party has said and opened since is not in it. It must not go on
with a run that it has gone on with before, a peer no longer knows what its trainings opened, and a
helper how many rows were classified.

Where the state folder is restored together with the party's, or a copy runs on another machine,
nobody notices here. What the party draws is bound to its data all the same.
"""

import hmac
import os
import time
from pathlib import Path
from typing import Literal

from sottovoce._files import private_folder, state_folder
from sottovoce.federation._config import ConfigError
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation._transport.frames import RestoredCopyError
from sottovoce.federation.party._history import RunHistory
from sottovoce.federation.party._memory import PartyMemory

_DIGITS = 20
_NAME_LETTERS = 32
_ADDED, _RESTORED = "added", "restored"
_FOLDER = "journals"


class OutsideCount:
    """The count of a party's journal, or of its memory.

    Where it cannot be kept there is none, and nothing is noticed: `kept` says so.
    """

    def __init__(self, journal_key: bytes, what: Literal["journal", "memory"] = "journal") -> None:
        name = hmac.digest(journal_key, f"sottovoce {what} count".encode(), "sha256").hex()
        self._path = _folder() / name[:_NAME_LETTERS]
        self._file: int | None = None

    @property
    def kept(self) -> bool:
        """Whether there is a place for it."""
        return self._file is not None

    def seen(self) -> int:
        """The largest count that was noted, or 0."""
        try:
            return int(self._path.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def note(self, count: int) -> None:
        """Note a larger count."""
        try:
            if self._file is None:
                private_folder(self._path.parent)
                self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
            os.pwrite(self._file, b"%0*d\n" % (_DIGITS, count), 0)
        except OSError:
            self._file = None

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def settle_count(journal: Journal, outside: OutsideCount) -> bool:
    """Compare the two counts; whether the journal is a copy of earlier, which it then notes."""
    seen, restored = outside.seen(), False
    if journal.count < seen:
        journal.note_fact(_ADDED, journal.fact(_ADDED) + seen - journal.count + 1)
        journal.note_fact(_RESTORED, int(time.time()))
        restored = True
    outside.note(journal.count)
    return restored


def settle_memory(memory: PartyMemory, outside: OutsideCount, journal: Journal) -> bool:
    """As `settle_count`, of a memory; the journal notes when it was found to be a copy, or gone."""
    seen, restored = outside.seen(), False
    if memory.count < seen:
        memory.skip(seen - memory.count + 1)
        journal.note_fact(_RESTORED, int(time.time()))
        restored = True
    outside.note(memory.count)
    return restored


def _folder() -> Path:
    try:
        return state_folder() / _FOLDER
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
