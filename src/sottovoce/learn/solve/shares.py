"""Additive shares modulo a public number, and opening them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.paillier.numbers import gmpy2
from sottovoce.learn.party import CorruptShareError, DamagedMessageError


@dataclass(frozen=True)
class Share:
    """One party's summand of hidden integers, modulo ``modulus``.

    Attributes:
        modulus: public; more than twice as large as any hidden integer.
        values: uniform residues, worth nothing without the other's; never printed.
        determinant: the last of the values is det(A)'s.
        fraction_bits: the binary places of the hidden numbers.
    """

    modulus: int
    values: tuple[int, ...] = field(repr=False)
    determinant: bool = False
    fraction_bits: int = 0

    def times(self, weights: Sequence[int]) -> int:
        """The share of the weighted sum: y'x from y, without asking anybody."""
        solution = self.values[: len(self.values) - self.determinant]
        if len(weights) != len(solution):
            raise ParameterError(f"{len(solution)} weights are needed, got {len(weights)}.")
        return sum(int(x) * y for x, y in zip(weights, solution, strict=True)) % self.modulus


def joined(residues: Sequence[Sequence[int]], primes: Sequence[int]) -> tuple[int, list[int]]:
    """Residues modulo each prime to residues modulo their product (Chinese remainders)."""
    modulus = math.prod(primes)
    parts = [modulus // prime for prime in primes]
    lifts = [
        part * int(gmpy2.invert(part, prime)) for part, prime in zip(parts, primes, strict=True)
    ]
    columns = zip(*residues, strict=True)
    found = [
        sum(int(residue) * lift for residue, lift in zip(column, lifts, strict=True)) % modulus
        for column in columns
    ]
    return int(modulus), found


def centred(residue: int, modulus: int) -> int:
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
    return [centred(total, modulus) for total in sums]


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


def residues_to_bytes(residues: Sequence[int], modulus: int) -> bytes:
    """Residues one after the other, each as long as the modulus."""
    size = _bytes_of(modulus)
    return b"".join(int(residue).to_bytes(size, "little") for residue in residues)


def residues_from_bytes(data: bytes, count: int, modulus: int) -> list[int]:
    """What `residues_to_bytes` made, checked."""
    size = _bytes_of(modulus)
    if len(data) != count * size:
        raise DamagedMessageError(f"{count} residues must take {count * size} bytes.")
    found = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    if any(residue >= modulus for residue in found):
        raise DamagedMessageError("residues must be below their modulus.")
    return found


def _bytes_of(modulus: int) -> int:
    return (modulus.bit_length() + 7) // 8
