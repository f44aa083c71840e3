"""How the key holder comes to see masked numbers, and nothing else.

What both parties know of an encrypted array is its `Outline`: its shape, its bound B and its scale.
The ciphertext holder adds a uniform mask r from [0, 2^64 (2 B + 1)) to each x of at most B.
Whatever x is, x + r has the same distribution but for a distance of 2^-64. Numbers travel packed:
the holder shifts ciphertexts into slots first, so that few of them are sent and opened.
"""

import math
from dataclasses import dataclass, replace

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.modes.comparison import (
    gather_slots,
    open_integers,
    read_array,
    roomy_plan,
    uniform,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import (
    Program,
    SlotPlan,
    SlotStage,
    mask_bound,
    plan_slots,
    scaled_bound,
)
from sottovoce.learn.paillier.wire import array_to_bytes
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Hear, PairScript, Say


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
    def of_array(cls, array: EncryptedArray) -> "Outline":
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
        return roomy_plan(key_bits, SlotStage(self.bound, self.fraction_bits))


def give_room(array: EncryptedArray) -> EncryptedArray:
    """An unpacked array with all of a plaintext for each number: products need the room."""
    if array.is_packed:
        raise ParameterError(
            "secure products need a ciphertext for each number; unpack the array first."
        )
    return replace(array, plan=Outline.of_array(array).plan(array.public.bits))


def settle(array: EncryptedArray, outline: Outline) -> EncryptedArray:
    """``array`` under an outline that a protocol has proven of its numbers, its slots as they are.

    The homomorphic steps before it only know how large the masked numbers could be.
    """
    plan = replace(array.plan, program=Program((SlotStage(outline.bound, outline.fraction_bits),)))
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


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """The ciphertext holder's side of numbers that were shown under masks."""

    array: EncryptedArray
    masks: Grid

    @property
    def outline(self) -> Outline:
        """What both know of the numbers."""
        return Outline.of_array(self.array)

    @property
    def T(self) -> "Shown":  # noqa: N802 - numpy's name
        """The axes in reverse order."""
        return Shown(self.array.T, self.masks.T)

    def settle(self, outline: Outline) -> "Shown":
        """The same numbers under an outline that was proven of them."""
        return Shown(settle(self.array, outline), self.masks)


@dataclass(frozen=True, eq=False, repr=False)
class Seen:
    """The key holder's side: masked integers, and what both know of them."""

    integers: Grid
    outline: Outline

    @property
    def T(self) -> "Seen":  # noqa: N802 - numpy's name
        """The axes in reverse order."""
        return Seen(self.integers.T, replace(self.outline, shape=self.outline.shape[::-1]))

    def settle(self, outline: Outline) -> "Seen":
        """The same numbers under an outline that was proven of them."""
        return Seen(self.integers, outline)


def show(array: EncryptedArray, outline: Outline) -> PairScript[Shown]:
    """The ciphertext holder's step: mask the numbers and send them packed."""
    check_outline(array, outline)
    given = give_room(array.widen(outline.bound))
    masks = uniform(outline.shape, outline.mask_bound)
    plan = transit_plan(outline, array.public.bits)
    masked = gather_slots(given, plan).plus_integers(masks.ravel(), bound=outline.mask_bound)
    yield Say("masked", {"array": array_to_bytes(masked)})
    return Shown(given, masks)


def see(outline: Outline, key: PrivateKey) -> PairScript[Seen]:
    """The key holder's step: open the masked numbers."""
    plan = transit_plan(outline, key.public.bits)

    def read(message: Message) -> Grid:
        array = read_array(message, key.public, plan, (outline.size,))
        return open_integers(array, key).reshape(outline.shape)

    integers = yield Hear("masked", read)
    return Seen(integers, outline)


def transit_plan(outline: Outline, key_bits: int) -> SlotPlan:
    """Packed slots for numbers with their masks."""
    program = Program((SlotStage(outline.bound, outline.fraction_bits),)).mask()
    return plan_slots(program, key_bits=key_bits)
