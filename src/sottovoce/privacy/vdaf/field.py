"""The two prime fields of the standard, their elements as bytes and as whole numbers.

    Field64     p = 2^32 (2^32 - 1) + 1
    Field128    p = 2^66 (2^62 - 7) + 1

Both have roots of unity for every power of two up to 2^32 and 2^66. A vector of elements is an
array of two words for each, in Montgomery's form, whichever field it is of. As bytes an
element is its number below p, the lowest byte first, in 8 or 16 bytes; any other is refused.

Arithmetic modulo an odd prime p below 2^128 - 2^64, compiled.

An element x is kept as x R mod p with R = 2^128 (Montgomery's form), in two words of 64 bits, the
low one first. A product of two such is brought back by two steps, each of which adds the multiple
of p that makes the lowest word zero and drops that word:

    t <- (t + m p) / 2^64,     m = -t / p mod 2^64

so that x R * y R becomes x y R without a division. Sums of words carry by comparison; a last
subtraction of p is made by a mask. No branch depends on an element.

``p`` is passed as three words: its low, its high, and -1/p mod 2^64.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import kernel
from sottovoce.errors import ProtocolError

Words: TypeAlias = NDArray[np.uint64]
Element: TypeAlias = tuple[np.uint64, np.uint64]

_HALF = np.uint64(32)
_HALF_MASK = np.uint64(0xFFFFFFFF)
_ZERO = np.uint64(0)


@kernel
def _product_plus(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> Element:
    """``a * b + c + d``, which is below 2^128, by halves of words."""
    a_low, a_high = a & _HALF_MASK, a >> _HALF
    b_low, b_high = b & _HALF_MASK, b >> _HALF
    lows, cross, crossed = a_low * b_low, a_low * b_high, a_high * b_low
    middle = (lows >> _HALF) + (cross & _HALF_MASK) + (crossed & _HALF_MASK)
    low = (lows & _HALF_MASK) | (middle << _HALF)
    high = a_high * b_high + (cross >> _HALF) + (crossed >> _HALF) + (middle >> _HALF)
    low += c
    high += np.uint64(low < c)
    low += d
    high += np.uint64(low < d)
    return low, high


@kernel
def _less_p(low: np.uint64, high: np.uint64, over: np.uint64, p: Words) -> Element:
    """The number of two words and a bit over, below 2 p, less p unless it is below p already."""
    less_low = low - p[0]
    borrow = np.uint64(low < p[0])
    less_high = high - p[1]
    borrowed = np.uint64(high < p[1]) | np.uint64(less_high < borrow)
    less_high -= borrow
    # All ones where the difference is negative.
    keep = _ZERO - (borrowed & ~over)
    return (low & keep) | (less_low & ~keep), (high & keep) | (less_high & ~keep)


@kernel
def plus(a: Element, b: Element, p: Words) -> Element:
    """The sum of two elements."""
    low = a[0] + b[0]
    carry = np.uint64(low < a[0])
    high = a[1] + b[1]
    over = np.uint64(high < a[1])
    high += carry
    return _less_p(low, high, over | np.uint64(high < carry), p)


@kernel
def minus(a: Element, b: Element, p: Words) -> Element:
    """The difference of two elements."""
    low = a[0] - b[0]
    borrow = np.uint64(a[0] < b[0])
    high = a[1] - b[1]
    borrowed = np.uint64(a[1] < b[1]) | np.uint64(high < borrow)
    high -= borrow
    add = _ZERO - borrowed
    raised = low + (p[0] & add)
    return raised, high + (p[1] & add) + np.uint64(raised < low)


@kernel
def times(a: Element, b: Element, p: Words) -> Element:
    """The product of two elements, ``a b / R``: that of x R and y R is x y R."""
    low, high, over = _ZERO, _ZERO, _ZERO
    for word in range(2):
        low, carry = _product_plus(a[0], b[word], low, _ZERO)
        high, carry = _product_plus(a[1], b[word], high, carry)
        # Below 2^64: high words are at most 2^64 - 2, and `over` is 0 with the low word of b.
        top = over + carry
        m = low * p[2]
        _, carry = _product_plus(m, p[0], low, _ZERO)
        low, carry = _product_plus(m, p[1], high, carry)
        high = top + carry
        over = np.uint64(high < carry)
    return _less_p(low, high, over, p)


@kernel
def element_at(elements: Words, place: int) -> Element:
    """The element at a place of a vector."""
    return elements[place, 0], elements[place, 1]


@kernel
def put(elements: Words, place: int, element: Element) -> None:
    """Write an element to a place of a vector."""
    elements[place, 0] = element[0]
    elements[place, 1] = element[1]


@kernel
def sums(left: Words, right: Words, p: Words) -> Words:
    """Of two vectors, place by place."""
    found = np.empty_like(left)
    for place in range(left.shape[0]):
        put(found, place, plus(element_at(left, place), element_at(right, place), p))
    return found


@kernel
def differences(left: Words, right: Words, p: Words) -> Words:
    """Of two vectors, place by place."""
    found = np.empty_like(left)
    for place in range(left.shape[0]):
        put(found, place, minus(element_at(left, place), element_at(right, place), p))
    return found


@kernel
def multiples(vector: Words, factor: Words, p: Words) -> Words:
    """Every element of a vector times the one element of ``factor``."""
    found = np.empty_like(vector)
    for place in range(vector.shape[0]):
        put(found, place, times(element_at(vector, place), element_at(factor, 0), p))
    return found


@kernel
def dot(left: Words, right: Words, p: Words) -> Words:
    """The sum of the products of two vectors, as a vector of one."""
    found = np.zeros((1, 2), dtype=np.uint64)
    for place in range(left.shape[0]):
        product = times(element_at(left, place), element_at(right, place), p)
        put(found, 0, plus(element_at(found, 0), product, p))
    return found


@kernel
def total(vector: Words, p: Words) -> Words:
    """The sum of a vector's elements, as a vector of one."""
    found = np.zeros((1, 2), dtype=np.uint64)
    for place in range(vector.shape[0]):
        put(found, 0, plus(element_at(found, 0), element_at(vector, place), p))
    return found


@kernel
def are_below(numbers: Words, p: Words) -> NDArray[np.bool_]:
    """Which of two-word numbers are below p."""
    found = np.empty(numbers.shape[0], dtype=np.bool_)
    for place in range(numbers.shape[0]):
        low, high = element_at(numbers, place)
        found[place] = (high < p[1]) | ((high == p[1]) & (low < p[0]))
    return found


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
        """The modulus, as kernels take it."""
        word = 1 << _WORD_BITS
        inverse = pow(-self.modulus, -1, word)
        return np.array([self.modulus % word, self.modulus // word, inverse], dtype=np.uint64)

    @cached_property
    def _square(self) -> Words:
        """R^2: what brings a number into Montgomery's form."""
        return _two_words([pow(2, 2 * _R_BITS, self.modulus)])

    def elements(self, numbers: Iterable[int]) -> Words:
        """Whole numbers, negative ones too, modulo p."""
        return self.enter(_two_words([number % self.modulus for number in numbers]))

    def integers(self, elements: Words) -> list[int]:
        """The whole numbers nearest to zero."""
        encoded = self.encode(elements)
        starts = range(0, len(encoded), self.size)
        found = [int.from_bytes(encoded[i : i + self.size], "little") for i in starts]
        return [value - self.modulus * (2 * value > self.modulus) for value in found]

    def enter(self, numbers: Words) -> Words:
        """Numbers below p in two words each, as elements."""
        return multiples(numbers, self._square, self.p)

    def encode(self, elements: Words) -> bytes:
        """Elements as bytes."""
        numbers = multiples(elements, _ONE, self.p).astype("<u8", copy=False)
        return numbers[:, : self.size // 8].tobytes()

    def words(self, encoded: bytes) -> Words:
        """Encoded numbers in two words each, whether below p or not."""
        found = np.zeros((len(encoded) // self.size, 2), dtype=np.uint64)
        found[:, : self.size // 8] = np.frombuffer(encoded, dtype="<u8").reshape(len(found), -1)
        return found

    def decode(self, encoded: bytes) -> Words:
        """The elements that stand in a message."""
        numbers = self.words(encoded)
        if not self.are_below(numbers):
            raise ProtocolError("a share has a number that is not below the field's modulus.")
        return self.enter(numbers)

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
