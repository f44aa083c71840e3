"""Many products of powers of the same few bases: combs over the bases instead of over one base.

The bases are put into groups, and the exponents' bits are cut into ``columns`` stretches. A table
holds, for one group and one stretch, the products over all subsets of the group; one product then
takes in one bit of every exponent of the group, and stretches share their squarings (Lim and Lee,
CRYPTO 1994, with Straus's interleaving across bases instead of one base's rows).

Entries are kept split (see `paillier.grid.Split`), so that a product costs little more than
half.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.grid import ONE, Split, gmpy2, join_split, split, spread

Digits = NDArray[np.intp]
_MOST_IN_GROUP = 13
_MOST_COLUMNS = 8
# In products of a full number by a table's unit modulo n^2: measured at 2048 and 3072 bits.
_SQUARING, _ENTRY = 1.5, 2.4


class CombPlan(NamedTuple):
    """How bases and bits are grouped, and what it costs in products by a unit."""

    groups: int
    columns: int
    turns: int
    cost: float


@cache
def plan_combs(bases: int, rows: int, bits: int) -> CombPlan:
    """The cheapest shape for ``rows`` products of ``bases`` powers with ``bits``-bit exponents."""
    fewest = -(-bases // _MOST_IN_GROUP)
    shapes = [
        _plan_shape(bases, rows, bits, groups, columns)
        for groups in range(fewest, bases + 1)
        for columns in range(1, min(_MOST_COLUMNS, bits) + 1)
    ]
    return min(shapes, key=lambda shape: shape.cost)


def _plan_shape(bases: int, rows: int, bits: int, groups: int, columns: int) -> CombPlan:
    turns = -(-bits // columns)
    entries = columns * sum(1 << size for size in _group_sizes(bases, groups))
    raised = bases * (columns - 1) * turns * _SQUARING
    per_row = turns * (columns * groups + _SQUARING)
    return CombPlan(groups, columns, turns, raised + entries * _ENTRY + rows * per_row)


def _group_sizes(bases: int, groups: int) -> list[int]:
    return [bases * (at + 1) // groups - bases * at // groups for at in range(groups)]


class Combs:
    """Tables of some bases modulo n^2, for any number of rows of exponents."""

    def __init__(self, bases: Sequence[int], n: int, plan: CombPlan) -> None:
        self._n, self._modulus, self._plan = gmpy2.mpz(n), gmpy2.mpz(n) ** 2, plan
        self._sizes = _group_sizes(len(bases), plan.groups)
        self._units: list[int] = []
        self._shifts: list[int] = []
        self._starts: list[int] = []
        raised = list(bases)
        for column in range(plan.columns):
            if column:
                raised = gmpy2.powmod_base_list(raised, 1 << plan.turns, self._modulus)
            self._add_tables(raised)

    def combinations(self, rows: Sequence[Sequence[int]]) -> list[int]:
        """For each row of exponents the product of the bases to them."""
        return spread(self._combinations, self._digits(rows), fewest=1)

    def _add_tables(self, bases: Sequence[int]) -> None:
        entries = [split(base, self._n) for base in bases]
        begin = 0
        for size in self._sizes:
            table = _subset_products(entries[begin : begin + size], self._n)
            self._starts.append(len(self._units))
            self._units += [entry.unit for entry in table]
            self._shifts += [entry.shift for entry in table]
            begin += size

    def _digits(self, rows: Sequence[Sequence[int]]) -> list[list[list[int]]]:
        """For each row and turn, highest first, the entries that it takes of all tables."""
        columns, turns = self._plan.columns, self._plan.turns
        bits = _bits(rows, columns * turns).reshape(len(rows), -1, columns, turns)
        cuts = np.cumsum([0, *self._sizes])
        by_column = [
            _indices(bits[:, begin:end, column])
            for column in range(columns)
            for begin, end in pairwise(cuts)
        ]
        entries = np.stack(by_column, axis=-1)[:, ::-1] + np.array(self._starts)
        digits: list[list[list[int]]] = entries.tolist()
        return digits

    def _combinations(self, rows: Sequence[list[list[int]]]) -> list[int]:
        return [self._combination(row) for row in rows]

    def _combination(self, turns: list[list[int]]) -> int:
        n, modulus, units = self._n, self._modulus, self._units
        shift = self._shifts.__getitem__
        power, total = ONE.unit, ONE.shift
        for turn in turns:
            power = power * power % modulus
            for entry in turn:
                power = power * units[entry] % modulus
            total = 2 * total + sum(map(shift, turn))
        return join_split(power, total % n, n)


def combine_powers(
    bases: Sequence[int], rows: Sequence[Sequence[int]], bits: int, n: int
) -> list[int]:
    """For each row of ``bits``-bit exponents the product of the bases to them, modulo n^2."""
    return Combs(bases, n, plan_combs(len(bases), len(rows), bits)).combinations(rows)


def _subset_products(entries: Sequence[Split], n: int) -> list[Split]:
    """The products over all subsets: entry i has the factors of i's set bits."""
    table = [ONE]
    for entry in entries:
        table += [entry.times(other, n) for other in table]
    return table


def _bits(rows: Sequence[Sequence[int]], count: int) -> NDArray[np.uint8]:
    """Bit j of each exponent, lowest first; refuses exponents that are longer."""
    size = (count + 7) // 8
    data = b"".join(int(exponent).to_bytes(size, "little") for row in rows for exponent in row)
    packed = np.frombuffer(data, np.uint8).reshape(-1, size)
    unpacked = np.unpackbits(packed, axis=1, bitorder="little")
    if unpacked[:, count:].any():
        raise OverflowError("an exponent is longer than the tables")
    return unpacked[:, :count].reshape(len(rows), -1, count)


def _indices(bits: NDArray[np.uint8]) -> Digits:
    """From rows x bases x turns of bits the table entry of each row and turn."""
    weights = 1 << np.arange(bits.shape[1])
    found: Digits = np.tensordot(bits.astype(np.intp), weights, axes=(1, 0))
    return found
