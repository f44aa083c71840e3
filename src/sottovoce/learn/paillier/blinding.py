"""Blinding factors: random n-th powers modulo n^2, from tables that grow with their use.

The tables are the comb of Lim and Lee (CRYPTO 1994), for random powers of one base. An exponent is
laid out as ``rows`` x ``columns`` x ``turns`` bits, the rows far apart. One entry of a column's
table is the product over a subset of the rows, so a power costs rows-fold fewer products than it
has bits, and ``turns`` - 1 squarings. The modulus is the square of a ``root``, and entries are kept
split (see `packing.Split`).
"""

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.grid import ONE, Split, gmpy2, join_split, powers, split, spread
from sottovoce.privacy.randomness import random_below, random_words

Digits = NDArray[np.uint16]


class CombShape(NamedTuple):
    """How the bits of an exponent are laid out."""

    rows: int
    columns: int
    turns: int

    @property
    def bits(self) -> int:
        """How many bits an exponent has."""
        return self.rows * self.columns * self.turns

    def random_digits(self, count: int) -> Digits:
        """The table entries of ``count`` uniform exponents of `bits` bits.

        Where all bits of an exponent are uniform, so are all digits of all columns and turns: they
        are drawn as they are used, and the exponent itself never exists.
        """
        return random_words((count, self.turns, self.columns), self.rows)


def comb_shape(bits: int, rows: int, turns: int) -> CombShape:
    """The shape for exponents of ``bits`` bits or a few more, in at most so many turns."""
    columns = -(-bits // (rows * turns))
    return CombShape(rows, columns, -(-bits // (rows * columns)))


class Comb:
    """The powers of ``base`` modulo the square of ``root``."""

    def __init__(self, base: int, root: int, shape: CombShape) -> None:
        self.shape = shape
        self._root: int = gmpy2.mpz(root)
        self._modulus: int = self._root * self._root
        columns = [self._table(steps) for steps in self._steps(base)]
        self._units = [[entry.unit for entry in column] for column in columns]
        self._shifts = [[entry.shift for entry in column] for column in columns]

    def powers(self, digits: Digits) -> list[int]:
        """The power of each exponent, given by its digits."""
        return spread(self._powers, digits.tolist(), fewest=2)

    def _steps(self, base: int) -> list[list[int]]:
        """For each column the powers that its rows stand for."""
        rows, columns, turns = self.shape
        power, steps = base % self._modulus, []
        for _ in range(rows * columns):
            steps.append(power)
            power = gmpy2.powmod(power, 1 << turns, self._modulus)
        return [steps[column::columns] for column in range(columns)]

    def _table(self, steps: list[int]) -> list[Split]:
        """The products over all subsets of ``steps``."""
        table = [ONE]
        for step in steps:
            factor = split(step, self._root)
            table += [entry.times(factor, self._root) for entry in table]
        return table

    def _powers(self, exponents: Sequence[list[list[int]]]) -> list[int]:
        return [self._power(exponent) for exponent in exponents]

    def _power(self, exponent: list[list[int]]) -> int:
        root, modulus = self._root, self._modulus
        power: int = gmpy2.mpz(1)
        total: int = gmpy2.mpz(0)
        for turn in exponent:
            power = power * power % modulus
            total += total
            for units, shifts, digit in zip(self._units, self._shifts, turn, strict=True):
                power = power * units[digit] % modulus
                total += shifts[digit]
        return join_split(power, total, root)


# Rows and turns of the tables, and how many factors pay for building the larger ones: measured, 1
# and 7 MB at 2048 bits, 2.4 and 16 MB at 3072.
_SMALL = (8, 16)
_LARGE = (10, 8)
_WORTH_LARGE = 700


def exponent_bits(key_bits: int) -> int:
    """The least length of r: half the modulus's, as Damgard, Jurik and Nielsen propose."""
    return (key_bits + 1) // 2


class PublicBlinding:
    """Blinding factors for whoever knows only the public key."""

    def __init__(self, base: int, n: int) -> None:
        self._n, self._n_squared = n, n * n
        self._combs = _GrowingCombs([(base, n)], n.bit_length())

    def factors(self, count: int) -> list[int]:
        """``count`` fresh blinding factors."""
        combs = self._combs.for_use(count)
        return combs[0].powers(combs[0].shape.random_digits(count))

    def full_factors(self, count: int) -> list[int]:
        """``count`` uniform n-th powers among those of Jacobi symbol +1, as ciphertexts are."""
        return powers([self._unit() for _ in range(count)], self._n, self._n_squared)

    def _unit(self) -> int:
        """A uniform number of Jacobi symbol +1: its n-th power, n odd, has the same symbol.

        Others would make ciphertexts that every receiver refuses (see `check_ciphertexts`).
        """
        while gmpy2.jacobi(unit := random_below(int(self._n)), self._n) != 1:
            pass
        return unit


class OwnerBlinding:
    """Blinding factors for the key's owner, who computes modulo p^2 and q^2.

    Both use the same exponent. Two exponents would make half of the ciphertexts of Jacobi symbol
    -1, which blinding by others could not hide (see `check_ciphertexts`).
    """

    def __init__(self, base: int, p: int, q: int) -> None:
        self._p_squared, self._q_squared = p * p, q * q
        self._inverse: int = gmpy2.invert(self._q_squared, self._p_squared)
        self._combs = _GrowingCombs([(base, p), (base, q)], (p * q).bit_length())

    def factors(self, count: int) -> list[int]:
        """``count`` fresh blinding factors."""
        combs = self._combs.for_use(count)
        digits = combs[0].shape.random_digits(count)
        at_p, at_q = (comb.powers(digits) for comb in combs)
        return [self._combine(*pair) for pair in zip(at_p, at_q, strict=True)]

    def _combine(self, at_p: int, at_q: int) -> int:
        lift = (at_p - at_q) * self._inverse % self._p_squared
        return at_q + self._q_squared * lift


class _GrowingCombs:
    """Small tables first; larger ones once enough factors were drawn to pay for them."""

    def __init__(self, bases: list[tuple[int, int]], key_bits: int) -> None:
        self._bases = bases
        self._bits = exponent_bits(key_bits)
        self._combs: list[Comb] = []
        self._drawn = 0
        self._lock = Lock()

    def for_use(self, count: int) -> list[Comb]:
        with self._lock:
            self._drawn += count
            shape = comb_shape(self._bits, *(_LARGE if self._drawn > _WORTH_LARGE else _SMALL))
            if not self._combs or self._combs[0].shape != shape:
                self._combs = self._build_combs(shape)
            return self._combs

    def _build_combs(self, shape: CombShape) -> list[Comb]:
        return [Comb(base, root, shape) for base, root in self._bases]
