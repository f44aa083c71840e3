"""Where the noise's bits come from: AES-256 in counter mode, keyed by the operating system.

A keystream is made where it is used, by the thread that uses it, and dies there. Its key is never
stored, printed, copied, pickled or reused: not across a fork (the child draws a new one), and not
beyond `BYTES_PER_KEY`, where telling the keystream from chance would still take an advantage of
2^-77 (2^26 blocks of a 128-bit permutation). numpy's generators and `random` are never used.
"""

import os
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, SottovoceError

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
    from cryptography.hazmat.primitives.ciphers.algorithms import AES
    from cryptography.hazmat.primitives.ciphers.modes import CTR
except ImportError as error:
    raise MissingExtraError("cryptography", "release") from error

BYTES_PER_KEY = 1 << 30
_KEY_BYTES = 32
_PIECE = bytes(1 << 17)


class Keystream(Protocol):
    """A source of uniform bytes."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with fresh bytes."""


class SystemKeystream:
    """AES-256-CTR under a key from ``os.urandom``; for one thread."""

    def __init__(self) -> None:
        self._rekey()

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with fresh bytes of the keystream."""
        for start in range(0, out.size, len(_PIECE)):
            self._fill_piece(out[start : start + len(_PIECE)])

    def __reduce__(self) -> NoReturn:
        raise SottovoceError("a keystream cannot be copied: its bits would be used twice.")

    def _fill_piece(self, out: NDArray[np.uint8]) -> None:
        if self._left < out.size or self._process != os.getpid():
            self._rekey()
        self._left -= out.size
        self._cipher.update_into(memoryview(_PIECE)[: out.size], out.data)

    def _rekey(self) -> None:
        key = os.urandom(_KEY_BYTES)
        self._cipher: CipherContext = Cipher(AES(key), CTR(bytes(16))).encryptor()
        self._left = BYTES_PER_KEY
        self._process = os.getpid()


def halfwords(source: Keystream, out: NDArray[np.uint16]) -> None:
    """Overwrite ``out`` with uniform 16-bit numbers."""
    source.fill(out.view(np.uint8))


def words(source: Keystream, number: int) -> NDArray[np.uint64]:
    """``number`` uniform 64-bit numbers."""
    out = np.empty(number, dtype=np.uint64)
    source.fill(out.view(np.uint8))
    return out


def word(source: Keystream) -> int:
    """One uniform 64-bit number."""
    return int(words(source, 1)[0])
