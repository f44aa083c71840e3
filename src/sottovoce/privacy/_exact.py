"""Privacy parameters as exact rationals, and the only two ways out of them.

What comes in is kept exactly: an int, a ``Fraction``, a ``Decimal``, or text such as ``"0.1"``,
``"1/3"`` or ``"5e-2"``. A float is taken at its exact binary value, which is often not the decimal
that was typed (``0.1`` is slightly more than one tenth): write ``"0.1"`` to mean one tenth.
What goes out as a float or as decimal text is rounded up, so that a printed epsilon is never
smaller than the true one.
"""

import math
from decimal import ROUND_CEILING, Context, Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import TypeAlias

from sottovoce.errors import ParameterError

Exact: TypeAlias = int | str | float | Decimal | Fraction

# Beyond these a parameter is a slip of the keyboard, and its digits would only fill the memory.
_LONGEST_TEXT = 64
_LARGEST_EXPONENT = 40
_PRINTED_DIGITS = 6


def exact(value: Exact, name: str) -> Fraction:
    """The exact rational that ``value`` denotes; ``name`` says in errors which parameter it is."""
    if isinstance(value, bool):
        raise ParameterError(f"{name} must be a number, got a truth value.")
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, Decimal):
        return _from_decimal(value, name)
    if isinstance(value, Integral):
        return Fraction(int(value))
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(*float(value).as_integer_ratio())
    raise ParameterError(f"{name} must be a finite number, got {_shown(value)}.")


def positive(value: Exact, name: str) -> Fraction:
    """Like `exact`, and more than zero."""
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(f"{name} must be > 0, got {_shown(value)}.")
    return number


def positive_integer(value: Exact, name: str) -> int:
    """Like `positive`, and whole."""
    number = positive(value, name)
    if number.denominator != 1:
        raise ParameterError(f"{name} must be a whole number, got {_shown(value)}.")
    return int(number)


def float_up(number: Fraction) -> float:
    """The smallest float that is not below ``number``."""
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)


def text_up(number: Fraction) -> str:
    """``number`` in decimals: exact where six significant digits suffice, else rounded up."""
    context = Context(prec=_PRINTED_DIGITS, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(number.numerator), Decimal(number.denominator))
    text = format(rounded, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_nats(rate: str) -> str:
    """``rate`` with its unit: 1 nat, 0.5 nats."""
    return f"{rate} nat" if rate == "1" else f"{rate} nats"


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > _LONGEST_TEXT:
        raise ParameterError(f"{name} must have at most {_LONGEST_TEXT} characters.")
    if "/" in text:
        return _from_ratio(text, name)
    try:
        return _from_decimal(Decimal(text), name)
    except InvalidOperation:
        raise ParameterError(f"{name} must be a number such as 2, 0.1 or 1/3.") from None


def _from_ratio(text: str, name: str) -> Fraction:
    numerator, _, denominator = text.partition("/")
    try:
        return Fraction(int(numerator), int(denominator))
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a number such as 2, 0.1 or 1/3.") from None


def _from_decimal(number: Decimal, name: str) -> Fraction:
    if not number.is_finite():
        raise ParameterError(f"{name} must be a finite number, got {number}.")
    if number and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ParameterError(
            f"{name} must lie between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT}."
        )
    return Fraction(number)


def _shown(value: object) -> str:
    """A value that was read as a number; anything else is not echoed."""
    known = (int, float, str, Fraction, Decimal)
    return str(value) if isinstance(value, known) else "something else"
