"""Integer enclosures hold the true value; decimal's correctly rounded exp is the oracle."""

from decimal import Context, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from sottovoce.privacy._laws import Enclosure, exp_minus, one_minus, over_one_plus, power, root

CONTEXT = Context(prec=120)
RATES = st.fractions(min_value=Fraction(1, 10**6), max_value=60, max_denominator=10**9)
BITS = st.sampled_from([64, 128, 192])


def decimal_exp_minus(rate: Fraction) -> Decimal:
    return CONTEXT.exp(CONTEXT.divide(Decimal(-rate.numerator), Decimal(rate.denominator)))


def encloses(enclosure: Enclosure, value: Decimal, bits: int) -> bool:
    scaled, slack = Fraction(value) * (1 << bits), Fraction(1, 10**30)
    return enclosure.low <= scaled + slack and scaled - slack <= enclosure.high


@given(RATES, BITS)
def test_exp_is_enclosed_and_narrow(rate: Fraction, bits: int) -> None:
    enclosure = exp_minus(rate, bits)
    assert encloses(enclosure, decimal_exp_minus(rate), bits)
    assert enclosure.high - enclosure.low < 1 << 16


@given(RATES, st.integers(0, 200), BITS)
def test_powers_and_quotients_are_enclosed(rate: Fraction, exponent: int, bits: int) -> None:
    alpha, base = exp_minus(rate, bits), decimal_exp_minus(rate)
    risen = CONTEXT.power(base, exponent)
    assert encloses(power(alpha, exponent, bits), risen, bits)
    quotient = over_one_plus(power(alpha, exponent, bits), alpha, bits)
    assert encloses(quotient, CONTEXT.divide(risen, CONTEXT.add(Decimal(1), base)), bits)


@given(RATES, st.integers(1, 50), BITS)
def test_roots_are_enclosed_and_narrow(rate: Fraction, degree: int, bits: int) -> None:
    rest = one_minus(exp_minus(rate, bits), bits)
    enclosure = root(rest, degree, bits)
    true = CONTEXT.subtract(Decimal(1), decimal_exp_minus(rate))
    assert encloses(enclosure, CONTEXT.power(true, CONTEXT.divide(Decimal(1), degree)), bits)
    assert enclosure.high - enclosure.low < 1 << 40
