"""A new key for a journal: everything in it is sealed again, all or nothing.

The new key is on disk beside the old one before the journal changes, and takes its place after.
Whoever finds two keys tries which of them opens the journal: a crash in between loses nothing.
A copy that is put back with the old key is known as one.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from sottovoce.errors import JournalError
from sottovoce.federation._files import load_secret, read_passphrase
from sottovoce.federation._journal.file import JOURNAL, JournalSeal
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation._secrets import JOURNAL as JOURNAL_SECRET
from sottovoce.federation._secrets import new_journal_key
from sottovoce.federation.config import PartyConfig
from sottovoce.federation.party._outside_count import carry_counts
from sottovoce.sqlite import StoreFile

_SEALED = (
    ("run", "terms", "session, 'terms'"),
    ("run", "seed", "session, 'seed'"),
    ("run", "result", "session, 'result'"),
    ("inbox", "body", "session, 'in', sender, sequence"),
    ("outbox", "body", "session, 'out', receiver, sequence"),
    ("run_key", "body", "session, 'key', purpose"),
)


def rotate_journal(config: PartyConfig, journal: Path) -> None:
    """Seal a journal, whose party must not run, under a fresh key."""
    passphrase = read_passphrase(config.party.secrets.passphrase, config.folder)
    path = config.path(config.party.secrets.journal)
    following = following_key(path)
    settle_key(path, journal, passphrase)
    new_journal_key(following, passphrase)
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
            seal.opened(terms, "terms", session)
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
        sealed = new.sealed(old.opened(content, *at), *at)
        db.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (sealed, row))  # noqa: S608 - names of ours
