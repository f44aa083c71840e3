r"""Arithmetic modulo an odd prime p below 2^128 - 2^64, compiled.

An element x is kept as x R mod p with R = 2^128 (Montgomery's form), in two words of 64 bits, the
low one first. A product of two such is brought back by two steps, each of which adds the multiple
of p that makes the lowest word zero and drops that word:

    t <- (t + m p) / 2^64,     m = -t / p mod 2^64

so that x R * y R becomes x y R without a division. Sums of words carry by comparison; a last
subtraction of p is made by a mask. No branch depends on an element.

``p`` is passed as three words: its low, its high, and -1/p mod 2^64.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import kernel

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
def at(elements: Words, place: int) -> Element:
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
        put(found, place, plus(at(left, place), at(right, place), p))
    return found


@kernel
def differences(left: Words, right: Words, p: Words) -> Words:
    """Of two vectors, place by place."""
    found = np.empty_like(left)
    for place in range(left.shape[0]):
        put(found, place, minus(at(left, place), at(right, place), p))
    return found


@kernel
def multiples(vector: Words, factor: Words, p: Words) -> Words:
    """Every element of a vector times the one element of ``factor``."""
    found = np.empty_like(vector)
    for place in range(vector.shape[0]):
        put(found, place, times(at(vector, place), at(factor, 0), p))
    return found


@kernel
def dot(left: Words, right: Words, p: Words) -> Words:
    """The sum of the products of two vectors, as a vector of one."""
    found = np.zeros((1, 2), dtype=np.uint64)
    for place in range(left.shape[0]):
        product = times(at(left, place), at(right, place), p)
        put(found, 0, plus(at(found, 0), product, p))
    return found


@kernel
def total(vector: Words, p: Words) -> Words:
    """The sum of a vector's elements, as a vector of one."""
    found = np.zeros((1, 2), dtype=np.uint64)
    for place in range(vector.shape[0]):
        put(found, 0, plus(at(found, 0), at(vector, place), p))
    return found


@kernel
def are_below(numbers: Words, p: Words) -> NDArray[np.bool_]:
    """Which of two-word numbers are below p."""
    found = np.empty(numbers.shape[0], dtype=np.bool_)
    for place in range(numbers.shape[0]):
        low, high = at(numbers, place)
        found[place] = (high < p[1]) | ((high == p[1]) & (low < p[0]))
    return found
