"""What a ledger keeps: its SQLite file, and the released bytes under the spend that paid for them.

Both are durable, for their owner's eyes only, and shared between processes. Write-ahead log with
``synchronous=FULL``: a transaction that committed survives a crash and a power cut. Writers take
turns (``BEGIN IMMEDIATE``), so what a transaction reads stays true until it commits. The file gets
mode 0600 whoever made it, and SQLite gives the same to its log files. An output appears whole or
not at all; while one process draws for a spend, others wait for it.
"""

import fcntl
import hashlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sottovoce._files import PRIVATE_MODE, file_digest, flush_to_disk
from sottovoce.errors import LedgerError

_SQLITE = b"SQLite format 3\0"
_APPLICATION = 0x536F7474
_VERSION = 1
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


class Database:
    """One ledger file, for any number of threads; a forked child opens it anew."""

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
            raise LedgerError(f"the ledger {self.path} refuses: {error}.") from error

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


def _create_private(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_MODE))
    except FileExistsError:
        _refuse_text(path)
    except OSError as error:
        raise LedgerError(f"cannot create the ledger {path}: {error.strerror}.") from error


def _refuse_text(path: Path) -> None:
    """SQLite takes a file of a few bytes for an empty database, and would write over it."""
    with path.open("rb") as file:
        start = file.read(len(_SQLITE))
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
    elif _pragma(connection, "user_version") != _VERSION:
        raise LedgerError(f"{path} is a ledger of another version; this one reads {_VERSION}.")
    connection.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
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


@dataclass(frozen=True)
class Output:
    """A stored output: its file, and what its bytes must be."""

    path: Path
    sha256: str
    size: int


def output_key(spend: int, request: str) -> str:
    """A name for the output of a spend that no other request's output can have.

    Numbers begin anew in a new ledger, so a number alone could meet a file left by an old one.
    """
    return f"{spend}-{hashlib.sha256(request.encode()).hexdigest()[:32]}"


class OutputFolder:
    """The folder beside the ledger that holds its outputs, readable by its owner only."""

    def __init__(self, ledger: Path) -> None:
        self._folder = ledger.with_name(f"{ledger.name}.outputs")

    def path(self, key: str) -> Path:
        """Where the output of ``key`` is, or will be."""
        return self._folder / f"{key}.bin"

    @contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Hold the right to draw for ``key``; a process that dies gives it up."""
        descriptor = self._open_lock(key)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def done(self, key: str) -> None:
        """Tidy up once the output is on record: nobody draws for this spend any more."""
        (self._folder / f"{key}.lock").unlink(missing_ok=True)
        self.discard_unfinished(key)

    def make_durable(self) -> None:
        """Flush the folder itself, for a file whose writer may have died before doing so."""
        flush_to_disk(self._folder)

    def discard_unfinished(self, key: str) -> None:
        """Remove what a process that died while drawing for ``key`` left half-written."""
        for part in self._folder.glob(f".{key}.bin.*.part"):
            part.unlink(missing_ok=True)

    def measure(self, key: str) -> Output:
        """The stored file of ``key`` as it is now."""
        path = self.path(key)
        return Output(path, file_digest(path), path.stat().st_size)

    def _open_lock(self, key: str) -> int:
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            lock = self._folder / f"{key}.lock"
            return os.open(lock, os.O_CREAT | os.O_RDWR, PRIVATE_MODE)
        except OSError as error:
            raise LedgerError(f"cannot write to {self._folder}: {error.strerror}.") from error


def verified(output: Output) -> Output:
    """``output``, or an error when its file is not byte for byte what was stored."""
    if not output.path.is_file():
        raise LedgerError(
            f"the stored output {output.path} is missing; it cannot be drawn again under the same "
            "request. Restore it, or make a new request, which spends anew."
        )
    if file_digest(output.path) != output.sha256:
        raise LedgerError(f"the stored output {output.path} is not what was stored; restore it.")
    return output
