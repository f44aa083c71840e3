"""Boundaries are proven floors of the laws' cumulative probabilities."""

from decimal import Context, Decimal
from fractions import Fraction
from math import floor

import pytest

from sottovoce.privacy import _laws as laws
from sottovoce.privacy._laws import LONGEST_RUN, Gap, Geometric, Law, TwoSidedGeometric

CONTEXT = Context(prec=100)
LAWS: list[Law] = [
    TwoSidedGeometric(Fraction(1, 2)),
    Geometric(Fraction(3)),
    Gap(Fraction(2), None),
    Gap(Fraction(1), 3),
]


def alpha(rate: str) -> Decimal:
    return CONTEXT.exp(CONTEXT.minus(Decimal(rate)))


def scaled_floor(probability: Decimal) -> int:
    return floor(Fraction(probability) * 2**64)


def test_two_sided_boundaries_are_its_cumulative_probabilities() -> None:
    law, a = TwoSidedGeometric(Fraction(1, 2)), alpha("0.5")
    floors = law.floors(64)
    for z in (-5, -1):
        below = CONTEXT.divide(CONTEXT.power(a, -z), CONTEXT.add(Decimal(1), a))
        assert floors[z + law.offset] == scaled_floor(below)
    for z in (0, 7):
        above = CONTEXT.divide(CONTEXT.power(a, z + 1), CONTEXT.add(Decimal(1), a))
        assert floors[z + law.offset] == scaled_floor(CONTEXT.subtract(Decimal(1), above))


def test_a_gap_ends_with_the_chance_that_a_zero_cell_comes_out() -> None:
    a = alpha("2")
    signed = CONTEXT.divide(CONTEXT.multiply(Decimal(2), a), CONTEXT.add(Decimal(1), a))
    assert Gap(Fraction(2), None).floors(64)[0] == scaled_floor(signed)
    cut = CONTEXT.divide(CONTEXT.power(a, 3), CONTEXT.add(Decimal(1), a))
    assert Gap(Fraction(2), 3).floors(64)[0] == scaled_floor(cut)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_each_boundary_alone_agrees_with_all_at_once_and_refines(law: Law) -> None:
    floors = law.floors(64)
    assert len(floors) == law.run
    assert floors == sorted(floors)
    for j in (0, law.run // 2, law.run - 1):
        assert law.floor_at(j, 64) == floors[j]
        assert law.floor_at(j, 192) >> 128 == floors[j]


def test_a_floor_that_is_not_certain_is_computed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Geometric(Fraction(1, 100)).floors(64)
    monkeypatch.setattr(laws, "_GUARD_BITS", 8)
    law = Geometric(Fraction(1, 100))
    assert law.floors(64) == expected
    assert law.floor_at(2000, 64) == expected[2000]


def test_the_run_is_bounded_and_long_enough() -> None:
    assert TwoSidedGeometric(Fraction(1, 10**5)).reach == LONGEST_RUN
    assert Gap(Fraction(50), None).run == LONGEST_RUN
    assert Gap(Fraction(900), None).run == LONGEST_RUN
    assert Geometric(Fraction(1)).floors(64)[-1] > 2**64 - 2**24


def test_a_gap_that_next_to_never_ends_is_quickly_built() -> None:
    """Its chance is exp(-10^6): deciding its floors by precision alone would take megabits."""
    law = Gap(Fraction(1000), 1000)
    assert law.floors(64) == [0] * law.run
    assert law.floor_at(7, 256) == 0
