"""Where everything that privacy rests on is drawn: the operating system, and nothing else.

Noise takes its bits from a `SystemKeystream`: AES-256 in counter mode, keyed by the operating
system. A keystream is made where it is used, by the thread that uses it, and dies there. Its key is
never stored, printed, copied, pickled or reused: not across a fork (the child draws a new one), and
not beyond `BYTES_PER_KEY`, where telling the keystream from chance would still take an advantage of
2^-77 (2^26 blocks of a 128-bit permutation).

Keys, blinding factors, masks and signs are drawn by `random_bytes`, `random_bits` and
`random_below`. A party that must survive a crash draws them under `drawing_from`: from the ChaCha20
stream of a seed that itself came from the operating system, so that it can be rebuilt by hearing
the same messages again. Only what a party remembers needs that. Digits of blinding exponents
(`random_words`) never come from a stream: how many are drawn depends on tables that outlive a
session, and no party's later steps depend on them. Nor does noise, which must be fresh at every
use. Other threads than the one that entered the block are outside it.

numpy's generators, `random` and gmpy2's random states are never used on a secret; tests read the
syntax trees.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, ParameterError, SottovoceError

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
    from cryptography.hazmat.primitives.ciphers.algorithms import AES, ChaCha20
    from cryptography.hazmat.primitives.ciphers.modes import CTR
except ImportError as error:
    raise MissingExtraError("cryptography", "release") from error


SEED_BYTES = 32
BYTES_PER_KEY = 1 << 30
_KEY_BYTES = 32
_PIECE = bytes(1 << 17)
# Each key makes one stream.
_ZERO_NONCE = bytes(16)
_STREAM: ContextVar[CipherContext | None] = ContextVar("random_stream", default=None)


def system_bytes(count: int) -> bytes:
    """``count`` uniform bytes of the operating system, under a seed too: for seeds and nonces."""
    return os.urandom(count)


class Keystream(Protocol):
    """A source of uniform bytes."""

    def fill(self, out: NDArray[np.uint8]) -> None:
        """Overwrite ``out`` with fresh bytes."""


class SystemKeystream:
    """AES-256-CTR under a key of the operating system; for one thread."""

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
        key = system_bytes(_KEY_BYTES)
        self._cipher: CipherContext = Cipher(AES(key), CTR(_ZERO_NONCE)).encryptor()
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


def stream_of(key: bytes) -> CipherContext:
    """The ChaCha20 stream of a key from its beginning; a key must make one stream only."""
    return Cipher(ChaCha20(key, _ZERO_NONCE), mode=None).encryptor()


@contextmanager
def drawing_from(seed: bytes) -> Iterator[None]:
    """Within the block, this thread draws the ChaCha20 stream of ``seed`` from its beginning.

    The seed must come from `random_bytes` and be kept as secret as what is drawn. Whatever was
    drawn from a seed and sent must never be drawn from it again to mean something else.
    """
    if len(seed) != SEED_BYTES:
        raise ParameterError(f"a seed must have {SEED_BYTES} bytes, got {len(seed)}.")
    token = _STREAM.set(stream_of(seed))
    try:
        yield
    finally:
        _STREAM.reset(token)


def random_bytes(count: int) -> bytes:
    """``count`` uniform bytes."""
    stream = _STREAM.get()
    return system_bytes(count) if stream is None else stream.update(bytes(count))


def random_bits(bits: int) -> int:
    """A uniform number below 2^``bits``."""
    return int.from_bytes(random_bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)


def random_below(bound: int) -> int:
    """A uniform number in [0, ``bound``), by rejection: no residue is likelier than another."""
    if bound < 1:
        raise ParameterError("the bound of a random number must be >= 1.")
    bits = (bound - 1).bit_length()
    while (drawn := random_bits(bits)) >= bound:
        pass
    return drawn


def random_words(shape: tuple[int, ...], bits: int) -> NDArray[np.uint16]:
    """Uniform numbers of ``bits`` bits, at most 16; always from the operating system."""
    drawn = np.frombuffer(system_bytes(2 * int(np.prod(shape))), dtype=np.uint16)
    return (drawn & np.uint16((1 << bits) - 1)).reshape(shape)
