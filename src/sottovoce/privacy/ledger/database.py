"""The SQLite file of a ledger: durable, for its owner's eyes only, shared between processes.

Write-ahead log with ``synchronous=FULL``: a transaction that committed survives a crash and a power
cut. Writers take turns (``BEGIN IMMEDIATE``), so what a transaction reads stays true until it
commits. The file gets mode 0600 whoever made it, and SQLite gives the same to its log files. A new
ledger is made under another name and gets its own when it is whole: a disk that fills up meanwhile
leaves nothing.

Version 1 knew a corpus by one hash, and no documents; version 2 knew these by every blank and
capital in them. Both are brought up to date when they are opened: what their corpora have spent
stands, and their documents are learnt when they are met again.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from hashlib import blake2b
from pathlib import Path
from typing import cast

from sottovoce.errors import InputError, LedgerError
from sottovoce.files import PRIVATE_MODE, cause_of, only_one, whole_file
from sottovoce.privacy.exact import read_kept
from sottovoce.privacy.randomness import system_bytes

_SQLITE = b"SQLite format 3\0"
_APPLICATION = 0x536F7474
_NUMBER_AT = 68
"""Where SQLite keeps the number of the application, in its header."""
_VERSION = 3
_ID_BYTES = 16
_PATIENCE_S = 60.0
_SCHEMA = """
CREATE TABLE budget (
    corpus TEXT PRIMARY KEY,
    n INTEGER NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL
) STRICT;
CREATE TABLE spend (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request TEXT NOT NULL UNIQUE,
    corpus TEXT NOT NULL REFERENCES budget (corpus),
    part TEXT NOT NULL,
    n INTEGER NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;
CREATE TABLE total (
    corpus TEXT NOT NULL REFERENCES budget (corpus),
    part TEXT NOT NULL,
    rate TEXT NOT NULL,
    PRIMARY KEY (corpus, part)
) STRICT;
CREATE TABLE output (
    spend INTEGER PRIMARY KEY REFERENCES spend (id),
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL
) STRICT;
"""
# What version 1 had not: documents, in groups that have spent alike, and the ledger's own name.
_DOCUMENTS = """
ALTER TABLE budget ADD COLUMN documents TEXT;
CREATE TABLE document_group (
    id INTEGER PRIMARY KEY,
    n INTEGER NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL,
    rate TEXT NOT NULL,
    documents INTEGER NOT NULL
) STRICT;
CREATE TABLE group_hashes (
    document_group INTEGER PRIMARY KEY REFERENCES document_group (id),
    hashes BLOB NOT NULL
) STRICT;
CREATE TABLE corpus_group (
    name TEXT NOT NULL,
    document_group INTEGER NOT NULL REFERENCES document_group (id),
    PRIMARY KEY (name, document_group)
) STRICT, WITHOUT ROWID;
CREATE INDEX groups_corpora ON corpus_group (document_group);
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""
_FORGET_HASHES = """
UPDATE budget SET documents = NULL;
DELETE FROM corpus_group;
DELETE FROM group_hashes;
DELETE FROM document_group;
"""


class Database:
    """One ledger file, for any number of threads; a forked child opens it again."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._turn = threading.Lock()
        if create:
            _create_private(path)
        elif not path.is_file():
            raise LedgerError(f"there is no ledger at {path}; the first release makes one.")
        with self._refusing():
            self._open()
            _refuse_others(self._connection, path, create=create)
            _prepare(self._connection, path)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A block that commits as a whole, durably, or leaves nothing; one writer at a time."""
        with self._begun("BEGIN IMMEDIATE") as connection:
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def rehearsal(self) -> Iterator[sqlite3.Connection]:
        """A block that may change what it likes and leaves nothing: what would come of it."""
        with self._begun("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A block that sees one state of the ledger."""
        with self._begun("BEGIN") as connection:
            yield connection

    def close(self) -> None:
        """Close the file; SQLite then folds its log into it."""
        self._close()

    @contextmanager
    def _begun(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._turn, self._refusing():
            if self._process != os.getpid():
                self._open()
            connection = self._connection
            connection.execute(begin)
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            # Of a folder in which it cannot keep its log, SQLite says that it cannot open the file.
            written = os.access(folder := self.path.parent, os.W_OK | os.X_OK)
            why = error if written else f"its folder {folder} is read-only for you"
            raise LedgerError(f"the ledger {self.path} refuses: {why}.") from error

    def _open(self) -> None:
        self._connection = _connect(self.path)
        self._process = os.getpid()
        self._close = weakref.finalize(self, _close_in, self._process, self._connection)


# SQLite forbids a forked child to touch its parent's connection, even to close it.
_abandoned: list[sqlite3.Connection] = []


def _close_in(process: int, connection: sqlite3.Connection) -> None:
    if process == os.getpid():
        connection.close()
    else:
        _abandoned.append(connection)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
    )
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def holds_ledger(path: Path) -> bool:
    """Whether there is more at ``path`` than nothing, an empty file or an empty database."""
    if not path.is_file() or not path.stat().st_size:
        return False
    _refuse_text(path)
    with suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None
        finally:
            connection.close()
    return True


def begins_as_ledger(path: Path) -> bool:
    """Whether the file at ``path`` is one of ours by its first bytes, whatever else is in it."""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_NUMBER_AT + 4)
        return start.startswith(_SQLITE) and start[_NUMBER_AT:] == _APPLICATION.to_bytes(4)
    return False


def _create_private(path: Path) -> None:
    """Make a whole ledger at ``path``, unless there is a file; whoever is first makes it."""
    if path.exists():
        _refuse_text(path)
        return
    try:
        with only_one(path, patience_s=_PATIENCE_S):
            # Others may have waited for their turn, or been first.
            if not path.exists():
                with whole_file(path, private=True) as unfinished:
                    _write_new(unfinished)
    except InputError as error:
        cause = cast("Exception | None", error.__cause__)
        why = str(error).rstrip(".") if cause is None else cause_of(cause)
        raise LedgerError(f"cannot create the ledger {path}: {why}.") from error
    except sqlite3.Error as error:
        raise LedgerError(f"cannot create the ledger {path}: {error}.") from error


def _write_new(path: Path) -> None:
    connection = _connect(path)
    try:
        # Nothing to go back to, and nothing to be left lying about.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("BEGIN IMMEDIATE")
        _create_tables(connection)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _refuse_text(path: Path) -> None:
    """SQLite takes a file of a few bytes for an empty database, and would write over it."""
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
    except OSError as error:
        raise LedgerError(f"cannot read the ledger {path}: {error.strerror}.") from error
    if start and start != _SQLITE:
        raise LedgerError(f"{path} is a file, but not a ledger.")


def _refuse_others(connection: sqlite3.Connection, path: Path, *, create: bool) -> None:
    """Leave a file that is no ledger as it is: an empty one is made into one on demand only."""
    connection.execute("BEGIN")
    application = _pragma(connection, "application_id")
    empty = not connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    connection.execute("ROLLBACK")
    if application != _APPLICATION and not (create and empty):
        raise LedgerError(f"{path} is {'empty,' if empty else 'a database, but'} not a ledger.")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    path.chmod(PRIVATE_MODE)
    _use_write_ahead_log(connection)
    connection.execute("BEGIN IMMEDIATE")
    application = _pragma(connection, "application_id")
    if application == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        _create_tables(connection)
    elif application != _APPLICATION:
        raise LedgerError(f"{path} is a database, but not a ledger.")
    elif (version := _pragma(connection, "user_version")) == 1:
        _add_documents(connection)
    elif version == 2:  # noqa: PLR2004 - a version
        _forget_hashes(connection)
    elif version != _VERSION:
        raise LedgerError(f"{path} is a ledger of another version; this one reads {_VERSION}.")
    connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    _add_documents(connection)


def _add_documents(connection: sqlite3.Connection) -> None:
    for statement in _DOCUMENTS.split(";"):
        connection.execute(statement)
    connection.execute("INSERT INTO about VALUES ('id', ?)", (_own_name(connection),))
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _own_name(connection: sqlite3.Connection) -> str:
    """What the ledger is told from others by; copies of one that had none yet get the same."""
    first = connection.execute("SELECT request, time FROM spend ORDER BY id").fetchone()
    if first is None:
        return system_bytes(_ID_BYTES).hex()
    return blake2b(" ".join(first).encode(), digest_size=_ID_BYTES).hexdigest()


def _forget_hashes(connection: sqlite3.Connection) -> None:
    """Know no document any more; each corpus keeps what was spent on it."""
    rates: dict[tuple[str, str], Fraction] = {}
    for row in connection.execute(
        "SELECT spend.* FROM spend JOIN budget USING (corpus) WHERE documents IS NOT NULL"
    ):
        key = row["corpus"], row["part"]
        rates[key] = rates.get(key, Fraction(0)) + read_kept(row["epsilon"], "epsilon") / row["n"]
    connection.executemany(
        "INSERT OR REPLACE INTO total VALUES (?, ?, ?)",
        [(*key, str(rate)) for key, rate in rates.items()],
    )
    for statement in _FORGET_HASHES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to the log; the switch does not wait its turn by itself when others open as well."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
