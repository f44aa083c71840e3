"""The SQLite file of a ledger: durable, for its owner's eyes only, shared between processes.

Write-ahead log with ``synchronous=FULL``: a transaction that committed survives a crash and a power
cut. Writers take turns (``BEGIN IMMEDIATE``), so what a transaction reads stays true until it
commits. The file gets mode 0600 whoever made it, and SQLite gives the same to its log files. A new
ledger is made under another name and gets its own when it is whole: a disk that fills up meanwhile
leaves nothing.

The released bytes, each kept beside the ledger under the spend that paid for it.

An output appears whole or not at all, for its owner's eyes only; while one process draws for a
spend, others wait for it. An output that the ledger has no spend for was drawn by a newer copy of
the ledger: this one is old, and whoever went on from it would spend a second time what was spent.
"""

import fcntl
import hashlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from sottovoce.errors import InputError, LedgerError
from sottovoce.files import PRIVATE_MODE, cause_of, file_digest, flush_to_disk, only_one, whole_file
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


def read_about(connection: sqlite3.Connection, name: str) -> str | None:
    """What the ledger notes of itself by this ``name``."""
    row = connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row["value"])


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


@dataclass(frozen=True)
class Output:
    """A stored output: its file, and what its bytes must be."""

    path: Path
    sha256: str
    size: int


def output_key(spend: int, request: str) -> str:
    """A name for the output of a spend that no other request's output can have.

    Numbers begin again in a new ledger, so a number alone could meet a file left by an old one.
    """
    return f"{spend}-{hashlib.sha256(request.encode()).hexdigest()[:32]}"


class OutputFolder:
    """The folder beside the ledger that holds its outputs, readable by its owner only."""

    def __init__(self, ledger: Path) -> None:
        self._folder = ledger.with_name(f"{ledger.name}.outputs")

    def path(self, key: str) -> Path:
        """Where the output of ``key`` is, or will be."""
        return self._folder / f"{key}.bin"

    def drawing(self, key: str) -> Path:
        """Where a release that is drawn by many notes where it is written, till it is done."""
        return self._folder / f"{key}.drawing"

    def forget_drawing(self, key: str) -> None:
        """Remove it: the output is on record, and nothing will be drawn for it again."""
        if self.drawing(key).exists():
            self.drawing(key).unlink(missing_ok=True)
            flush_to_disk(self._folder)

    @contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Hold the right to draw for ``key``; a process that dies gives it up."""
        descriptor = self._open_lock(key)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def tidy_up(self, key: str) -> None:
        """Tidy up once the output is on record: nobody draws for this spend any more."""
        (self._folder / f"{key}.lock").unlink(missing_ok=True)
        self.discard_unfinished(key)

    def keys(self) -> list[str]:
        """The key of every whole output that is there."""
        return [path.stem for path in self._folder.glob("[0-9]*.bin")]

    def refuse_unknown(self, keys: Iterable[str], known: Collection[str]) -> None:
        """Refuse when an output is there whose spend the ledger does not know."""
        unknown = sum(key not in known for key in keys)
        if unknown:
            raise LedgerError(
                f"{self._folder} holds {unknown} outputs that this ledger does not know: it is "
                "older than they are. Nothing was spent or released. Restore the ledger that drew "
                "them; or move the folder away: then their spends are forgotten."
            )

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


def verify_output(output: Output) -> Output:
    """``output``, or an error when its file is not byte for byte what was stored."""
    if not output.path.is_file():
        raise LedgerError(
            f"the stored output {output.path} is missing; it cannot be drawn again under the same "
            "request. Restore it, or make a new request, which spends again."
        )
    if file_digest(output.path) != output.sha256:
        raise LedgerError(f"the stored output {output.path} is not what was stored; restore it.")
    return output
