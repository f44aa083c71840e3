"""What is agreed on before Chebyshev's iteration: its steps, its binary places and its slots."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier import (
    SlotPlan,
    mask_bound,
)
from sottovoce.learn.paillier.plan import SLACK_BITS
from sottovoce.learn.solve.masking import (
    fits_key,
    masked_slots,
)
from sottovoce.learn.solve.system import PublicBounds

# The rounding of a step is off by one unit in the product and one in the new step.
_UNITS_PER_STEP = 2


@dataclass(frozen=True)
class ChebyshevPlan:
    """What is agreed on before the iteration.

    Attributes:
        bounds: what is public of the system.
        key_bits: the length of both parties' keys.
        lowest: a public lower bound of A's eigenvalues: the penalty.
        highest: a public upper bound of them: the trace.
        tolerance: the error of theta that is aimed at, relative to its size.
    """

    bounds: PublicBounds
    key_bits: int
    lowest: float
    highest: float
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if not 0 < self.lowest < self.highest < math.inf:
            raise ParameterError("eigenvalue bounds must be 0 < lowest < highest < infinity.")
        if not 0 < self.tolerance < 1:
            raise ParameterError(f"tolerance must be between 0 and 1, got {self.tolerance}.")
        if not fits_key(self.quotient, self.share_bits, self.key_bits):
            raise ParameterError(f"a key of {self.key_bits} bits is too short for this tolerance.")

    @property
    def size(self) -> int:
        """The number of unknowns, d."""
        return self.bounds.size

    @property
    def iterations(self) -> int:
        """1/2 sqrt(kappa) ln(2 / tolerance): the error is at most 2 exp(-2 k / sqrt(kappa))."""
        kappa = self.highest / self.lowest
        return math.ceil(0.5 * math.sqrt(kappa) * math.log(2 / self.tolerance))

    @cached_property
    def fraction_bits(self) -> int:
        """The binary places of vectors, g.

        Each step's rounding enters the residual by at most two units per entry, and the residual's
        error reaches theta divided by the lowest eigenvalue; all steps together must stay below
        half the tolerance.
        """
        off = _UNITS_PER_STEP * self.iterations * math.sqrt(self.size) / self.lowest
        return max(self.bounds.fraction_bits, math.ceil(math.log2(2 * off / self.tolerance)))

    @property
    def right_norm(self) -> float:
        """The largest ||b||_2."""
        return math.sqrt(self.size) * math.ldexp(self.bounds.right, -self.bounds.fraction_bits)

    @cached_property
    def share_bits(self) -> int:
        """m: shares are modulo 2^m, 2^65 times as large as any number shared.

        Chebyshev's residuals satisfy ||r_k|| <= ||b||, so that ||A p|| = ||r_k - r_(k+1)|| and
        ||p|| = ||A^-1 (r_k - r_(k+1))|| are at most 2 ||b|| and 2 ||b|| / lowest.
        """
        f, g = self.bounds.fraction_bits, self.fraction_bits
        product = 2 * self.right_norm * math.ldexp(1, f + g)
        step = 4 * self.right_norm * max(1, 1 / self.lowest) * math.ldexp(1, 2 * g)
        return math.ceil(math.log2(max(product, step))) + 2 + SLACK_BITS

    @property
    def modulus(self) -> int:
        """2^m."""
        return 1 << self.share_bits

    @property
    def quotient(self) -> int:
        """The largest size of (A s) / 2^m, for s residues."""
        return self.size * self.bounds.entry + 1

    @cached_property
    def slots(self) -> SlotPlan:
        """The slots of A under either key, of b, and of what is computed from them."""
        first = max(self.bounds.entry, self.bounds.right)
        opened = first + mask_bound(first)
        return masked_slots((first, opened), self.quotient, self.share_bits, self.key_bits)

    @property
    def first_factor(self) -> int:
        """1 / mid, as an integer at the vectors' places."""
        return self._rounded(2 / (self.highest + self.lowest))

    def factors(self) -> Iterator[tuple[int, int]]:
        """For each step the factors of the last step and of the residual, as integers.

        With mid and half the bounds' mean and half distance, s = mid/half, rho_0 = 1/s and
        rho_k = 1/(2 s - rho_(k-1)): p <- rho_k rho_(k-1) p + 2 rho_k/half r.
        """
        middle, half = (self.highest + self.lowest) / 2, (self.highest - self.lowest) / 2
        sigma = middle / half
        rho = 1 / sigma
        for _ in range(self.iterations):
            following = 1 / (2 * sigma - rho)
            yield self._rounded(following * rho), self._rounded(2 * following / half)
            rho = following

    def _rounded(self, factor: float) -> int:
        return round(math.ldexp(factor, self.fraction_bits))


def plan_chebyshev(
    bounds: PublicBounds, *, key_bits: int, penalty: float, tolerance: float = 1e-4
) -> ChebyshevPlan:
    """The plan for ridge: eigenvalues from the penalty, less rounding, to the trace."""
    off = 0 if bounds.moment is None else bounds.moment - (1 << bounds.fraction_bits)
    lowest = penalty - math.ldexp(off, -bounds.fraction_bits)
    highest = math.ldexp(bounds.trace, -bounds.fraction_bits)
    return ChebyshevPlan(bounds, key_bits, lowest, highest, tolerance)
