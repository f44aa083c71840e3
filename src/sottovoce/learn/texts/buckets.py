"""Words as numbers that only the holders of a key can work out."""

import hmac
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

PUBLIC_KEY = b"sottovoce: hashed features"  # whoever hashes without a key uses this one


def word_hashes(words: Iterable[str], key: bytes) -> NDArray[np.uint64]:
    """64 bits of HMAC-SHA256 of each word."""
    digests = (hmac.digest(key, word.encode(), "sha256")[:8] for word in words)
    return np.frombuffer(b"".join(digests), "<u8")


def word_buckets(words: Iterable[str], key: bytes, buckets: int) -> NDArray[np.int64]:
    """The bucket of each word.

    The top bit stays free for `word_signs`; what 63 bits modulo ``buckets`` favour some buckets by
    is below 2^-40.
    """
    hashes = word_hashes(words, key) & np.uint64((1 << 63) - 1)
    return (hashes % np.uint64(buckets)).astype(np.int64)


def word_signs(words: Iterable[str], key: bytes) -> NDArray[np.float64]:
    """1 or -1 for each word."""
    return np.where(word_hashes(words, key) >> np.uint64(63), 1.0, -1.0)
