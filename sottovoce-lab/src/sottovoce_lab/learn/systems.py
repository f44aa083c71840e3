"""A theta = b in clear: what hidden solves are checked by, and both of their shares opened.

Whether A is positive definite is checked without rounding. A system that is not square, symmetric,
finite, in bounds and positive definite is refused (`ParameterError`); no message holds a number of
the system.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import CorruptShareError, ParameterError
from sottovoce.learn.modes.hidden_solve import HiddenSolve
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PublicKey
from sottovoce.learn.paillier.slots import Integers, SlotPlan, encode
from sottovoce.learn.paillier.wire import encrypt_integers
from sottovoce.learn.solve.plan import PublicBounds, Share


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


def centre_residue(residue: int, modulus: int) -> int:
    """The representative of either sign that is smallest in size."""
    return residue - modulus if 2 * residue > modulus else residue


def opened_integers(own: Share, other: Share) -> list[int]:
    """The hidden integers, from both shares."""
    if (own.modulus, len(own.values), own.determinant, own.fraction_bits) != (
        other.modulus,
        len(other.values),
        other.determinant,
        other.fraction_bits,
    ):
        raise CorruptShareError("two shares must come from one solve, got two kinds.")
    modulus = own.modulus
    sums = [(x + y) % modulus for x, y in zip(own.values, other.values, strict=True)]
    return [centre_residue(total, modulus) for total in sums]


def opened_fractions(own: Share, other: Share) -> list[Fraction]:
    """Theta exactly: y / det(A), or fixed-point numbers as they are."""
    integers = opened_integers(own, other)
    if not own.determinant:
        if own.fraction_bits == 0:
            raise ParameterError(
                "theta needs shares of det(A): plan the solve with determinant=True; without it "
                "only its direction is known."
            )
        return [Fraction(integer, 1 << own.fraction_bits) for integer in integers]
    *solution, determinant = integers
    if determinant <= 0:
        raise CorruptShareError("shares must open to a positive determinant.")
    return [Fraction(entry, determinant) for entry in solution]


def opened_theta(own: Share, other: Share) -> Floats:
    """Theta to the nearest doubles."""
    return np.array([float(entry) for entry in opened_fractions(own, other)])


def summed_system(solve: HiddenSolve, matrix: Integers, vector: Integers) -> IntegerSystem:
    """The peers' summed integers with lambda added: what is solved, to the last bit."""
    left = (matrix + solve.ridge()).tolist()
    return IntegerSystem(
        [[int(entry) for entry in row] for row in left],
        [int(entry) for entry in vector],
        solve.recipe.fraction_bits,
    )
