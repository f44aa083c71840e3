"""Real numbers between two integers: interval arithmetic in fixed point, without floats.

At ``bits`` of precision the pair (low, high) encloses the real x >= 0 when
low <= x * 2^bits <= high. Every operation rounds low down and high up, so an enclosure stays one.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple


class Enclosure(NamedTuple):
    """low <= x * 2^bits <= high, the precision being known from the context."""

    low: int
    high: int


def ceil_shift(value: int, bits: int) -> int:
    """ceil(value / 2^bits)."""
    return -((-value) >> bits)


def times(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    """The product a b."""
    return Enclosure(a.low * b.low >> bits, ceil_shift(a.high * b.high, bits))


def one_minus(a: Enclosure, bits: int) -> Enclosure:
    """1 - a, for a <= 1."""
    return Enclosure((1 << bits) - a.high, (1 << bits) - a.low)


def over_one_plus(a: Enclosure, b: Enclosure, bits: int) -> Enclosure:
    """The quotient a / (1 + b)."""
    one = 1 << bits
    return Enclosure((a.low << bits) // (one + b.high), -(-(a.high << bits) // (one + b.low)))


def power(a: Enclosure, exponent: int, bits: int) -> Enclosure:
    """a^exponent by squaring."""
    result, square = Enclosure(1 << bits, 1 << bits), a
    while exponent:
        if exponent & 1:
            result = times(result, square, bits)
        square, exponent = times(square, square, bits), exponent >> 1
    return result


def root(a: Enclosure, degree: int, bits: int) -> Enclosure:
    """a^(1/degree), for 0 < a <= 1: by halving, between numbers whose powers are enclosed."""
    if degree == 1:
        return a

    def risen(x: int) -> Enclosure:
        return power(Enclosure(x, x), degree, bits)

    one = 1 << bits
    return Enclosure(
        _last(lambda x: risen(x).high <= a.low, one),
        _last(lambda x: risen(x).low < min(a.high, one), one) + 1,
    )


def _last(holds: Callable[[int], bool], limit: int) -> int:
    """The largest x in 0..limit up to which ``holds`` does, as it does at 0."""
    low, high = 0, limit + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def exp_minus(rate: Fraction, bits: int) -> Enclosure:
    """exp(-rate): exp(-x)^(2^s) with x = rate / 2^s <= 1/2, which the Taylor series encloses."""
    halvings = max(0, (2 * rate.numerator // rate.denominator).bit_length())
    scaled = rate.numerator << bits
    divisor = rate.denominator << halvings
    result = _exp_minus_small(Enclosure(scaled // divisor, -(-scaled // divisor)), bits)
    for _ in range(halvings):
        result = times(result, result, bits)
    return result


def _exp_minus_small(x: Enclosure, bits: int) -> Enclosure:
    """Sum of (-x)^n / n! for x <= 1/2.

    It alternates and shrinks, so the first term left out bounds what is left out.
    """
    low = high = 0
    term, n = Enclosure(1 << bits, 1 << bits), 0
    while term.high > 1:
        low, high = (
            (low + term.low, high + term.high) if n % 2 == 0 else (low - term.high, high - term.low)
        )
        n += 1
        product = times(term, x, bits)
        term = Enclosure(product.low // n, -(-product.high // n))
    return Enclosure(max(0, low - term.high), high + term.high)
