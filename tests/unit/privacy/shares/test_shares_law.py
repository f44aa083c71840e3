"""Shares of noise add up to the noise, between proven bounds."""

from decimal import Context, Decimal
from fractions import Fraction
from itertools import islice
from math import comb, exp, floor

import numpy as np
import pytest
from scipy.stats import nbinom

from sottovoce.privacy import shares as share_laws
from sottovoce.privacy._laws import Enclosure, Geometric, TwoSidedGeometric, times
from sottovoce.privacy.opened_noise import SharesLaw
from sottovoce.privacy.shares import NegativeBinomial

BITS = 160
CONTEXT = Context(prec=100)
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
TINY = Fraction(1, 2**100)


def masses(rate: Fraction, shape: Fraction, number: int = 30) -> list[Enclosure]:
    return list(islice(NegativeBinomial(rate, shape, number).masses(BITS), number))


def convolved(a: list[Enclosure], b: list[Enclosure]) -> list[Enclosure]:
    """The law of a sum, as far as both are known: between bounds still."""
    products = [[times(a[j], b[k - j], BITS) for j in range(k + 1)] for k in range(len(a))]
    return [Enclosure(sum(p.low for p in row), sum(p.high for p in row)) for row in products]


def geometric(rate: Fraction, k: int) -> Fraction:
    """(1 - alpha) alpha^k to 100 digits."""
    alpha = decimal_alpha(rate)
    return Fraction(CONTEXT.multiply(CONTEXT.subtract(Decimal(1), alpha), CONTEXT.power(alpha, k)))


def decimal_alpha(rate: Fraction) -> Decimal:
    return CONTEXT.exp(CONTEXT.divide(Decimal(-rate.numerator), Decimal(rate.denominator)))


def holds(bound: Enclosure, value: Fraction) -> bool:
    return bool(bound.low <= value * 2**BITS <= bound.high)


@pytest.mark.parametrize("among", [1, 2, 3, 8])
def test_as_many_shares_as_are_counted_on_make_a_geometric_draw_exactly(among: int) -> None:
    share = masses(QUARTER, Fraction(1, among))
    total = share
    for _ in range(among - 1):
        total = convolved(total, share)
    assert all(holds(bound, geometric(QUARTER, k)) for k, bound in enumerate(total))
    assert all(bound.high - bound.low < 2**40 for bound in total)


def test_one_share_too_few_or_another_shape_or_rate_does_not() -> None:
    share, wrong = masses(QUARTER, Fraction(1, 2)), masses(QUARTER, Fraction(51, 100))
    other = masses(QUARTER * 51 / 50, Fraction(1, 2))
    for total in (share, convolved(share, wrong), convolved(other, other)):
        assert not any(holds(bound, geometric(QUARTER, k)) for k, bound in enumerate(total))


def test_a_boundary_is_the_floor_of_the_cumulative_probability() -> None:
    law = NegativeBinomial.of_share(HALF, 2)
    alpha = decimal_alpha(HALF)
    series = sum(Fraction(CONTEXT.power(alpha, k)) * comb(2 * k, k) / 4**k for k in range(8))
    start = Fraction(CONTEXT.sqrt(CONTEXT.subtract(Decimal(1), alpha)))
    assert law.floors(64)[7] == floor(start * series * 2**64)


@pytest.mark.parametrize(("among", "rate"), [(1, "1/4"), (3, "1/20"), (8, "2"), (10_000, "1")])
def test_boundaries_agree_with_scipy_and_refine(among: int, rate: str) -> None:
    law = NegativeBinomial.of_share(Fraction(rate), among)
    floors = law.floors(64)
    known = nbinom.cdf(np.arange(law.run), 1 / among, -np.expm1(-float(Fraction(rate))))
    assert np.array(floors, float) / 2**64 == pytest.approx(known, abs=1e-12)
    assert floors == sorted(floors)
    for j in (0, law.run // 2, law.run - 1):
        assert law.floor_at(j, 192) >> 128 == floors[j]
    assert law.longer().floors(64)[: law.run] == floors


def test_a_single_party_draws_the_geometric_law_itself() -> None:
    law = NegativeBinomial.of_share(HALF, 1)
    assert law.floors(64) == Geometric(HALF).floors(64)
    two_sided, reach = TwoSidedGeometric(HALF).floors(128), TwoSidedGeometric(HALF).reach
    below = SharesLaw(HALF, shares=1, among=1).enclosures(20, 200)
    for z in range(1, 20):
        low, high = below[z]
        mass = Fraction(two_sided[reach + z] - two_sided[reach + z - 1], 2**128)
        assert low - 2 * TINY < mass < high + 2 * TINY


def test_what_lies_beyond_a_short_run_is_within_the_bounds() -> None:
    """P(K - K' = z) by a run of 3, where most of it lies beyond, and by one of 300."""
    short = NegativeBinomial(QUARTER, Fraction(1, 2), 3).difference(4, BITS)
    long = NegativeBinomial(QUARTER, Fraction(1, 2), 300).difference(4, BITS)
    assert all(a.low < b.low <= b.high < a.high for a, b in zip(short, long, strict=True))


def test_a_floor_that_is_not_certain_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    law = NegativeBinomial.of_share(Fraction(1, 30), 3)
    expected = law.floors(64)
    monkeypatch.setattr(share_laws, "_GUARD_BITS", 6)
    assert law.floors(64) == expected


@pytest.mark.parametrize(("shares", "among"), [(1, 1), (1, 3), (3, 3), (5, 3), (40, 2)])
@pytest.mark.parametrize("rate", ["1/3", "2", "30"])
def test_the_law_of_a_total_lies_between_its_bounds(rate: str, shares: int, among: int) -> None:
    law = SharesLaw(rate, shares=shares, among=among)
    for z, (low, high) in enumerate(law.enclosures(12)):
        assert high - low < TINY
        assert float(low) == pytest.approx(float(law.probability(z)), rel=1e-9)


@pytest.mark.parametrize(("rate", "shares", "among"), [("1/4", 4, 3), ("1/50", 1, 8), ("3", 9, 4)])
def test_moments_and_tails_are_the_laws(rate: str, shares: int, among: int) -> None:
    law = SharesLaw(rate, shares=shares, among=among)
    z = np.arange(-law.reach, law.reach + 1)
    p = law.probability(z)
    assert p.sum() == pytest.approx(1)
    assert (p * z**2.0).sum() == pytest.approx(law.variance)
    assert (p * z**4.0).sum() == pytest.approx(law.fourth_moment)
    assert law.at_least(z) == pytest.approx(np.cumsum(p[::-1])[::-1], abs=1e-12)
    assert law.most_common == p.max()
    assert law.probability(law.reach + 1) == 0
    assert law.at_least([law.reach + 9, -law.reach - 9]).tolist() == [0, 1]


def test_the_shares_that_are_counted_on_have_the_known_law() -> None:
    law = SharesLaw("1/2", shares=3, among=3)
    alpha = exp(-0.5)
    expected = (1 - alpha) / (1 + alpha) * alpha ** np.arange(20)
    assert law.probability(np.arange(20)) == pytest.approx(expected, rel=1e-12)
