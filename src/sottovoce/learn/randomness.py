"""Where everything secret in `learn` comes from: the operating system, and nothing else.

Keys, blinding factors, masks and signs are drawn here. numpy's generators, `random` and gmpy2's
random states are never used on a secret; a test reads the syntax trees.

A party that must survive a crash draws under `drawing_from`: from the ChaCha20 stream of a seed
that itself came from the operating system, so that it can be rebuilt by hearing the same messages
again. Only what a party remembers needs that. Digits of blinding exponents (`random_words`) never
come from a stream: how many are drawn depends on tables that outlive a session, and no party's
later steps depend on them. Other threads than the one that entered the block are outside it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MissingExtraError, ParameterError

SEED_BYTES = 32
_ZERO_NONCE = bytes(16)  # each seed makes one stream


class _Stream(Protocol):
    def update(self, data: bytes) -> bytes:
        """The next bytes of the stream, added to ``data`` bit by bit."""


_STREAM: ContextVar[_Stream | None] = ContextVar("learn_random_stream", default=None)


@contextmanager
def drawing_from(seed: bytes) -> Iterator[None]:
    """Within the block, this thread draws the ChaCha20 stream of ``seed`` from its beginning.

    The seed must come from `random_bytes` and be kept as secret as what is drawn. Whatever was
    drawn from a seed and sent must never be drawn from it again to mean something else.
    """
    if len(seed) != SEED_BYTES:
        raise ParameterError(f"a seed must have {SEED_BYTES} bytes, got {len(seed)}.")
    token = _STREAM.set(_stream(seed))
    try:
        yield
    finally:
        _STREAM.reset(token)


def random_bytes(count: int) -> bytes:
    """``count`` uniform bytes."""
    stream = _STREAM.get()
    return system_bytes(count) if stream is None else stream.update(bytes(count))


def system_bytes(count: int) -> bytes:
    """``count`` uniform bytes of the operating system, under a seed too: for seeds and nonces."""
    return os.urandom(count)


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
    words = np.frombuffer(system_bytes(2 * int(np.prod(shape))), dtype=np.uint16)
    return (words & np.uint16((1 << bits) - 1)).reshape(shape)


def _stream(seed: bytes) -> _Stream:
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: PLC0415 - an extra
        from cryptography.hazmat.primitives.ciphers.algorithms import (  # noqa: PLC0415 - an extra
            ChaCha20,
        )
    except ImportError as error:
        raise MissingExtraError("cryptography", "learn") from error
    return Cipher(ChaCha20(seed, _ZERO_NONCE), mode=None).encryptor()
