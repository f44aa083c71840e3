"""Where everything secret in `learn` comes from: the operating system, and nothing else.

Keys, blinding factors, masks and signs are drawn here. numpy's generators, `random` and gmpy2's
random states are never used on a secret; a test reads the syntax trees.
"""

import os

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError


def random_bytes(count: int) -> bytes:
    """``count`` uniform bytes."""
    return os.urandom(count)


def random_bits(bits: int) -> int:
    """A uniform number below 2^``bits``."""
    return int.from_bytes(os.urandom((bits + 7) // 8), "little") & ((1 << bits) - 1)


def random_below(bound: int) -> int:
    """A uniform number in [0, ``bound``), by rejection: no residue is likelier than another."""
    if bound < 1:
        raise ParameterError("the bound of a random number must be >= 1.")
    bits = (bound - 1).bit_length()
    while (drawn := random_bits(bits)) >= bound:
        pass
    return drawn


def random_words(shape: tuple[int, ...], bits: int) -> NDArray[np.uint16]:
    """Uniform numbers of ``bits`` bits, at most 16."""
    words = np.frombuffer(os.urandom(2 * int(np.prod(shape))), dtype=np.uint16)
    return (words & np.uint16((1 << bits) - 1)).reshape(shape)
