"""Uniform vectors of the ring Z_2^64, from the operating system or from a shared key."""

import numpy as np

from sottovoce.errors import MissingExtraError
from sottovoce.learn.randomness import random_bytes
from sottovoce.learn.sums.fixed import Ring

try:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
except ImportError as error:
    raise MissingExtraError("cryptography", "learn") from error

KEY_BYTES = 32
_ZERO_NONCE = bytes(16)  # a key is used for one vector only, so its nonce may be fixed
_WORD_BYTES = 8


def expanded(key: bytes, size: int) -> Ring:
    """``size`` words of the ChaCha20 keystream under ``key``; a key must expand only once."""
    stream = Cipher(ChaCha20(key, _ZERO_NONCE), mode=None).encryptor()
    return np.frombuffer(stream.update(bytes(_WORD_BYTES * size)), "<u8")


def uniform(size: int) -> Ring:
    """``size`` uniform words under a key that exists only here."""
    return expanded(random_bytes(KEY_BYTES), size)
