"""Secrets under a passphrase: AES-256-GCM, with a key that scrypt derives."""

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from sottovoce.errors import InputError
from sottovoce.privacy.randomness import random_bytes

NONCE_BYTES = 12
# Scrypt with 128 MiB of memory, as OWASP advises; fixed, so that a file cannot ask for more.
_SCRYPT_COST = 1 << 17
_SCRYPT_BLOCK = 8
_KEY_BYTES = 32
_SALT_BYTES = 16


def seal_fields(secret: bytes, passphrase: str, bound_to: str) -> dict[str, str]:
    """What a file holds of a sealed secret; it opens only beside the same ``bound_to``."""
    if not passphrase:
        raise InputError("a passphrase must not be empty; leave it out to write none.")
    salt, nonce = random_bytes(_SALT_BYTES), random_bytes(NONCE_BYTES)
    sealed = _cipher(passphrase, salt).encrypt(nonce, secret, bound_to.encode())
    return {"salt": salt.hex(), "nonce": nonce.hex(), "sealed": sealed.hex()}


def unseal(salt: bytes, nonce: bytes, sealed: bytes, passphrase: str, bound_to: str) -> bytes:
    """The secret; cryptography's InvalidTag if the passphrase is wrong or a byte was changed."""
    return _cipher(passphrase, salt).decrypt(nonce, sealed, bound_to.encode())


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    kdf = Scrypt(salt, _KEY_BYTES, _SCRYPT_COST, _SCRYPT_BLOCK, 1)
    return AESGCM(kdf.derive(passphrase.encode()))
