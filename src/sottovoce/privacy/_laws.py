"""The distributions to sample, as exact cumulative probabilities and as tables of these.

A law is a finite run of boundaries 0 < F_0 < F_1 < ... < F_{n-1} < 1. A uniform U in [0, 1) falls
above j of them, and the index j is the draw. Every boundary here is w q^m or 1 - w q^m, with w and
q rational functions of alpha = exp(-r), r a positive rational: alpha is transcendental, so no
boundary is a binary fraction, and comparing U with one is decided after finitely many bits.
`floors(bits)` gives floor(2^bits F_j), proven by an interval narrower than one unit.

In a law's table, 16 random bits answer nearly every draw and 64 nearly all the rest. Cell h of
65,536 holds the value of every U in [h, h + 1)/2^16 when no boundary cuts it, and `ESCAPE`
otherwise, or where the value would be a tail's. A cell that no boundary cuts has a value of
probability at least 2^-16, and those reach 24,110 from the middle at most: 16 bits hold them.

Real numbers between two integers: interval arithmetic in fixed point, without floats.

At ``bits`` of precision the pair (low, high) encloses the real x >= 0 when
low <= x * 2^bits <= high. Every operation rounds low down and high up, so an enclosure stays one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


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


# A longer run would cost memory only: what lies beyond it is drawn by memorylessness.
LONGEST_RUN = 1 << 16
# exp(-28) < 2^-40: with a run that long, what lies beyond it is next to never drawn.
_RUN_NATS = 28
_GUARD_BITS = 64

ESCAPE = -(1 << 15)
CELL_BITS = 16
BOUNDARY_BITS = 64

AtPrecision: TypeAlias = Callable[[int], Enclosure]


class Law(Protocol):
    """A run of boundaries, and where index 0 stands on the number line."""

    @property
    def run(self) -> int:
        """How many boundaries there are: indices go from 0 to ``run``."""

    @property
    def offset(self) -> int:
        """A draw's value is its index less this."""

    @property
    def open_below(self) -> bool:
        """Whether index 0 stands for a tail (as index ``run`` always does)."""

    def floors(self, bits: int) -> list[int]:
        """floor(2^bits F_j) for every j, not decreasing."""

    def floor_at(self, j: int, bits: int) -> int:
        """floor(2^bits F_j), at any precision."""


@dataclass(frozen=True)
class TwoSidedGeometric:
    """P(Z = z) = (1 - alpha)/(1 + alpha) alpha^|z|, its tails beyond -T and T each one index.

    F(-m) = alpha^m / (1 + alpha) and F(m - 1) = 1 - F(-m), for m = 1..T.
    """

    rate: Fraction

    def __str__(self) -> str:
        return f"two-sided geometric noise at rate {self.rate}"

    @property
    def reach(self) -> int:
        """T."""
        return _run_length(self.rate)

    @property
    def run(self) -> int:
        return 2 * self.reach

    @property
    def offset(self) -> int:
        return self.reach

    @property
    def open_below(self) -> bool:
        return True

    def floors(self, bits: int) -> list[int]:
        below = _power_floors(self._weight, self._ratio, self.reach, bits)
        return below[::-1] + [(1 << bits) - 1 - floor for floor in below]

    def floor_at(self, j: int, bits: int) -> int:
        if j < self.reach:
            return _power_floor(self._weight, self._ratio, self.reach - j, bits)
        return (1 << bits) - 1 - self.floor_at(self.run - 1 - j, bits)

    def _ratio(self, bits: int) -> Enclosure:
        return exp_minus(self.rate, bits)

    def _weight(self, bits: int) -> Enclosure:
        return over_one_plus(Enclosure(1 << bits, 1 << bits), self._ratio(bits), bits)


class _OneSided:
    """P(G = g) = (1 - q) q^g, its tail from T on one index: F(m - 1) = 1 - q^m, m = 1..T."""

    offset = 0
    open_below = False

    @property
    def run(self) -> int:
        raise NotImplementedError

    def floors(self, bits: int) -> list[int]:
        above = _power_floors(_one, self._ratio, self.run, bits)
        return [(1 << bits) - 1 - floor for floor in above]

    def floor_at(self, j: int, bits: int) -> int:
        return (1 << bits) - 1 - _power_floor(_one, self._ratio, j + 1, bits)

    def _ratio(self, bits: int) -> Enclosure:
        raise NotImplementedError


@dataclass(frozen=True)
class Geometric(_OneSided):
    """What a two-sided draw exceeds a bound by, given that it reaches it: q = alpha."""

    rate: Fraction

    def __str__(self) -> str:
        return f"geometric draws at rate {self.rate}"

    @property
    def run(self) -> int:
        return _run_length(self.rate)

    def _ratio(self, bits: int) -> Enclosure:
        return exp_minus(self.rate, bits)


@dataclass(frozen=True)
class Gap(_OneSided):
    """How many zero cells in a row stay out of the output: q = 1 - p.

    p is the chance that a zero cell comes out: P(Z != 0) = 2 alpha/(1 + alpha) without a
    threshold, P(Z >= t) = alpha^t/(1 + alpha) with the threshold t.
    """

    rate: Fraction
    threshold: int | None

    def __str__(self) -> str:
        kept = "" if self.threshold is None else f" that reach {self.threshold}"
        return f"gaps between zero cells{kept} at rate {self.rate}"

    @property
    def run(self) -> int:
        bits = 2 * _GUARD_BITS
        chance = self.chance(bits).low
        return min(LONGEST_RUN, (_RUN_NATS << bits) // chance + 1) if chance else LONGEST_RUN

    def chance(self, bits: int) -> Enclosure:
        """The chance p."""
        alpha = exp_minus(self.rate, bits)
        if self.threshold is None:
            return over_one_plus(Enclosure(2 * alpha.low, 2 * alpha.high), alpha, bits)
        return over_one_plus(power(alpha, self.threshold, bits), alpha, bits)

    def _ratio(self, bits: int) -> Enclosure:
        return one_minus(self.chance(bits), bits)


def _run_length(rate: Fraction) -> int:
    return min(LONGEST_RUN, _RUN_NATS // rate + 1)


def _one(bits: int) -> Enclosure:
    return Enclosure(1 << bits, 1 << bits)


def _power_floors(weight: AtPrecision, ratio: AtPrecision, run: int, bits: int) -> list[int]:
    """floor(2^bits w q^m) for m = 1..run, by repeated multiplication between bounds."""
    guard = _GUARD_BITS
    while True:
        floors = _try_power_floors(weight, ratio, run, bits, guard)
        if floors is not None:
            return floors
        guard *= 2


def _try_power_floors(
    weight: AtPrecision, ratio: AtPrecision, run: int, bits: int, guard: int
) -> list[int] | None:
    precision = bits + guard
    (low, high), (ratio_low, ratio_high) = weight(precision), ratio(precision)
    # All powers lie strictly below 1, which settles the floor of those next to it.
    below_one = (1 << precision) - 1
    floors = []
    for _ in range(run):
        low = low * ratio_low >> precision
        high = ceil_shift(high * ratio_high, precision)
        if low >> guard != min(high, below_one) >> guard:
            return None
        floors.append(low >> guard)
    return floors


def _power_floor(weight: AtPrecision, ratio: AtPrecision, exponent: int, bits: int) -> int:
    """floor(2^bits w q^exponent), with as much precision as it takes to know it."""
    precision = bits + _GUARD_BITS
    while True:
        risen = power(ratio(precision), exponent, precision)
        low, high = times(weight(precision), risen, precision)
        floor = low >> precision - bits
        if floor == min(high, (1 << precision) - 1) >> precision - bits:
            return floor
        precision += _GUARD_BITS


@dataclass(frozen=True)
class LawTable:
    """The cells, and floor(2^64 F_j) for the draws that escape them."""

    cells: NDArray[np.int16]
    boundaries: NDArray[np.uint64]


def build_table(law: Law) -> LawTable:
    """The table of ``law``; exact, since every entry follows from proven floors."""
    boundaries = np.array(law.floors(BOUNDARY_BITS), dtype=np.uint64)
    cut = np.unique(boundaries >> np.uint64(BOUNDARY_BITS - CELL_BITS)).astype(np.int64)
    starts = np.arange(1 << CELL_BITS, dtype=np.uint64) << np.uint64(BOUNDARY_BITS - CELL_BITS)
    # No boundary equals a cell's start: below it or not is a strict question.
    index = np.searchsorted(boundaries, starts, side="left")
    tail = (index == law.run) | (law.open_below & (index == 0))
    values = index - law.offset
    values[tail] = ESCAPE
    values[cut] = ESCAPE
    return LawTable(cells=values.astype(np.int16), boundaries=boundaries)
