"""Keys expanded to vectors of the ring Z_2^64: shared ones to masks, fresh ones to shares."""

import numpy as np

from sottovoce.learn._sums._fixed import Ring
from sottovoce.privacy._randomness import random_bytes, stream_of

KEY_BYTES = 32
_WORD_BYTES = 8


def expanded(key: bytes, size: int) -> Ring:
    """``size`` words of the ChaCha20 keystream under ``key``; a key must expand only once."""
    return np.frombuffer(stream_of(key).update(bytes(_WORD_BYTES * size)), "<u8")


def uniform(size: int) -> Ring:
    """``size`` uniform words under a key that exists only here."""
    return expanded(random_bytes(KEY_BYTES), size)
