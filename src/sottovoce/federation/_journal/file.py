"""The journal's SQLite file: durable, readable by its owner only, its private columns sealed.

AES-256-GCM keeps a private value from being read, or moved to another place of the journal.
"""

from sottovoce.errors import JournalError, MissingExtraError, ParameterError
from sottovoce.learn.wire.codec import encode_value
from sottovoce.privacy.randomness import system_bytes
from sottovoce.sqlite import DURABLE, StoreKind

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

    def sealed(self, content: bytes, *place: bytes | str | int) -> bytes:
        """``content`` under a fresh nonce."""
        nonce = system_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, encode_value(place))

    def opened(self, content: bytes, *place: bytes | str | int) -> bytes:
        """What was sealed for this place."""
        nonce, sealed = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, encode_value(place))
        except (InvalidTag, ValueError):
            raise JournalError(
                "the journal does not open: its key is another one, or it was changed."
            ) from None
