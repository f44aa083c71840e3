"""What keeps a journal's private columns from being read or moved: AES-256-GCM, row by row."""

from sottovoce.errors import MissingExtraError, ParameterError
from sottovoce.federation.transport.refusals import JournalError
from sottovoce.learn.party import encoded
from sottovoce.privacy.randomness import system_bytes

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error

KEY_BYTES = 32
_NONCE_BYTES = 12


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
