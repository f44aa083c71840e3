"""The system A theta = b as scaled integers: what of it is public, and its exact plain solve.

Whether A is positive definite is checked without rounding. The plain solve is what the hidden ones
are checked by. A system that is not square, symmetric, finite, in bounds and positive definite is
refused (`ParameterError`), and so is one without a single solution (`SingularSystemError`).
No message holds a number of the system.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PublicKey
from sottovoce.learn.paillier.slots import SlotPlan, check_fraction_bits, encode, scaled_bound
from sottovoce.learn.paillier.wire import encrypt_integers


def leading_minors_positive(matrix: list[list[int]]) -> bool:
    """Whether a symmetric matrix is positive definite (Sylvester's criterion), exactly."""
    rows, last = [list(row) for row in matrix], 1
    for at in range(len(rows)):
        pivot = rows[at][at]
        if pivot <= 0:
            return False
        for row in rows[at + 1 :]:
            factor = row[at]
            row[at:] = [
                (pivot * x - factor * y) // last
                for x, y in zip(row[at:], rows[at][at:], strict=True)
            ]
        last = pivot
    return True


@dataclass(frozen=True)
class PublicBounds:
    """What everybody may know of A and b before the solve; all sizes of the scaled integers.

    Attributes:
        size: d, the number of unknowns.
        fraction_bits: f; the integers are A 2^f and b 2^f, rounded.
        entry: the largest size of an entry of A.
        trace: the largest trace of A.
        right: the largest size of an entry of b.
        moment: a number g for which [[A, b], [b', g]] is positive semidefinite, where one is
            known, as for least squares: then A, b and g are of one Gram matrix of X and y.
    """

    size: int
    fraction_bits: int
    entry: int
    trace: int
    right: int
    moment: int | None = None

    def __post_init__(self) -> None:
        check_fraction_bits(self.fraction_bits)
        if min(self.size, self.entry, self.trace, self.right) < 1:
            raise ParameterError("a system's size and bounds must be >= 1.")
        # The trace is a sum of d diagonal entries.
        object.__setattr__(self, "trace", min(self.trace, self.size * self.entry))

    @property
    def largest_minor(self) -> int:
        """The largest principal minor of order d-1, for A symmetric positive semidefinite.

        At most the product of its d-1 diagonal entries (Hadamard), so at most max|A|^(d-1), and by
        the means' inequality at most (tr(A) / (d-1))^(d-1).
        """
        return self._largest_product(self.size - 1)

    @property
    def largest_determinant(self) -> int:
        """The largest determinant, bounded as the minors are."""
        return self._largest_product(self.size)

    @property
    def largest_solution(self) -> int:
        """The largest size of an entry of y = adj(A) b, for A symmetric positive definite.

        Let a_1 .. a_d > 0 be A's eigenvalues. Those of adj(A) are the products of all a_j but one,
        each at most (tr(A) / (d-1))^(d-1) by the means' inequality, and
        |y_i| <= ||adj(A)||_2 ||b||_2 <= (tr(A) / (d-1))^(d-1) sqrt(d) max|b|.

        With the moment g, b'A^-1 b <= g (the Schur complement of A is not negative), and by Cauchy
        and Schwarz in A^-1's product y_i^2 = det(A)^2 (e_i'A^-1 b)^2 <= det(A)^2 (A^-1)_ii g
        = det(A) minor_ii g.
        """
        d = self.size
        spectral = Fraction(self.trace, d - 1) ** (d - 1) if d > 1 else Fraction(1)
        # isqrt + 1 exceeds the root.
        largest = math.ceil(spectral * (math.isqrt(d * self.right * self.right) + 1))
        if self.moment is None:
            return largest
        squared = self.largest_determinant * self.largest_minor * self.moment
        return min(largest, math.isqrt(squared) + 1)

    def _largest_product(self, count: int) -> int:
        """Of ``count`` diagonal entries."""
        if count == 0:
            return 1
        return math.ceil(min(Fraction(self.trace, count), Fraction(self.entry)) ** count)


def standardised_bounds(
    size: int, fraction_bits: int, penalty: float, *, peers: int = 1
) -> PublicBounds:
    """The bounds for A = X'X/m + lambda I and b = X'y/m of standardised columns and signs y.

    The diagonal of X'X/m is 1, so |A_ij| <= 1 + lambda, tr(A) = d (1 + lambda), |b_i| <= 1; each
    peer's summand is rounded once, as is lambda. Refuses a lambda that rounding could outweigh:
    rounding [[A, b], [b', 1]] adds a symmetric matrix with entries of at most (peers+1)/2 units,
    whose eigenvalues are at most (d+1) (peers+1)/2. A lambda above that keeps A positive definite,
    and the corner raised by that much (the moment) keeps the whole positive semidefinite.
    """
    if not (math.isfinite(penalty) and penalty > 0):
        raise ParameterError(f"penalty must be finite and > 0, got {penalty}.")
    one, off = 1 << fraction_bits, -(-(size + 1) * (peers + 1) // 2)
    if penalty * one <= off:
        raise ParameterError(
            f"penalty must be > {off / one:.3g} to keep a system of {size} features positive "
            f"definite at {fraction_bits} binary places, got {penalty}; use more places."
        )
    diagonal = scaled_bound(1 + penalty, fraction_bits) + peers + 1
    return PublicBounds(size, fraction_bits, diagonal, size * diagonal, one + peers + 1, one + off)


@dataclass(frozen=True)
class IntegerSystem:
    """A and b as integers: what the protocols solve, to the last bit; never printed."""

    matrix: list[list[int]] = field(repr=False)
    vector: list[int] = field(repr=False)
    fraction_bits: int

    @property
    def size(self) -> int:
        """The number of unknowns, d."""
        return len(self.vector)

    def encrypt(self, plan: SlotPlan, public: PublicKey) -> tuple[EncryptedArray, EncryptedArray]:
        """Enc(A), row by row in slots, and Enc(b)."""
        parts = (np.array(each, dtype=object) for each in (self.matrix, self.vector))
        matrix, vector = (encrypt_integers(each, plan, public) for each in parts)
        return matrix, vector


def scaled_system(matrix: ArrayLike, vector: ArrayLike, bounds: PublicBounds) -> IntegerSystem:
    """A and b to the bounds' binary places, checked in clear by whoever holds them.

    Refuses what is not square, symmetric, finite, within bounds and positive definite.
    """
    left, right = _floats(matrix), _floats(vector)
    d = bounds.size
    if left.shape != (d, d) or right.shape != (d,):
        raise ParameterError(
            f"a system of {d} unknowns needs a {d} x {d} matrix and {d} right-hand sides, got "
            f"shapes {left.shape} and {right.shape}."
        )
    rounded = encode(left, bounds.fraction_bits)
    system = IntegerSystem(
        [[int(entry) for entry in row] for row in rounded],
        [int(entry) for entry in encode(right, bounds.fraction_bits)],
        bounds.fraction_bits,
    )
    check_system(system, bounds)
    return system


def check_system(system: IntegerSystem, bounds: PublicBounds) -> None:
    """Refuse a system that breaks its public bounds or is not positive definite."""
    matrix = system.matrix
    if any(len(row) != system.size for row in matrix) or len(matrix) != system.size:
        raise ParameterError("a system's matrix must be square, and fit its right-hand side.")
    if any(
        tuple(row) != column for row, column in zip(matrix, zip(*matrix, strict=True), strict=True)
    ):
        raise ParameterError("a system's matrix must be symmetric.")
    if not _keeps_bounds(system, bounds):
        raise ParameterError("a system must keep to its public bounds.")
    if not leading_minors_positive(matrix):
        raise ParameterError(
            "a system's matrix must be positive definite: raise the penalty or the binary places."
        )


def _keeps_bounds(system: IntegerSystem, bounds: PublicBounds) -> bool:
    entries = max(abs(entry) for row in system.matrix for entry in row)
    trace = sum(row[at] for at, row in enumerate(system.matrix))
    right = max(abs(entry) for entry in system.vector)
    return entries <= bounds.entry and trace <= bounds.trace and right <= bounds.right


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ParameterError("a system's numbers must be finite, got NaN or infinity.")
    return numbers


class ExactSolution(NamedTuple):
    """y = adj(A) b and det(A), so that theta = y / det(A)."""

    adjugate: list[int]
    determinant: int

    @property
    def theta(self) -> list[Fraction]:
        """The solution of A theta = b."""
        return [Fraction(y, self.determinant) for y in self.adjugate]


def solved_exactly(system: IntegerSystem) -> ExactSolution:
    """Solve in whole numbers by Bareiss's fraction-free elimination (1968).

    After step k every entry is a minor of [A | b] of order k+1, so all divisions are exact.
    """
    rows = [[*row, right] for row, right in zip(system.matrix, system.vector, strict=True)]
    size, last = len(rows), 1
    for at in range(size):
        pivot = rows[at][at]
        if pivot == 0:
            return ExactSolution([], 0)
        for other in range(size):
            if other != at:
                factor = rows[other][at]
                rows[other] = [
                    (pivot * x - factor * y) // last
                    for x, y in zip(rows[other], rows[at], strict=True)
                ]
        last = pivot
    return ExactSolution([row[size] for row in rows], last)
