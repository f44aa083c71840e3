"""The journal's SQLite file: durable, readable by its owner only, its private columns sealed.

AES-256-GCM keeps a private value from being read, or moved to another place of the journal. Keys of
runs serve one run and one purpose each; of a key no longer used, the fingerprint is left.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sottovoce.errors import JournalError, MissingExtraError, ParameterError
from sottovoce.federation.transport.frames import Kind
from sottovoce.learn.wire.codec import encode_value
from sottovoce.privacy.randomness import system_bytes
from sottovoce.sqlite import DURABLE, StoreFile, StoreKind

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error


KEY_BYTES = 32
_NONCE_BYTES = 12
_TABLES = """
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
CREATE TABLE run_key (
    session BLOB NOT NULL,
    purpose TEXT NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    body BLOB,
    PRIMARY KEY (session, purpose)
) STRICT;
CREATE TABLE fact (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
"""

JOURNAL = StoreKind(
    name="journal",
    application=0x53764A6F,
    version=1,
    tables=_TABLES,
    error=JournalError,
    # One process owns a journal; a second one would answer for the same party.
    pragmas=("locking_mode = EXCLUSIVE", *DURABLE),
    busy="another process has it open, so this party runs already",
)


class JournalSeal:
    """Seals a value for one place of the journal; at any other place it does not open."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ParameterError(f"a journal's key must have {KEY_BYTES} bytes, got {len(key)}.")
        self._cipher = AESGCM(key)

    def seal(self, content: bytes, *place: bytes | str | int) -> bytes:
        """``content`` under a fresh nonce."""
        nonce = system_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, encode_value(place))

    def open(self, content: bytes, *place: bytes | str | int) -> bytes:
        """What was sealed for this place."""
        nonce, sealed = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, encode_value(place))
        except (InvalidTag, ValueError):
            raise JournalError(
                "the journal does not open: its key is another one, or it was changed."
            ) from None


class KeptKey(NamedTuple):
    """One key: of which run and purpose, its fingerprint, and whether it can be used."""

    session: bytes
    purpose: str
    fingerprint: str
    usable: bool


class JournalKeys:
    """The part of a journal that holds keys; bodies are sealed, each for its own place."""

    _file: StoreFile
    _seal: JournalSeal

    def run_keys(self) -> list[KeptKey]:
        """All keys, the oldest first."""
        rows = self._file.rows(
            "SELECT session, purpose, fingerprint, body IS NOT NULL FROM run_key ORDER BY rowid",
        )
        return [KeptKey(run, purpose, name, bool(body)) for run, purpose, name, body in rows]

    def key(self, session: bytes, purpose: str) -> bytes | None:
        """The key of a run for a purpose."""
        row = self._file.row(
            "SELECT body FROM run_key WHERE session = ? AND purpose = ? AND body IS NOT NULL",
            (session, purpose),
        )
        return None if row is None else self._seal.open(row[0], "key", session, purpose)

    def keep_key(self, session: bytes, purpose: str, fingerprint: str, body: bytes) -> None:
        """Keep a new key; one that was used before is refused."""
        sealed = self._seal.seal(body, "key", session, purpose)
        with self._file.transaction() as db:
            db.execute(
                "INSERT INTO run_key VALUES (?, ?, ?, ?)", (session, purpose, fingerprint, sealed)
            )

    def forget_key(self, session: bytes, purpose: str) -> None:
        """Wipe a key, so that nothing can be opened with it any more."""
        with self._file.transaction() as db:
            db.execute(
                "UPDATE run_key SET body = NULL WHERE session = ? AND purpose = ?",
                (session, purpose),
            )


class OutgoingFrame(NamedTuple):
    """One frame to send: to whom, its place, what it is, what may be shown of it, and its body."""

    receiver: str
    sequence: int
    frame: Kind
    shown: Mapping[str, Any]
    body: bytes


class Event(NamedTuple):
    """One step that the party took: what moved it, and whom it then told what.

    The first step also has a digest of the data that the party brought, under the run's seed.
    """

    position: int
    what: str
    sender: str
    sequence: int
    said: tuple[str, ...]
    data: bytes = b""


@dataclass(frozen=True)
class JournalRun:
    """A run as the journal has it."""

    session: bytes
    participants: tuple[str, ...]
    status: str
    terms: bytes = field(repr=False)
    seed: bytes = field(repr=False)
    ended: dict[str, Any]
    followed_by: bytes | None
    begun: float
