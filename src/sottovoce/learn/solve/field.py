"""Linear algebra modulo a prime, and the slots and masks of residues that hidden solves share.

A number v modulo p travels as v + p rho under Paillier, where |v| <= q p for a public quotient q;
rho is uniform in a range 2^64 times as wide as v's quotients, so that only v mod p is seen.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid, gmpy2
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
from sottovoce.learn.solve.combs import combine_powers
from sottovoce.privacy.randomness import random_below, random_bits

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
