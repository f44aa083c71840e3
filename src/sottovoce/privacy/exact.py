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
from numbers import Rational, Real
from typing import TypeAlias

from sottovoce.errors import ParameterError

Exact: TypeAlias = int | str | float | Decimal | Fraction

# Beyond these a parameter is a slip of the keyboard, and its digits would only fill the memory.
_LONGEST_TEXT = 64
_LARGEST_EXPONENT = 40
_LARGEST = 10**_LARGEST_EXPONENT
_LONGEST_KEPT = 8000
_PRINTED_DIGITS = 6


def exact(value: Exact, name: str) -> Fraction:
    """The exact rational that ``value`` denotes; ``name`` says in errors which parameter it is."""
    if isinstance(value, bool):
        raise ParameterError(f"{name} must be a number, got a truth value.")
    if isinstance(value, str):
        return read_rational(value, name)
    if isinstance(value, Decimal):
        return _from_decimal(value, name)
    if isinstance(value, Rational):
        return _within_bounds(Fraction(int(value.numerator), int(value.denominator)), name)
    if isinstance(value, Real) and math.isfinite(value):
        return _within_bounds(Fraction(*float(value).as_integer_ratio()), name)
    raise ParameterError(f"{name} must be a finite number, got {_echo_number(value)}.")


def read_kept(text: str, name: str) -> Fraction:
    """A number that this project worked out and wrote: its fraction may be long."""
    return read_rational(text, name, longest=_LONGEST_KEPT)


def read_rational(text: str, name: str, *, longest: int = _LONGEST_TEXT) -> Fraction:
    """The rational that ``text`` writes; its digits and exponent are bounded before any work.

    A test holds that no other function makes a ``Fraction`` or ``Decimal`` of a text.
    """
    if len(text) > longest:
        raise ParameterError(f"{name} must have at most {longest} characters, got {len(text)}.")
    try:
        if "/" not in text:
            return _from_decimal(Decimal(text), name)
        numerator, _, denominator = text.partition("/")
        return _within_bounds(Fraction(int(numerator), int(denominator)), name)
    except ParameterError:
        raise
    except (InvalidOperation, ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a number such as 2, 0.1 or 1/3.") from None


def positive(value: Exact, name: str) -> Fraction:
    """Like `exact`, and more than zero."""
    number = exact(value, name)
    if number <= 0:
        raise ParameterError(f"{name} must be > 0, got {_echo_number(value)}.")
    return number


def positive_integer(value: Exact, name: str) -> int:
    """Like `positive`, and whole."""
    positive(value, name)
    return whole_number(value, name)


def whole_number(value: Exact, name: str) -> int:
    """Like `exact`, and whole."""
    number = exact(value, name)
    if number.denominator != 1:
        raise ParameterError(f"{name} must be a whole number, got {_echo_number(value)}.")
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


def _from_decimal(number: Decimal, name: str) -> Fraction:
    if not number.is_finite():
        raise ParameterError(f"{name} must be a finite number, got {number}.")
    if number and abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise _beyond_bounds(name)
    return _within_bounds(Fraction(number), name)


def _within_bounds(number: Fraction, name: str) -> Fraction:
    if abs(number) > _LARGEST or 0 < abs(number) * _LARGEST < 1:
        raise _beyond_bounds(name)
    return number


def _beyond_bounds(name: str) -> ParameterError:
    return ParameterError(
        f"{name} must lie between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT}."
    )


def _echo_number(value: object) -> str:
    """A value that was read as a number; anything else is not echoed."""
    known = (int, float, str, Fraction, Decimal)
    return str(value) if isinstance(value, known) else "something else"
