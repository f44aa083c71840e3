"""What the two servers know each other by: a key of 32 bytes that both were given.

From it come two keys, one for signing requests and one for the check of reports, which clients must
not foresee.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.files import cause_of, refuse_open_to_others

HEADER = "X-Sottovoce-Peer"
_DIGITS = 64
SIGNATURE_DIGITS = 2 * _DIGITS
_KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class PeerKey:
    """The servers' common secret; it never prints."""

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> "PeerKey":
        """The key in a file that only its owner may read: 64 hexadecimal digits."""
        try:
            refuse_open_to_others(path)
            text = path.read_text(encoding="ascii").strip()
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read the key {path}: {cause_of(error)}.") from None
        if not _KEY.fullmatch(text):
            raise InputError(f"the key {path} must be 64 hexadecimal digits: openssl rand -hex 32")
        return cls(bytes.fromhex(text))

    @property
    def checks(self) -> bytes:
        """The key behind the coefficients of the check."""
        return hmac.digest(self.secret, b"sottovoce rank check", hashlib.sha256)

    def signature(self, path: str, body: bytes) -> str:
        """What shows that a request comes from the other server: the body's hash, then a MAC of it.

        So whoever is asked can tell before a large body has arrived.
        """
        return self._over(path, hashlib.sha256(body).hexdigest())

    def vouched(self, path: str, signature: str) -> bool:
        """Whether the other server has signed some body for ``path`` with this ``signature``."""
        right = self._over(path, signature[:_DIGITS])
        return hmac.compare_digest(right.encode(), signature.encode())

    def signed(self, path: str, body: bytes, signature: str) -> bool:
        """Whether ``signature`` is that of this request."""
        return hmac.compare_digest(self.signature(path, body).encode(), signature.encode())

    def _over(self, path: str, digest: str) -> str:
        signing = hmac.digest(self.secret, b"sottovoce rank peer", hashlib.sha256)
        return digest + hmac.new(signing, f"{path}\n{digest}".encode(), hashlib.sha256).hexdigest()
