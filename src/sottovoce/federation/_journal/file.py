"""The journal's SQLite file: durable, readable by its owner only, its private columns sealed.

AES-256-GCM keeps a private value from being read, or moved to another place of the journal.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.errors import JournalError, MissingExtraError, ParameterError
from sottovoce.files import PRIVATE_MODE
from sottovoce.learn.wire.codec import encoded
from sottovoce.privacy.randomness import system_bytes

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error


KEY_BYTES = 32
_NONCE_BYTES = 12
_APPLICATION = 0x536F7474
_VERSION = 4
_SCHEMA = """
CREATE TABLE run (
    session BLOB PRIMARY KEY,
    participants TEXT NOT NULL,
    status TEXT NOT NULL,
    begun REAL NOT NULL,
    terms BLOB,
    seed BLOB,
    result BLOB,
    ended TEXT NOT NULL DEFAULT '',
    followed_by BLOB
) STRICT;
CREATE TABLE event (
    session BLOB NOT NULL REFERENCES run (session),
    position INTEGER NOT NULL,
    what TEXT NOT NULL,
    sender TEXT NOT NULL DEFAULT '',
    sequence INTEGER NOT NULL DEFAULT 0,
    said TEXT NOT NULL,
    PRIMARY KEY (session, position)
) STRICT;
CREATE TABLE inbox (
    session BLOB NOT NULL REFERENCES run (session),
    sender TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    frame TEXT NOT NULL,
    time REAL NOT NULL,
    size INTEGER NOT NULL,
    shown TEXT NOT NULL DEFAULT '',
    body BLOB,
    PRIMARY KEY (session, sender, sequence)
) STRICT;
CREATE TABLE outbox (
    session BLOB NOT NULL REFERENCES run (session),
    receiver TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    acknowledged INTEGER NOT NULL DEFAULT 0,
    frame TEXT NOT NULL,
    time REAL NOT NULL,
    size INTEGER NOT NULL,
    shown TEXT NOT NULL DEFAULT '',
    body BLOB,
    PRIMARY KEY (session, receiver, sequence)
) STRICT;
"""
_KEYS_SCHEMA = """
CREATE TABLE run_key (
    session BLOB NOT NULL,
    purpose TEXT NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    body BLOB,
    PRIMARY KEY (session, purpose)
) STRICT;
CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
"""

_BUSY_S = 5.0
"""How long to wait for another process that has the journal open: it may be about to stop."""


def opened(path: Path | None) -> sqlite3.Connection:
    """The journal at ``path``, made if there is none; None keeps it in memory."""
    if path is not None:
        create_private(path)
    try:
        connection = sqlite3.connect(
            path or ":memory:", _BUSY_S, isolation_level=None, check_same_thread=False
        )
        _prepare(connection)
    except sqlite3.Error as error:
        raise JournalError(f"cannot use the journal at {path}: {_reason(error)}.") from error
    return connection


def _reason(error: sqlite3.Error) -> str:
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        return "another process has it open, so this party runs already"
    return "it is damaged"


def read(connection: sqlite3.Connection, statement: str, values: Sequence[Any] = ()) -> list[Any]:
    """All rows of a query; an error with a name where they cannot be read."""
    try:
        return connection.execute(statement, values).fetchall()
    except sqlite3.Error as error:
        raise JournalError(
            f"cannot read what this party keeps: {type(error).__name__}; see to its disk."
        ) from error


class Readable:
    """The part of a store that reads its rows."""

    _connection: sqlite3.Connection

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return read(self._connection, statement, values)

    def _row(self, statement: str, values: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - as it is
        return next(iter(self._rows(statement, values)), None)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """A block that is kept as a whole, durably, or not at all."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield connection
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        _undo(connection)
        raise JournalError(f"cannot write the journal: {type(error).__name__}.") from error
    except BaseException:
        _undo(connection)
        raise


def _undo(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def create_private(path: Path) -> None:
    """A file that only its owner may read, empty if it was not there."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, PRIVATE_MODE))
        path.chmod(PRIVATE_MODE)
    except OSError as error:
        raise JournalError(f"cannot write the journal at {path}: {error.strerror}.") from error


def _prepare(connection: sqlite3.Connection) -> None:
    # One process owns a journal; a second one would answer for the same party.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.executescript(
            f"BEGIN; {_SCHEMA} {_KEYS_SCHEMA} PRAGMA application_id = {_APPLICATION};"
            f"PRAGMA user_version = {_VERSION}; COMMIT;"
        )
    elif version != _VERSION:
        raise JournalError(
            f"a journal must be of version {_VERSION}, got {version}; end its runs with the "
            "release that wrote it, and begin with a new store."
        )


class JournalSeal:
    """Seals a value for one place of the journal; at any other place it does not open."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ParameterError(f"a journal's key must have {KEY_BYTES} bytes, got {len(key)}.")
        self._cipher = AESGCM(key)

    def sealed(self, content: bytes, *place: bytes | str | int) -> bytes:
        """``content`` under a fresh nonce."""
        nonce = system_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, encoded(place))

    def opened(self, content: bytes, *place: bytes | str | int) -> bytes:
        """What was sealed for this place."""
        nonce, sealed = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, encoded(place))
        except (InvalidTag, ValueError):
            raise JournalError(
                "the journal does not open: its key is another one, or it was changed."
            ) from None
