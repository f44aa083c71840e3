"""Random powers of one base by table: the comb of Lim and Lee (CRYPTO 1994).

An exponent is laid out as ``rows`` x ``columns`` x ``turns`` bits, the rows far apart. One entry of
a column's table is the product over a subset of the rows, so a power costs rows-fold fewer
products than it has bits, and ``turns`` - 1 squarings.

The modulus is the square of a ``root``, and entries are kept split (see `Split`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.numbers import gmpy2, spread
from sottovoce.learn.paillier.split import ONE, Split, joined, split
from sottovoce.privacy.randomness import random_words

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
        return joined(power, total, root)
