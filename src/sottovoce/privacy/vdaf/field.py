"""The two prime fields of the standard, their elements as bytes and as whole numbers.

    Field64     p = 2^32 (2^32 - 1) + 1
    Field128    p = 2^66 (2^62 - 7) + 1

Both have roots of unity for every power of two up to 2^32 and 2^66. A vector of elements is an
array of two words for each, in the form of `_modular`, whichever field it is of. As bytes an
element is its number below p, the lowest byte first, in 8 or 16 bytes; any other is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf._modular import (
    Words,
    are_below,
    differences,
    dot,
    multiples,
    sums,
    total,
)

_WORD_BITS = 64
_R_BITS = 2 * _WORD_BITS


@dataclass(frozen=True)
class Field:
    """The whole numbers modulo a prime."""

    modulus: int = field(repr=False)
    size: int
    """Bytes of an element."""
    generator: int = field(repr=False)
    """A number that is no square: its powers are the roots of unity of all powers of two."""

    @cached_property
    def p(self) -> Words:
        """The modulus, as `_modular` takes it."""
        word = 1 << _WORD_BITS
        inverse = pow(-self.modulus, -1, word)
        return np.array([self.modulus % word, self.modulus // word, inverse], dtype=np.uint64)

    @cached_property
    def _square(self) -> Words:
        """R^2: what brings a number into Montgomery's form."""
        return _two_words([pow(2, 2 * _R_BITS, self.modulus)])

    def elements(self, numbers: Iterable[int]) -> Words:
        """Whole numbers, negative ones too, modulo p."""
        return self.entered(_two_words([number % self.modulus for number in numbers]))

    def integers(self, elements: Words) -> list[int]:
        """The whole numbers nearest to zero."""
        encoded = self.encoded(elements)
        starts = range(0, len(encoded), self.size)
        found = [int.from_bytes(encoded[i : i + self.size], "little") for i in starts]
        return [value - self.modulus * (2 * value > self.modulus) for value in found]

    def entered(self, numbers: Words) -> Words:
        """Numbers below p in two words each, as elements."""
        return multiples(numbers, self._square, self.p)

    def encoded(self, elements: Words) -> bytes:
        """Elements as bytes."""
        numbers = multiples(elements, _ONE, self.p).astype("<u8", copy=False)
        return numbers[:, : self.size // 8].tobytes()

    def words(self, encoded: bytes) -> Words:
        """Encoded numbers in two words each, whether below p or not."""
        found = np.zeros((len(encoded) // self.size, 2), dtype=np.uint64)
        found[:, : self.size // 8] = np.frombuffer(encoded, dtype="<u8").reshape(len(found), -1)
        return found

    def decoded(self, encoded: bytes) -> Words:
        """The elements that stand in a message."""
        numbers = self.words(encoded)
        if not self.are_below(numbers):
            raise ProtocolError("a share has a number that is not below the field's modulus.")
        return self.entered(numbers)

    def are_below(self, numbers: Words) -> bool:
        """Whether all numbers are below p."""
        return bool(are_below(numbers, self.p).all())

    def fitting(self, numbers: Words) -> Words:
        """Those numbers that are below p."""
        return numbers[are_below(numbers, self.p)]

    def zeros(self, length: int) -> Words:
        """A vector of zeros."""
        return np.zeros((length, 2), dtype=np.uint64)

    def plus(self, left: Words, right: Words) -> Words:
        """The sum of two vectors."""
        return sums(left, right, self.p)

    def minus(self, left: Words, right: Words) -> Words:
        """The difference of two vectors."""
        return differences(left, right, self.p)

    def total(self, vector: Words) -> Words:
        """The sum of a vector's elements, as a vector of one."""
        return total(vector, self.p)

    def dot(self, left: Words, right: Words) -> Words:
        """The sum of the products of two vectors, as a vector of one."""
        return dot(left, right, self.p)

    def roots(self, number: int) -> Words:
        """The ``number`` powers of a root of unity of that order, a power of two."""
        return _roots(self, number)

    def part(self, number: int) -> Words:
        """1 / ``number``, as a vector of one."""
        return _part(self, number)


def _two_words(numbers: list[int]) -> Words:
    packed = b"".join(number.to_bytes(16, "little") for number in numbers)
    return np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(-1, 2)


_ONE = _two_words([1])


@lru_cache
def _roots(of: Field, number: int) -> Words:
    p = of.modulus
    root = pow(of.generator, (p - 1) // number, p)
    return of.elements(pow(root, power, p) for power in range(number))


@lru_cache
def _part(of: Field, number: int) -> Words:
    return of.elements([pow(number, -1, of.modulus)])


FIELD64 = Field(2**32 * (2**32 - 1) + 1, size=8, generator=7)
FIELD128 = Field(2**66 * (2**62 - 7) + 1, size=16, generator=7)
