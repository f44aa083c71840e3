"""Linear algebra modulo a prime, and the slots and masks of residues that hidden solves share.

A number v modulo p travels as v + p rho under Paillier, where |v| <= q p for a public quotient q;
rho is uniform in a range 2^64 times as wide as v's quotients, so that only v mod p is seen.

`Combs` are many products of powers of the same few bases: combs over the bases instead of over one
base. The bases are put into groups, and the exponents' bits are cut into ``columns`` stretches. A
table holds, for one group and one stretch, the products over all subsets of the group; one product
then takes in one bit of every exponent of the group, and stretches share their squarings (Lim and
Lee, CRYPTO 1994, with Straus's interleaving across bases instead of one base's rows). Entries are
kept split (see `paillier.grid.Split`), so that a product costs little more than half.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import ONE, Split, as_grid, gmpy2, join_split, split, spread
from sottovoce.learn.paillier.keys import is_prime
from sottovoce.learn.paillier.slots import (
    SLACK_BITS,
    Program,
    SlotPlan,
    SlotStage,
    mask_bound,
    most_slots,
    plan_slots,
)
from sottovoce.privacy.randomness import random_below, random_bits

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


Vector: TypeAlias = list[int]
Matrix: TypeAlias = list[list[int]]

# Primes start with this many ones: nearly as large as their bits allow, and still too many to name.
_LEADING_ONES = 4
_SMALLEST_BITS = 8


def smallest_public_prime(bits: int) -> int:
    """A bound below which no public prime of ``bits`` bits lies."""
    return ((1 << _LEADING_ONES) - 1) << (bits - _LEADING_ONES)


def random_public_prime(bits: int) -> int:
    """A prime of ``bits`` bits that begins with four ones."""
    high = smallest_public_prime(bits)
    while not is_prime(candidate := random_bits(bits) | high | 1):
        pass
    return candidate


def is_public_prime(number: int, bits: int) -> bool:
    """Whether ``number`` could have been drawn by `random_public_prime`."""
    ones = number >> max(bits - _LEADING_ONES, 0) == (1 << _LEADING_ONES) - 1
    return bits >= _SMALLEST_BITS and ones and is_prime(number)


def random_vector(size: int, prime: int) -> Vector:
    """Uniform residues."""
    return [gmpy2.mpz(random_below(prime)) for _ in range(size)]


def random_matrix(rows: int, columns: int, prime: int) -> Matrix:
    """A matrix of uniform residues."""
    return [random_vector(columns, prime) for _ in range(rows)]


def random_invertible(size: int, prime: int) -> tuple[Matrix, int]:
    """A uniform member of GL(size, prime) and its determinant, by rejection."""
    while True:
        matrix = random_matrix(size, size, prime)
        _, determinant = solve_system(matrix, [], prime)
        if determinant:
            return matrix, determinant


def solve_system(matrix: Matrix, vector: Vector, prime: int) -> tuple[Vector, int]:
    """The solution w of matrix w = vector, and the matrix's determinant; ([], 0) if singular.

    Without a vector only the determinant is worked out. Gauss's elimination; any entry but zero
    serves as pivot, as nothing is rounded.
    """
    rows = [[*row, *vector[at : at + 1]] for at, row in enumerate(matrix)]
    determinant: int = gmpy2.mpz(1)
    for at in range(len(rows)):
        pivot = next((row for row in range(at, len(rows)) if rows[row][at]), None)
        if pivot is None:
            return [], 0
        if pivot != at:
            rows[at], rows[pivot] = rows[pivot], rows[at]
            determinant = -determinant
        determinant = determinant * rows[at][at] % prime
        _eliminate(rows, at, prime)
    return (_substitute_back(rows, prime) if vector else []), determinant % prime


def _eliminate(rows: Matrix, at: int, prime: int) -> None:
    """Make the pivot of row ``at`` 1 and clear the column below it."""
    inverse = gmpy2.invert(rows[at][at], prime)
    tail = [entry * inverse % prime for entry in rows[at][at:]]
    rows[at][at:] = tail
    for row in rows[at + 1 :]:
        if factor := row[at]:
            row[at:] = [(x - factor * y) % prime for x, y in zip(row[at:], tail, strict=True)]


def _substitute_back(rows: Matrix, prime: int) -> Vector:
    size = len(rows)
    solution: Vector = [0] * size
    for at in range(size - 1, -1, -1):
        row = rows[at]
        known = _dot(row[at + 1 : size], solution[at + 1 :])
        solution[at] = (row[size] - known) % prime
    return solution


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum((x * y for x, y in zip(left, right, strict=True)), 0)


Objects: TypeAlias = NDArray[Any]


def mask_half_range(quotient: int) -> int:
    """The h such that a uniform rho from -h to h-1 hides any quotient of that size.

    It has 2h >= (2q + 1) 2^64 values, so two quotients differ by a chance of 2^-64.
    """
    return mask_bound(quotient, SLACK_BITS) // 2 + 1


def masked_bound(quotient: int, bits: int) -> int:
    """The largest size of a number of that quotient, masked, with a residue added to it."""
    return (quotient + mask_half_range(quotient) + 1) << bits


def masked_slots(first: tuple[int, ...], quotient: int, bits: int, key_bits: int) -> SlotPlan:
    """Slots that start with numbers of at most ``first`` and end with masked ones."""
    stages = [SlotStage(bound, 0) for bound in first]
    stages += [SlotStage(quotient << bits, 0), SlotStage(masked_bound(quotient, bits), 0)]
    return plan_slots(Program(tuple(stages)), key_bits=key_bits)


def fits_key(quotient: int, bits: int, key_bits: int) -> bool:
    """Whether a key holds at least one such slot."""
    return most_slots(key_bits, masked_bound(quotient, bits).bit_length() + 1) >= 1


def multiple_masks(shape: tuple[int, ...], modulus: int, quotient: int) -> Objects:
    """Uniform multiples of the modulus that hide a quotient of that size."""
    half = mask_half_range(quotient)
    drawn = [modulus * (random_below(2 * half) - half) for _ in range(int(np.prod(shape)))]
    return as_grid(drawn, shape)


def mixed_rows(array: EncryptedArray, rows: Matrix, bits: int) -> Objects:
    """Ciphertexts of rows @ array, for residues of at most ``bits`` bits, not yet blinded."""
    columns = array.ciphertexts
    found = [
        combine_powers(columns[:, block].tolist(), rows, bits, array.public.n)
        for block in range(columns.shape[1])
    ]
    numbers = [number for row in zip(*found, strict=True) for number in row]
    return as_grid(numbers, (len(rows), columns.shape[1]))


def as_array(like: EncryptedArray, grid: Objects, plan: SlotPlan, bound: int) -> EncryptedArray:
    """Ciphertexts that were computed outside `EncryptedArray`, as one, not blinded."""
    return EncryptedArray(like.public, plan, grid, like.length, bound, 0)
