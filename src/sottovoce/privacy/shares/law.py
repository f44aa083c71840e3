"""The negative binomial law of a share, between proven bounds.

With alpha = exp(-r), r a positive rational, and a rational shape s > 0,

    P(K = k) = (1 - alpha)^s alpha^k prod_{i < k} (s + i)/(i + 1)

Independent draws of shapes s and t add up to one of shape s + t; shape 1 is the geometric law. So h
draws of shape 1/h add up to a geometric draw, and h differences of two such draws to two-sided
geometric noise, exactly. All is computed between integer bounds: alpha by its series, the root by
halving, the masses by repeated multiplication.

A boundary F_k = P(K <= k) is no binary fraction: with s = m/h, F_k^h = (1 - alpha)^m Q(alpha)^h for
a polynomial Q > 0 of rational coefficients, and alpha would be algebraic if that were rational. So
the first bits of F_k are found by a finite computation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, islice

from sottovoce.privacy._enclosure import Enclosure, exp_minus, one_minus, power, root, times

# exp(-28) < 2^-40, and with a shape of at most 1 the tail is below a geometric one's.
_RUN_NATS = 28
_GUARD_BITS = 64
# The run grows as 1/rate; at this rate it has 280,001 boundaries.
SMALLEST_RATE = Fraction(1, 10_000)


@dataclass(frozen=True)
class NegativeBinomial:
    """K >= 0 of ``shape`` s; its boundaries are F_0, ..., F_{run - 1}, more where it takes."""

    rate: Fraction
    shape: Fraction
    run: int
    offset = 0
    open_below = False

    @classmethod
    def of_share(cls, rate: Fraction, among: int) -> "NegativeBinomial":
        """A share of 1/``among``, as far as draws are next to never beyond."""
        return cls(rate, Fraction(1, among), _RUN_NATS // rate + 1)

    def __str__(self) -> str:
        return f"negative binomial draws of shape {self.shape} at rate {self.rate}"

    def longer(self) -> "NegativeBinomial":
        """The same law, twice as far."""
        return replace(self, run=2 * self.run)

    def floors(self, bits: int) -> list[int]:
        """floor(2^bits F_k) for every k of the run, not decreasing."""
        guard = _GUARD_BITS
        while (floors := self._try_floors(bits, guard)) is None:
            guard *= 2
        return floors

    def floor_at(self, j: int, bits: int) -> int:
        """floor(2^bits F_j), at any precision and beyond the run too."""
        return replace(self, run=j + 1).floors(bits)[-1]

    def _try_floors(self, bits: int, guard: int) -> list[int] | None:
        # All boundaries lie strictly below 1, which settles the floor of those next to it.
        below_one = (1 << bits + guard) - 1
        floors = []
        for low, high in islice(accumulate(self.masses(bits + guard), _sum), self.run):
            if low >> guard != min(high, below_one) >> guard:
                return None
            floors.append(low >> guard)
        return floors

    def masses(self, bits: int) -> Iterator[Enclosure]:
        """P(K = 0), P(K = 1), ... without end."""
        m, h = self.shape.numerator, self.shape.denominator
        alpha = exp_minus(self.rate, bits)
        mass = root(power(one_minus(alpha, bits), m, bits), h, bits)
        k = 0
        while True:
            yield mass
            # (s + k)/(k + 1) = (m + h k)/(h (k + 1))
            low, high = times(mass, alpha, bits)
            up, k = m + h * k, k + 1
            mass = Enclosure(low * up // (h * k), -(-high * up // (h * k)))

    def difference(self, reach: int, bits: int) -> list[Enclosure]:
        """P(K - K' = z) for z = 0..``reach``, of two independent draws.

        The sum over k of P(K = k) P(K' = k + z) is cut where k + z leaves the run; what is left
        out is at most P(K >= run).
        """
        masses = list(islice(self.masses(bits), self.run))
        beyond = (1 << bits) - sum(mass.low for mass in masses)
        return [_cut_sum(masses, z, beyond, bits) for z in range(reach + 1)]


def _cut_sum(masses: list[Enclosure], z: int, beyond: int, bits: int) -> Enclosure:
    products = [times(a, b, bits) for a, b in zip(masses, masses[z:], strict=False)]
    low, high = sum(a.low for a in products), sum(a.high for a in products)
    return Enclosure(low, high + beyond)


def _sum(a: Enclosure, b: Enclosure) -> Enclosure:
    return Enclosure(a.low + b.low, a.high + b.high)
