"""What both parties know of an encrypted array: its shape, its bound and its scale."""

import math
from dataclasses import dataclass, replace

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier import EncryptedArray, Program, SlotPlan, Stage, plan_slots
from sottovoce.learn.paillier.plan import mask_bound, scaled_bound


@dataclass(frozen=True)
class Outline:
    """The public facts of an encrypted array.

    Attributes:
        shape: of the numbers.
        bound: the largest size of their integers.
        fraction_bits: their binary places.
    """

    shape: tuple[int, ...]
    bound: int
    fraction_bits: int = 0

    @classmethod
    def of(cls, array: EncryptedArray) -> "Outline":
        """The outline of an array that is there."""
        return cls(array.shape, array.bound, array.fraction_bits)

    @classmethod
    def of_numbers(
        cls, shape: tuple[int, ...], magnitude: float, fraction_bits: int = 0
    ) -> "Outline":
        """The outline of numbers of at most ``magnitude``."""
        return cls(shape, scaled_bound(magnitude, fraction_bits), fraction_bits)

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    @property
    def magnitude(self) -> float:
        """The largest size of a number."""
        return self.bound / (1 << self.fraction_bits)

    @property
    def mask_bound(self) -> int:
        """Masks that hide these numbers but for a chance of 2^-64 are uniform below this."""
        return mask_bound(self.bound)

    @property
    def masked_bound(self) -> int:
        """The largest size of a number with its mask."""
        return self.bound + self.mask_bound

    def plan(self, key_bits: int) -> SlotPlan:
        """Numbers that have a plaintext each, with all its room for what is done to them."""
        return roomy_plan(key_bits, Stage(self.bound, self.fraction_bits))


def roomy_plan(key_bits: int, *stages: Stage) -> SlotPlan:
    """One number for each plaintext, as wide as the key allows; refused if a stage is wider."""
    program = Program(stages)
    plan_slots(program, key_bits=key_bits, packed=False)
    return SlotPlan(key_bits, key_bits - 1, 1, program)


def roomy(array: EncryptedArray) -> EncryptedArray:
    """An unpacked array with all the room of its plaintexts."""
    if array.packed:
        raise ParameterError(
            "secure products need a ciphertext for each number; unpack the array first."
        )
    return replace(array, plan=Outline.of(array).plan(array.public.bits))


def settled(array: EncryptedArray, outline: Outline) -> EncryptedArray:
    """``array`` under an outline that a protocol has proven of its numbers, its slots as they are.

    The homomorphic steps before it only know how large the masked numbers could be.
    """
    plan = replace(array.plan, program=Program((Stage(outline.bound, outline.fraction_bits),)))
    return replace(array, plan=plan, bound=outline.bound, fraction_bits=outline.fraction_bits)


def check_outline(array: EncryptedArray, outline: Outline) -> None:
    """Refuse an array that is not what both parties agreed on."""
    if array.shape != outline.shape or array.fraction_bits != outline.fraction_bits:
        raise InputError(
            f"an array of shape {outline.shape} with {outline.fraction_bits} binary places was "
            f"agreed on, got shape {array.shape} with {array.fraction_bits}."
        )
    if array.bound > outline.bound:
        raise InputError(
            f"numbers of at most {outline.bound.bit_length()} bits were agreed on, got a bound of "
            f"{array.bound.bit_length()}."
        )
