"""Noise that comes out the same when it is drawn again, for the same data under the same secret.

On a cluster any task may run twice, long after the first attempt was taken for dead. Were each to
draw afresh, two noises of one document would lie about, and their mean has less noise than was
paid for. So a release there has one secret, drawn once from the operating system; the noise of a
part of its documents follows from the secret and from that part:

    key  =  BLAKE2b(purpose, number of the keystream, number of the piece; keyed by the secret)
    noise from AES-256 in counter mode under ``key``.

BLAKE2b under a key is a pseudo-random function, so that to whoever lacks the secret the keystreams
of different purposes are independent and uniform: the guarantee stays computational, as that of
`SystemKeystream` is. A ``purpose`` must name all that the noise is added to, by a hash of it: other
data, or the same by another map, then never meet the same noise. Whoever has the secret can take
the noise off what was published. It is as private as the documents, and is to be destroyed as soon
as what was drawn from it is kept.
"""

import os
from hashlib import blake2b
from typing import NoReturn

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.privacy.exact import Exact
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.privacy.randomness import BYTES_PER_KEY, system_bytes

SECRET_BYTES = 32
_PURPOSE_BYTES = 32
_PERSON = b"sottovoce noise"
_PIECE = bytes(1 << 17)


def noise_secret() -> bytes:
    """A fresh secret of the operating system, for one release."""
    return system_bytes(SECRET_BYTES)


class BoundKeystream:
    """AES-256-CTR under keys that follow from a secret, a purpose and a number; for one thread."""

    def __init__(self, secret: bytes, purpose: bytes, number: int) -> None:
        if len(secret) != SECRET_BYTES or len(purpose) != _PURPOSE_BYTES:
            raise ParameterError(
                f"a secret has {SECRET_BYTES} bytes and a purpose {_PURPOSE_BYTES}, got "
                f"{len(secret)} and {len(purpose)}."
            )
        self._secret, self._purpose, self._number = secret, purpose, number
        self._process = os.getpid()
        self._piece = -1
        self._left = 0

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with the next bytes of the keystream."""
        if self._process != os.getpid():
            raise SottovoceError("a keystream was taken over a fork: its bits would be used twice.")
        for start in range(0, out.size, len(_PIECE)):
            self._fill_piece(out[start : start + len(_PIECE)])

    def __reduce__(self) -> NoReturn:
        raise SottovoceError("a keystream cannot be copied: its bits would be used twice.")

    def _fill_piece(self, out: NDArray[np.uint8]) -> None:
        if self._left < out.size:
            self._rekey()
        self._left -= out.size
        self._cipher.update_into(memoryview(_PIECE)[: out.size], out.data)

    def _rekey(self) -> None:
        self._piece += 1
        numbers = self._number.to_bytes(8, "big") + self._piece.to_bytes(8, "big")
        key = blake2b(
            self._purpose + numbers, digest_size=32, key=self._secret, person=_PERSON
        ).digest()
        self._cipher: CipherContext = Cipher(AES(key), CTR(bytes(16))).encryptor()
        self._left = BYTES_PER_KEY


class RepeatableMechanism(GeometricMechanism):
    """The geometric mechanism for one purpose: another one made alike draws the same noise.

    It draws on one thread, and each of its draws has a keystream of its own: what it is asked for
    must be asked in the same order again.
    """

    def __init__(self, rate: Exact, secret: bytes, purpose: bytes) -> None:
        super().__init__(rate)
        self._secret, self._purpose, self._drawn = secret, purpose, 0

    def _thread_count(self, cells: int, threads: int | None) -> int:  # noqa: ARG002 - always one
        return 1

    def _new_source(self) -> BoundKeystream:
        self._drawn += 1
        return BoundKeystream(self._secret, self._purpose, self._drawn)
