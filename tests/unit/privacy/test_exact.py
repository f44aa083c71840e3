"""Parameters are kept exactly, and leave only rounded up."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import (
    Exact,
    exact,
    float_up,
    positive,
    positive_integer,
    read_kept,
    text_up,
)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (2, Fraction(2)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        ("5e-2", Fraction(1, 20)),
        (Decimal("0.7"), Fraction(7, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (0.5, Fraction(1, 2)),
        (np.int64(3), Fraction(3)),
        (np.float32(0.25), Fraction(1, 4)),
        (0.1, Fraction(3602879701896397, 36028797018963968)),
    ],
)
def test_a_number_is_kept_exactly(given: Exact, kept: Fraction) -> None:
    assert exact(given, "epsilon") == kept


@pytest.mark.parametrize(
    "given",
    [
        *["", "x", "1/0", "1/x", "nan", "inf", "1e999999999", "1e-999999999", "1" * 100],
        *["0e999999999999999999999", "1/1e9", "1_0" * 30, f"1/{'9' * 60}", "9" * 42],
        *[float("nan"), float("inf"), Decimal("NaN"), Decimal("1e300000000"), True],
        *[10**41, -(10**4000), Fraction(1, 10**4000), 1e300, 1e-300],
    ],
)
def test_what_is_no_usable_number_is_refused(given: Exact) -> None:
    with pytest.raises(ParameterError, match="epsilon must"):
        exact(given, "epsilon")


@pytest.mark.parametrize("given", [None, [1], object()])
def test_what_is_no_number_at_all_is_refused_without_echo(given: object) -> None:
    with pytest.raises(ParameterError, match="got something else"):
        exact(given, "epsilon")  # type: ignore[arg-type]  # the point of the test


@pytest.mark.parametrize("given", [0, -1, "0", "-1/2", -0.5])
def test_positive_refuses_zero_and_less(given: Exact) -> None:
    with pytest.raises(ParameterError, match="epsilon must be > 0"):
        positive(given, "epsilon")


def test_what_the_project_kept_may_be_longer_than_what_is_typed() -> None:
    kept = Fraction(1, 3**200)  # 96 digits
    assert read_kept(str(kept * 3**190), "rate") == kept * 3**190
    with pytest.raises(ParameterError, match="rate must have at most 8000 characters, got 8001"):
        read_kept("0" * 8001, "rate")
    with pytest.raises(ParameterError, match="rate must lie between 1e-40 and 1e40"):
        read_kept("1e300000000", "rate")


def test_a_whole_number_is_wanted_where_words_are_counted() -> None:
    assert positive_integer("3", "n") == 3
    with pytest.raises(ParameterError, match=r"n must be a whole number, got 1\.5"):
        positive_integer(1.5, "n")


def test_a_float_is_never_below_the_exact_value() -> None:
    third = Fraction(1, 3)
    assert Fraction(float_up(third)) > third > Fraction(float(third))
    assert float_up(Fraction(1, 2)) == 0.5
    assert float_up(Fraction(10**400)) == float("inf")


def test_text_is_exact_or_rounded_up() -> None:
    assert text_up(Fraction(1, 3)) == "0.333334"
    assert text_up(Fraction(1, 20)) == "0.05"
    assert text_up(Fraction(68)) == "68"
    assert text_up(Fraction(0.1)) == "0.100001"
    assert text_up(Fraction(1200)) == "1200"
