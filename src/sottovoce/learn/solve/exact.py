"""The plain solve of the same integers, exact: what the hidden ones are checked by."""

from fractions import Fraction
from typing import NamedTuple

from sottovoce.learn.solve.system import IntegerSystem


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
