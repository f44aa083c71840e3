"""Slots, masks and mixed rows that the hidden solves have in common.

A number v modulo p travels as v + p rho under Paillier, where |v| <= q p for a public quotient q;
rho is uniform in a range 2^64 times as wide as v's quotients, so that only v mod p is seen.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier import EncryptedArray, Program, SlotPlan, plan_slots
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.plan import SLACK_BITS, Stage, mask_bound, most_slots
from sottovoce.learn.solve.combs import combined
from sottovoce.learn.solve.field import Matrix
from sottovoce.privacy.randomness import random_below

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
    stages = [Stage(bound, 0) for bound in first]
    stages += [Stage(quotient << bits, 0), Stage(masked_bound(quotient, bits), 0)]
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
        combined(columns[:, block].tolist(), rows, bits, array.public.n)
        for block in range(columns.shape[1])
    ]
    numbers = [number for row in zip(*found, strict=True) for number in row]
    return as_grid(numbers, (len(rows), columns.shape[1]))


def computed(like: EncryptedArray, grid: Objects, plan: SlotPlan, bound: int) -> EncryptedArray:
    """Ciphertexts that were computed outside `EncryptedArray`, as one, not blinded."""
    return EncryptedArray(like.public, plan, grid, like.length, bound, 0)
