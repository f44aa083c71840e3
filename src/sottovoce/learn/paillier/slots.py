"""How wide a slot must be, proven before anything is encrypted.

A `Program` says what will be done to the numbers in a slot: how large they start, how many are
added, by what they are multiplied, how they are masked. Each step's bound follows from the last in
exact integers, so the largest one is the width that no run of the program can exceed. Numbers then
go to integers, integers to slots of plaintexts, and back: a plaintext is the sum of v_j 2^(w j)
over its slots j, with v_j of either sign, taken modulo n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.grid import as_grid, gmpy2

# Masks hide a value but for a chance of 2^-slack; never less, in benches neither.
SLACK_BITS = 64
_MOST_FRACTION_BITS = 1024


class SlotStage(NamedTuple):
    """A point of a program: the largest size of a slot's integer, and its scale."""

    bound: int
    fraction_bits: int


@dataclass(frozen=True)
class Program:
    """What slots will go through, as the bounds after each step."""

    stages: tuple[SlotStage, ...]

    @classmethod
    def start(cls, magnitude: float, fraction_bits: int = 0) -> "Program":
        """Start with numbers of at most ``magnitude``, kept to ``fraction_bits`` binary places."""
        check_fraction_bits(fraction_bits)
        return cls((SlotStage(scaled_bound(magnitude, fraction_bits), fraction_bits),))

    @classmethod
    def of_bits(cls, bits: int) -> "Program":
        """Start with integers of at most ``bits`` bits and a sign."""
        return cls((SlotStage((1 << _at_least_one(bits, "bits")) - 1, 0),))

    @property
    def last(self) -> SlotStage:
        """Where the program stands."""
        return self.stages[-1]

    @property
    def bound(self) -> int:
        """The largest size any slot reaches at any step."""
        return max(stage.bound for stage in self.stages)

    def add_up(self, count: int) -> "Program":
        """Then add up ``count`` such numbers."""
        return self._then(self.last.bound * _at_least_one(count, "count"))

    def scale(self, magnitude: float, fraction_bits: int = 0) -> "Program":
        """Then multiply by a public or private scalar of at most ``magnitude``."""
        check_fraction_bits(fraction_bits)
        factor = scaled_bound(magnitude, fraction_bits)
        return self._then(self.last.bound * factor, fraction_bits)

    def mask(self, slack_bits: int = SLACK_BITS) -> "Program":
        """Then add a mask that hides the number but for a chance of 2^-``slack_bits``."""
        return self._then(self.last.bound + mask_bound(self.last.bound, slack_bits))

    def _then(self, bound: int, more_fraction_bits: int = 0) -> "Program":
        stage = SlotStage(bound, self.last.fraction_bits + more_fraction_bits)
        return replace(self, stages=(*self.stages, stage))


@dataclass(frozen=True)
class SlotPlan:
    """How numbers lie in a plaintext: the width and number of slots, and the program they serve."""

    key_bits: int
    slot_bits: int
    slots: int
    program: Program

    def __post_init__(self) -> None:
        if self.program.bound > self.capacity:
            raise ParameterError(
                f"the program needs slots of {bits_for(self.program.bound)} bits, got "
                f"{self.slot_bits}; widen the slots, or add, scale or mask less."
            )
        if not 1 <= self.slots <= most_slots(self.key_bits, self.slot_bits):
            raise ParameterError(
                f"a key of {self.key_bits} bits holds {most_slots(self.key_bits, self.slot_bits)} "
                f"slots of {self.slot_bits} bits, got {self.slots}."
            )

    @property
    def capacity(self) -> int:
        """The largest size of an integer that a slot holds, of either sign."""
        return (1 << (self.slot_bits - 1)) - 1

    @property
    def value_bound(self) -> int:
        """The largest size of an integer that may be encrypted."""
        return self.program.stages[0].bound

    @property
    def fraction_bits(self) -> int:
        """The binary places of freshly encrypted numbers."""
        return self.program.stages[0].fraction_bits

    def public_bound(self, bound: int) -> int:
        """The least bound of the program's steps that covers ``bound``, else the capacity.

        What travels with a ciphertext is a step of the public plan, not a bound that was worked
        out from private scalars.
        """
        fitting = [stage.bound for stage in self.program.stages if stage.bound >= bound]
        return min(fitting, default=self.capacity)


def plan_slots(
    program: Program, *, key_bits: int, slot_bits: int | None = None, packed: bool = True
) -> SlotPlan:
    """Slots for ``program``: by default as narrow as is safe, and as many as the key holds.

    Unpacked, one number has a plaintext to itself, and may be multiplied by a scalar of its own.
    """
    width = bits_for(program.bound) if slot_bits is None else slot_bits
    most = most_slots(key_bits, width)
    if most < 1:
        raise ParameterError(
            f"the program needs slots of {width} bits, more than a key of {key_bits} bits holds; "
            f"use fewer fraction bits or a longer key."
        )
    return SlotPlan(key_bits, width, most if packed else 1, program)


def bits_for(bound: int) -> int:
    """The width of a slot for integers from -``bound`` to ``bound``."""
    return bound.bit_length() + 1


def most_slots(key_bits: int, slot_bits: int) -> int:
    """How many slots fit: together they must stay below half the modulus, of either sign."""
    if slot_bits < 2:  # noqa: PLR2004 - a sign and a bit
        raise ParameterError(f"a slot must have at least 2 bits, got {slot_bits}.")
    return (key_bits - 1) // slot_bits


def mask_bound(bound: int, slack_bits: int = SLACK_BITS) -> int:
    """How large a uniform mask must be to hide integers from -``bound`` to ``bound``."""
    if slack_bits < SLACK_BITS:
        raise ParameterError(f"a mask's slack must be >= {SLACK_BITS} bits, got {slack_bits}.")
    return (2 * bound + 1) << slack_bits


def scaled_bound(magnitude: float, fraction_bits: int) -> int:
    """The largest integer that a number of at most ``magnitude`` is rounded to."""
    if not (math.isfinite(magnitude) and magnitude > 0):
        raise ParameterError("a magnitude must be finite and > 0.")
    return math.ceil(Fraction(magnitude) * (1 << fraction_bits))


def check_fraction_bits(fraction_bits: int) -> None:
    """Refuse a scale that no slot could hold."""
    if not 0 <= fraction_bits <= _MOST_FRACTION_BITS:
        raise ParameterError(
            f"fraction_bits must be from 0 to {_MOST_FRACTION_BITS}, got {fraction_bits}."
        )


def _at_least_one(number: int, name: str) -> int:
    if number < 1:
        raise ParameterError(f"{name} must be >= 1, got {number}.")
    return number


# Machine integers where they fit, else Python's in an array of objects.
Integers: TypeAlias = NDArray[Any]
_EXACT_BITS = 62


def encode(values: ArrayLike, fraction_bits: int) -> Integers:
    """The nearest multiples of 2^-``fraction_bits``, as the integers before that factor."""
    given = np.asarray(values)
    if given.dtype.kind in "iub":
        return _shift_integers(given, fraction_bits)
    if given.dtype.kind == "f":
        return _round_numbers(given.astype(np.float64), fraction_bits)
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


def _shift_integers(given: Integers, fraction_bits: int) -> Integers:
    integers = as_integers(given)
    if largest(integers).bit_length() + fraction_bits <= _EXACT_BITS:
        return integers.astype(np.int64) << np.int64(fraction_bits)
    return as_grid([int(each) << fraction_bits for each in integers.ravel()], integers.shape)


def _round_numbers(given: NDArray[np.float64], fraction_bits: int) -> Integers:
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
        _pack_row(row[at : at + plan.slots], plan) for row in rows for at in _starts(length, plan)
    ]
    return as_grid(packed, (*lead, blocks(length, plan)))


def unpack(plaintexts: Sequence[int], length: int, plan: SlotPlan) -> list[int]:
    """The integers of the rows of ``length`` slots that ``plaintexts`` (of either sign) hold."""
    if plan.slots == 1:
        return [int(each) for each in plaintexts]
    per_row = blocks(length, plan)
    found: list[int] = []
    for row in range(len(plaintexts) // per_row):
        parts = [
            _unpack_row(each, plan) for each in plaintexts[row * per_row : (row + 1) * per_row]
        ]
        found += [value for part in parts for value in part][:length]
    return found


def blocks(length: int, plan: SlotPlan) -> int:
    """How many plaintexts hold ``length`` slots."""
    return -(-length // plan.slots)


def _starts(length: int, plan: SlotPlan) -> range:
    return range(0, length, plan.slots)


def _pack_row(values: list[int], plan: SlotPlan) -> int:
    half = 1 << (plan.slot_bits - 1)
    raised = gmpy2.pack([gmpy2.mpz(value + half) for value in values], plan.slot_bits)
    return int(raised) - _halves(len(values), plan.slot_bits)


def _unpack_row(plaintext: int, plan: SlotPlan) -> list[int]:
    width, half = plan.slot_bits, 1 << (plan.slot_bits - 1)
    raised = plaintext + _halves(plan.slots, width)
    if raised < 0 or raised.bit_length() > plan.slots * width:
        raise InputError("a decrypted plaintext is outside its slots: its sender broke the plan.")
    slots = gmpy2.unpack(gmpy2.mpz(raised), width)
    return [int(slot) - half for slot in slots] + [-half] * (plan.slots - len(slots))


def _halves(count: int, width: int) -> int:
    """Half a slot's range in each of ``count`` slots."""
    return ((1 << (count * width)) - 1) // ((1 << width) - 1) << (width - 1)
