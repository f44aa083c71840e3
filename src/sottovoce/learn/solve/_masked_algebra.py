"""One prime's part of the exact masked solve: C's mask, and what K makes of a system under it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sottovoce.learn.solve.field import (
    Matrix,
    Objects,
    Vector,
    random_invertible,
    random_public_prime,
    random_vector,
    solve_system,
)
from sottovoce.learn.solve.plan import WEIGHT_PARTS, SolvePlan


@dataclass(frozen=True)
class PrimeMask:
    """C's secrets for one prime; never printed."""

    prime: int
    matrix: Matrix = field(repr=False)
    vector: Vector = field(repr=False)
    factor: int = field(repr=False)

    @classmethod
    def draw(cls, plan: SolvePlan, known: Sequence[int]) -> "PrimeMask":
        """A prime that is not among the ``known`` ones, R and r for it, and e = det(R)^-1."""
        while (prime := random_public_prime(plan.prime_bits)) in known:
            pass
        matrix, determinant = random_invertible(plan.size, prime)
        factor = pow(int(determinant), -1, prime)
        return cls(prime, matrix, random_vector(plan.size, prime), factor)

    @property
    def exponents(self) -> Matrix:
        """The rows of R' and r: combining A's rows by them gives (A R)' and (A r)'."""
        return [[*column] for column in zip(*self.matrix, strict=True)] + [self.vector]

    def columns(self, *, determinant: bool) -> Matrix:
        """The columns of [eR | -er], and of [0 | e] below it for the determinant."""
        e, p = self.factor, self.prime
        scaled = [[e * entry % p for entry in column] for column in self.exponents]
        scaled[-1] = [-entry % p for entry in scaled[-1]]
        if not determinant:
            return scaled
        return [[*column, 0] for column in scaled[:-1]] + [[*scaled[-1], e]]


def weights_of(system: Objects, prime: int) -> Vector | None:
    """(det(M) w, det(M)) of an opened system, w = M^-1 c; None if the prime divides det(A)."""
    *transposed, right = [[int(entry) % prime for entry in row] for row in system]
    matrix = [[*row] for row in zip(*transposed, strict=True)]
    solution, determinant = solve_system(matrix, right, prime)
    if determinant == 0:
        return None
    return [determinant * entry % prime for entry in solution] + [determinant]


def weight_parts(weights: Vector, plan: SolvePlan) -> Matrix:
    """Each weight cut into parts of ``plan.part_bits`` bits, lowest first."""
    low = (1 << plan.part_bits) - 1
    return [
        [int(weight) >> (part * plan.part_bits) & low for weight in weights]
        for part in range(WEIGHT_PARTS)
    ]


def joined_parts(parts: Objects, plan: SolvePlan, prime: int) -> list[int]:
    """What products with `weight_parts` come to together, modulo the prime."""
    return [
        sum(int(each) << (at * plan.part_bits) for at, each in enumerate(column)) % prime
        for column in zip(*parts.tolist(), strict=True)
    ]
