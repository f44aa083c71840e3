"""A new key for a journal: everything in it is sealed again, all or nothing.

The new key is on disk beside the old one before the journal changes, and takes its place after.
Whoever finds two keys tries which of them opens the journal: a crash in between loses nothing.
A copy that is put back with the old key is known as one: how often a journal was added to is also
counted outside of it.
"""

import hmac
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sottovoce._notes import NotedCount
from sottovoce.errors import ConfigError, JournalError, RestoredCopyError
from sottovoce.federation._journal import JOURNAL, Journal
from sottovoce.federation._keys import JOURNAL as JOURNAL_SECRET
from sottovoce.federation._keys import JournalSeal, load_secret, new_secret, party_passphrase
from sottovoce.federation.config import PartyConfig
from sottovoce.federation.party.history import RunHistory
from sottovoce.federation.party.memory import PartyMemory
from sottovoce.files import state_folder
from sottovoce.sqlite import StoreFile

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
    behind = outside.read_count() - journal.count
    if behind > 0:
        journal.note_fact(_ADDED, journal.fact(_ADDED) + behind + 1)
    outside.note(journal.count)


def settle_memory(memory: PartyMemory, outside: OutsideCount) -> None:
    """As `settle_count`, of a memory."""
    behind = outside.read_count() - memory.count
    if behind > 0:
        memory.skip(behind + 1)
    outside.note(memory.count)


def carry_counts(old: bytes, new: bytes) -> None:
    """Go on counting under a new journal key; whatever is put back under the old one is a copy."""
    for what in get_args(Counted):
        before, after = OutsideCount(old, what), OutsideCount(new, what)
        if not after.read_count():
            after.note(before.read_count())
        before.note(before.read_count() + _NEVER_REACHED)


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


# What is sealed: its table, its column and the rest of its place.
_SEALED = (
    ("run", "terms", "session, 'terms'"),
    ("run", "seed", "session, 'seed'"),
    ("run", "result", "session, 'result'"),
    ("frame", "body", "session, way, other, sequence"),
    ("run_key", "body", "session, 'key', purpose"),
)


def rotate_journal(config: PartyConfig, journal: Path) -> None:
    """Seal a journal, whose party must not run, under a fresh key."""
    passphrase = party_passphrase(config)
    path = config.path(config.party.secrets.journal)
    following = following_key(path)
    settle_key(path, journal, passphrase)
    new_secret(following, JOURNAL_SECRET, passphrase)
    if journal.exists():
        _reseal(journal, _seal(path, passphrase), _seal(following, passphrase))
    _replace_key(path, passphrase)


def forget_run_keys(journal: Journal) -> None:
    """Wipe the Paillier keys of all runs: classifiers hidden under them can be asked no more."""
    for key in journal.run_keys():
        if key.usable:
            journal.forget_key(key.session, key.purpose)


def settle_key(path: Path, journal: Path, passphrase: str | None) -> None:
    """After a crash: keep that of two keys which opens the journal."""
    following = following_key(path)
    if not following.exists():
        return
    if _opens(journal, _seal(following, passphrase)):
        _replace_key(path, passphrase)
    else:
        following.unlink()


def following_key(path: Path) -> Path:
    """Where a key waits that is about to take another's place."""
    return path.with_name(path.name + ".next")


def _replace_key(path: Path, passphrase: str | None) -> None:
    following = following_key(path)
    carry_counts(_key(path, passphrase), _key(following, passphrase))
    following.replace(path)


def _key(path: Path, passphrase: str | None) -> bytes:
    return load_secret(path, kind=JOURNAL_SECRET, passphrase=passphrase)


def _seal(path: Path, passphrase: str | None) -> JournalSeal:
    return JournalSeal(_key(path, passphrase))


def _opens(journal: Path, seal: JournalSeal) -> bool:
    if not journal.exists():
        return False
    with closing(StoreFile(JOURNAL, journal)) as file:
        rows = file.rows("SELECT session, terms FROM run LIMIT 1")
    try:
        for session, terms in rows:
            seal.open(terms, "terms", session)
    except JournalError:
        return False
    return bool(rows)


def _reseal(journal: Path, old: JournalSeal, new: JournalSeal) -> None:
    with closing(StoreFile(JOURNAL, journal)) as file, file.transaction() as db:
        for table, column, place in _SEALED:
            _reseal_column(db, (table, column, place), old, new)


def _reseal_column(
    db: sqlite3.Connection, where: tuple[str, str, str], old: JournalSeal, new: JournalSeal
) -> None:
    table, column, place = where
    found = db.execute(
        f"SELECT rowid, {column}, {place} FROM {table} WHERE {column} IS NOT NULL"  # noqa: S608 - names of ours
    ).fetchall()
    for row, content, session, kind, *rest in found:
        at = (kind, session, *rest)
        sealed = new.seal(old.open(content, *at), *at)
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (sealed, row))  # noqa: S608 - names of ours
