"""How the two servers of the mode of shares know each other, and how one asks the other.

They know each other by a key of 32 bytes that both were given. From it come two keys, one for
signing requests and one for verifying reports, which clients must not know.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Protocol

from sottovoce.advisor.rank.description import HttpTransport, read_private
from sottovoce.advisor.rank.shares import Message
from sottovoce.errors import InputError, ProtocolError, RefusedError
from sottovoce.parsing import parse_json

VERIFY, OPEN = "/peer/verify", "/peer/open"
_TIMEOUT_S = 120.0
MOST_PEER_BYTES = 1 << 28
"""Room for a message about a million reports."""
HEADER = "X-Sottovoce-Peer"
_DIGITS = 64
SIGNATURE_DIGITS = 2 * _DIGITS
_KEY = re.compile(r"[0-9a-f]{64}")


@contextmanager
def refuse_bad_answer() -> Iterator[None]:
    """Refuse an answer of the other server that cannot be read: its fault, not a defect here."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, RecursionError):
        raise ProtocolError("the second server sent an answer of the wrong form.") from None


def key_digits(path: Path) -> str:
    """The key in a file that only its owner may read: 64 hexadecimal digits."""
    text = read_private(path, "key").strip()
    if not _KEY.fullmatch(text):
        raise InputError(
            f"the key {path} must be 64 hexadecimal digits; make one: openssl rand -hex 32"
        )
    return text


@dataclass(frozen=True)
class PeerKey:
    """The servers' common secret; it never prints."""

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> "PeerKey":
        """The key in a file: see `key_digits`."""
        return cls(bytes.fromhex(key_digits(path)))

    @property
    def verify(self) -> bytes:
        """Prio3's verify key, which no client may know."""
        return hmac.digest(self.secret, b"sottovoce rank verify", hashlib.sha256)

    @property
    def tag(self) -> str:
        """What tells this key from another, and nothing of it."""
        return hmac.new(self.secret, b"sottovoce rank store", hashlib.sha256).hexdigest()

    def signature(self, path: str, body: bytes) -> str:
        """What shows that a request comes from the other server: the body's hash, then a MAC of it.

        So whoever is asked can tell before a large body has arrived.
        """
        return self._sign(path, hashlib.sha256(body).hexdigest())

    def is_vouched(self, path: str, signature: str) -> bool:
        """Whether the other server has signed some body for ``path`` with this ``signature``."""
        right = self._sign(path, signature[:_DIGITS])
        return hmac.compare_digest(right.encode(), signature.encode())

    def is_signed(self, path: str, body: bytes, signature: str) -> bool:
        """Whether ``signature`` is that of this request."""
        return hmac.compare_digest(self.signature(path, body).encode(), signature.encode())

    def _sign(self, path: str, digest: str) -> str:
        signing = hmac.digest(self.secret, b"sottovoce rank peer", hashlib.sha256)
        return digest + hmac.new(signing, f"{path}\n{digest}".encode(), hashlib.sha256).hexdigest()


class Peer(Protocol):
    """Whatever carries a message to the second server and its answer back."""

    def call(self, path: str, message: Message) -> Message:
        """The answer."""


class HttpPeer:
    """The second server at a URL, every request signed."""

    def __init__(self, url: str, key: PeerKey) -> None:
        self._transport = HttpTransport(url, timeout_s=_TIMEOUT_S, most_bytes=MOST_PEER_BYTES)
        self._key = key

    def call(self, path: str, message: Message) -> Message:
        """Send ``message`` signed; the answer's JSON."""
        body = json.dumps(message).encode()
        headers = {HEADER: self._key.signature(path, body)}
        status, sent = self._transport.exchange("POST", path, body, headers)
        if status != HTTPStatus.OK:
            raise RefusedError(status, "the second server does not answer the first.")
        with refuse_bad_answer():
            parsed: Message = parse_json(sent)
        return parsed
