"""Numbers modulo the Mersenne prime 2^61 - 1, as arrays: sums, products and uniform draws.

A prime, so that a random linear check of a bad report fails but with chance 2/p; this one, since
a product is reduced by shifts and every step fits 64 bits.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ProtocolError
from sottovoce.learn.sums.expansion import uniform

PRIME = (1 << 61) - 1
DIGITS = 16
"""Hexadecimal ones of a packed residue."""
Residues: TypeAlias = NDArray[np.uint64]

_BITS = np.uint64(61)
_PRIME = np.uint64(PRIME)
_HALF = np.uint64(31)
_HALF_MASK = np.uint64((1 << 31) - 1)
_REST = np.uint64(30)
_REST_MASK = np.uint64((1 << 30) - 1)
_WORD = np.uint64(32)
_WORD_MASK = np.uint64((1 << 32) - 1)


def reduced(numbers: Residues) -> Residues:
    """``numbers`` below 2^64 modulo p."""
    folded = (numbers & _PRIME) + (numbers >> _BITS)
    return np.where(folded >= _PRIME, folded - _PRIME, folded)


def plus(left: Residues, right: Residues) -> Residues:
    """The sums."""
    return reduced(left + right)


def minus(left: Residues, right: Residues) -> Residues:
    """The differences."""
    return reduced(left + (_PRIME - right))


def times(left: Residues, right: Residues) -> Residues:
    """The products, by halves of 31 bits: 2^62 is 2, and every sum stays below 2^64."""
    left_high, left_low = left >> _HALF, left & _HALF_MASK
    right_high, right_low = right >> _HALF, right & _HALF_MASK
    middle = left_low * right_high + left_high * right_low
    carried = (middle >> _REST) + ((middle & _REST_MASK) << _HALF)
    # Reduced in between, so that the three parts cannot exceed 64 bits together.
    return reduced(reduced(np.uint64(2) * left_high * right_high + carried) + left_low * right_low)


def total(numbers: Residues, axis: int) -> Residues:
    """The sums along ``axis``, of up to 2^32 numbers."""
    low = reduced((numbers & _WORD_MASK).sum(axis=axis, dtype=np.uint64))
    high = reduced((numbers >> _WORD).sum(axis=axis, dtype=np.uint64))
    return plus(low, times(high, np.full_like(high, 1 << 32)))


def drawn(shape: tuple[int, ...]) -> Residues:
    """Uniform residues from the operating system: 61 bits each, drawn again where they are p."""
    numbers = uniform(int(np.prod(shape))) >> np.uint64(3)
    while (again := np.flatnonzero(numbers == _PRIME)).size:
        numbers[again] = uniform(again.size) >> np.uint64(3)
    return numbers.reshape(shape)


def residues(numbers: Sequence[int] | NDArray[np.integer]) -> Residues:
    """Whole numbers, negative ones too, modulo p."""
    return np.array([int(number) % PRIME for number in numbers], dtype=np.uint64)


def centred(numbers: Residues) -> list[int]:
    """The whole numbers nearest to zero with these residues."""
    return [value if value <= PRIME // 2 else value - PRIME for value in map(int, numbers)]


def packed(numbers: Residues) -> str:
    """Residues as text: 16 hexadecimal digits each, the lowest byte first.

    JSON's numbers are exact up to 2^53 only with many of its readers.
    """
    return numbers.astype("<u8").tobytes().hex()


def unpacked(text: str) -> Residues:
    """The residues in a text, any 64 bits standing for one."""
    try:
        return reduced(np.frombuffer(bytes.fromhex(text), dtype="<u8").astype(np.uint64))
    except ValueError:
        raise ProtocolError("shares must be 16 hexadecimal digits each.") from None
