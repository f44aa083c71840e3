"""Numbers to integers, integers to slots of plaintexts, and back; and ciphertexts split in two.

A plaintext is the sum of v_j 2^(w j) over its slots j, with v_j of either sign, taken modulo n.

A number modulo the square of a root is `Split` into a factor u below the root and a shift s, being
u (1 + root s): to multiply by u costs little more than half of a product of two numbers modulo
root^2, and shifts add up, since (1 + root s)(1 + root t) = 1 + root (s + t). A running product
takes in the units one by one and the sum of the shifts once, at its end.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError
from sottovoce.learn.paillier.grid import as_grid, gmpy2
from sottovoce.learn.paillier.slots import SlotPlan

# Machine integers where they fit, else Python's in an array of objects.
Integers: TypeAlias = NDArray[Any]
_EXACT_BITS = 62


def encode(values: ArrayLike, fraction_bits: int) -> Integers:
    """The nearest multiples of 2^-``fraction_bits``, as the integers before that factor."""
    given = np.asarray(values)
    if given.dtype.kind in "iub":
        return _shifted(given, fraction_bits)
    if given.dtype.kind == "f":
        return _rounded(given.astype(np.float64), fraction_bits)
    if given.dtype.kind == "O":
        # Not by numpy's shift, which makes a plain number of an array without axes.
        shifted = [int(each) << fraction_bits for each in as_integers(given).ravel()]
        return as_grid(shifted, given.shape)
    raise InputError(f"values must be numbers, got an array of {given.dtype}.")


def decode(integers: Integers, fraction_bits: int) -> NDArray[np.float64]:
    """The numbers that ``integers`` stand for, to the nearest double."""
    if integers.dtype != object:
        return np.ldexp(integers.astype(np.float64), -fraction_bits)
    unit = 1 << fraction_bits
    numbers = [int(each) / unit for each in integers.ravel()]
    return np.array(numbers, dtype=np.float64).reshape(integers.shape)


def as_integers(values: ArrayLike) -> Integers:
    """``values`` as an array of whole numbers, or a refusal."""
    given = np.asarray(values)
    if given.dtype.kind in "iu":
        return given
    if given.dtype.kind == "b":
        return given.astype(np.int64)
    if given.dtype == object and all(_is_whole(each) for each in given.ravel()):
        return given
    raise InputError(f"values must be whole numbers, got an array of {given.dtype}.")


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer, type(gmpy2.mpz())))


def largest(integers: Integers) -> int:
    """The largest size of ``integers``."""
    if integers.size == 0:
        return 0
    return int(max(int(integers.max()), -int(integers.min())))


def _shifted(given: Integers, fraction_bits: int) -> Integers:
    integers = as_integers(given)
    if largest(integers).bit_length() + fraction_bits <= _EXACT_BITS:
        return integers.astype(np.int64) << np.int64(fraction_bits)
    return as_grid([int(each) << fraction_bits for each in integers.ravel()], integers.shape)


def _rounded(given: NDArray[np.float64], fraction_bits: int) -> Integers:
    if not np.isfinite(given).all():
        raise InputError("values must be finite, got NaN or infinity.")
    scaled = np.rint(np.ldexp(given, fraction_bits))
    if not np.isfinite(scaled).all():
        raise InputError("values are too large for their slots.")
    if np.abs(scaled).max(initial=0) < 1 << _EXACT_BITS:
        return scaled.astype(np.int64)
    return as_grid([int(each) for each in scaled.ravel()], given.shape)


def check_size(integers: Integers, bound: int) -> None:
    """Refuse integers beyond ``bound``, without saying which they are."""
    if largest(integers) > bound:
        raise InputError(
            f"values are too large for their slots: integers of {bound.bit_length()} bits were "
            f"planned, got one of {largest(integers).bit_length()}."
        )


def pack(integers: Integers, plan: SlotPlan) -> NDArray[np.object_]:
    """Plaintexts: one for each integer, or for each ``plan.slots`` along the last axis."""
    if plan.slots == 1:
        return as_grid([gmpy2.mpz(int(each)) for each in integers.ravel()], integers.shape)
    *lead, length = integers.shape
    rows = integers.reshape(-1, length).tolist()
    packed = [
        _packed(row[at : at + plan.slots], plan) for row in rows for at in _starts(length, plan)
    ]
    return as_grid(packed, (*lead, blocks(length, plan)))


def unpack(plaintexts: Sequence[int], length: int, plan: SlotPlan) -> list[int]:
    """The integers of the rows of ``length`` slots that ``plaintexts`` (of either sign) hold."""
    if plan.slots == 1:
        return [int(each) for each in plaintexts]
    per_row = blocks(length, plan)
    found: list[int] = []
    for row in range(len(plaintexts) // per_row):
        parts = [_unpacked(each, plan) for each in plaintexts[row * per_row : (row + 1) * per_row]]
        found += [value for part in parts for value in part][:length]
    return found


def blocks(length: int, plan: SlotPlan) -> int:
    """How many plaintexts hold ``length`` slots."""
    return -(-length // plan.slots)


def _starts(length: int, plan: SlotPlan) -> range:
    return range(0, length, plan.slots)


def _packed(values: list[int], plan: SlotPlan) -> int:
    half = 1 << (plan.slot_bits - 1)
    raised = gmpy2.pack([gmpy2.mpz(value + half) for value in values], plan.slot_bits)
    return int(raised) - _halves(len(values), plan.slot_bits)


def _unpacked(plaintext: int, plan: SlotPlan) -> list[int]:
    width, half = plan.slot_bits, 1 << (plan.slot_bits - 1)
    raised = plaintext + _halves(plan.slots, width)
    if raised < 0 or raised.bit_length() > plan.slots * width:
        raise InputError("a decrypted plaintext is outside its slots: its sender broke the plan.")
    slots = gmpy2.unpack(gmpy2.mpz(raised), width)
    return [int(slot) - half for slot in slots] + [-half] * (plan.slots - len(slots))


def _halves(count: int, width: int) -> int:
    """Half a slot's range in each of ``count`` slots."""
    return ((1 << (count * width)) - 1) // ((1 << width) - 1) << (width - 1)


class Split(NamedTuple):
    """A number as unit (1 + root shift), with its unit's inverse modulo the root."""

    unit: int
    shift: int
    inverse: int

    def times(self, other: "Split", root: int) -> "Split":
        """The product of two numbers."""
        carry, unit = gmpy2.f_divmod(self.unit * other.unit, root)
        inverse = self.inverse * other.inverse % root
        return Split(unit, (self.shift + other.shift + carry * inverse) % root, inverse)

    def inverted(self, root: int) -> "Split":
        """The inverse: where u v = 1 + root k, that of u is v (1 - root k)."""
        carry = self.unit * self.inverse // root
        return Split(self.inverse, -(carry + self.shift) % root, self.unit)


ONE = Split(gmpy2.mpz(1), gmpy2.mpz(0), gmpy2.mpz(1))


def split(number: int, root: int) -> Split:
    """``number`` modulo root^2, split."""
    high, unit = gmpy2.f_divmod(number, root)
    inverse = gmpy2.invert(unit, root)
    return Split(unit, high * inverse % root, inverse)


def joined(unit: int, shift: int, root: int) -> int:
    """The number unit (1 + root shift) modulo root^2."""
    number: int = (unit + unit * shift % root * root) % (root * root)
    return number
