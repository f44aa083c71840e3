"""The SQLite file of a ledger: durable, for its owner's eyes only, shared between processes.

Write-ahead log with ``synchronous=FULL``: a transaction that committed survives a crash and a power
cut. Writers take turns (``BEGIN IMMEDIATE``), so what a transaction reads stays true until it
commits. The file gets mode 0600 whoever made it, and SQLite gives the same to its log files. A new
ledger is made under another name and gets its own when it is whole: a disk that fills up meanwhile
leaves nothing.
"""

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import cast

from sottovoce.errors import InputError, LedgerError
from sottovoce.files import cause_of, only_one, whole_file
from sottovoce.privacy.randomness import system_bytes
from sottovoce.sqlite import SIGNATURE, StoreKind, commit_whole, connect

_NUMBER_AT = 68
"""Where SQLite keeps the number of the application, in its header."""
_ID_BYTES = 16
_TABLES = """
CREATE TABLE budget (
    corpus TEXT PRIMARY KEY,
    n INTEGER NOT NULL,
    epsilon TEXT NOT NULL,
    unit TEXT NOT NULL,
    documents TEXT
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


class _LedgerKind(StoreKind):
    """A ledger's file; a new one gets a name that tells it from others."""

    def create_tables(self, connection: sqlite3.Connection) -> None:
        super().create_tables(connection)
        connection.execute("INSERT INTO about VALUES ('id', ?)", (system_bytes(_ID_BYTES).hex(),))


_LEDGER = _LedgerKind(
    name="ledger",
    application=0x536F7474,
    version=3,
    tables=_TABLES,
    error=LedgerError,
    pragmas=("synchronous = FULL", "foreign_keys = ON"),
    patience_s=60.0,
)


class Database:
    """One ledger file, for any number of threads; a forked child opens it again."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._turn = threading.Lock()
        if create:
            _create_private(path)
        elif not path.is_file():
            raise LedgerError(f"there is no ledger at {path}; the first release makes one.")
        _LEDGER.refuse_text(path)
        with self._refusing():
            self._open()
            _LEDGER.prepare(self._connection, path, create=create)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A block that commits as a whole, durably, or leaves nothing; one writer at a time."""
        with self._begin("BEGIN IMMEDIATE") as connection:
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def rehearsal(self) -> Iterator[sqlite3.Connection]:
        """A block that may change what it likes and leaves nothing: what would come of it."""
        with self._begin("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A block that sees one state of the ledger."""
        with self._begin("BEGIN") as connection:
            yield connection

    def close(self) -> None:
        """Close the file; SQLite then folds its log into it."""
        self._close()

    @contextmanager
    def _begin(self, begin: str) -> Iterator[sqlite3.Connection]:
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
    connection = connect(path, _LEDGER.pragmas, _LEDGER.patience_s)
    connection.row_factory = sqlite3.Row
    return connection


def holds_ledger(path: Path) -> bool:
    """Whether there is more at ``path`` than nothing, an empty file or an empty database."""
    if not path.is_file() or not path.stat().st_size:
        return False
    _LEDGER.refuse_text(path)
    with suppress(sqlite3.Error), closing(connect(path, read_only=True)) as connection:
        return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is not None
    return True


def begins_as_ledger(path: Path) -> bool:
    """Whether the file at ``path`` is one of ours by its first bytes, whatever else is in it."""
    with suppress(OSError), path.open("rb") as file:
        start = file.read(_NUMBER_AT + 4)
        return start.startswith(SIGNATURE) and start[_NUMBER_AT:] == _LEDGER.application.to_bytes(4)
    return False


def _create_private(path: Path) -> None:
    """Make a whole ledger at ``path``, unless there is a file; whoever is first makes it."""
    if path.exists():
        return
    try:
        with only_one(path, patience_s=_LEDGER.patience_s):
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
        with commit_whole(connection):
            _LEDGER.create_tables(connection)
    finally:
        connection.close()
