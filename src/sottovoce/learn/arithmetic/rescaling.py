"""Fewer binary places, and other layouts: what the key holder does to masked numbers unseen.

Products gain binary places. To lose s of them, the key holder sees x + r and rounds it down to
multiples of 2^s; the ciphertext holder takes floor(r / 2^s) out again:

    floor((x + r) / 2^s) - floor(r / 2^s)  is  floor(x / 2^s) or one more,

so that the result is within one unit of its last place of x / 2^s. An array that is packed, as sums
are, comes back unpacked in the same way, exactly.
"""

from dataclasses import dataclass, replace

from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.outline import Outline, check_outline, roomy_plan, settled
from sottovoce.learn.arithmetic.script import Hear, Say, Script
from sottovoce.learn.arithmetic.showing import (
    Seen,
    Shown,
    hear_reply,
    opened,
    received,
    reply,
    see,
    show,
    uniform,
)
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    SlotPlan,
    Stage,
    array_to_bytes,
)
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.party import Leakage, Learns, Message

LEAKAGE = Leakage(
    "rescaling and unpacking",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts"),
        Learns("key holder", "shapes and bounds; numbers under masks, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)


@dataclass(frozen=True)
class RescalingPlan:
    """The bounds of one rescaling, known to both parties.

    Attributes:
        given: the outline of the numbers.
        dropped: how many binary places they lose.
    """

    given: Outline
    dropped: int

    def __post_init__(self) -> None:
        if not 0 < self.dropped <= self.given.fraction_bits:
            raise ParameterError(
                f"from 1 to {self.given.fraction_bits} binary places can be dropped, "
                f"got {self.dropped}."
            )

    @property
    def result(self) -> Outline:
        """The outline of the rescaled numbers."""
        bound = (self.given.bound >> self.dropped) + 1
        return replace(self.given, bound=bound, fraction_bits=self._fraction_bits)

    def reply_plan(self, key_bits: int) -> SlotPlan:
        """Room for masked numbers, and for taking the masks out."""
        seen = (self.given.masked_bound >> self.dropped) + 1
        stages = (seen, seen + self.mask_bound)
        return roomy_plan(key_bits, *(Stage(bound, self._fraction_bits) for bound in stages))

    @property
    def mask_bound(self) -> int:
        """The largest size of a rescaled mask."""
        return self.given.mask_bound >> self.dropped

    @property
    def _fraction_bits(self) -> int:
        return self.given.fraction_bits - self.dropped


def rescaled(array: EncryptedArray, given: Outline, dropped: int) -> Script[Shown]:
    """The ciphertext holder's part: ``array`` with fewer binary places.

    The key holder has then seen the result under what is left of the masks, so that products can
    follow without showing it again.
    """
    plan = RescalingPlan(given, dropped)
    reply_plan = plan.reply_plan(array.public.bits)
    shown = yield from show(array, plan.given)
    answer = yield hear_reply("rescaled", array.public, reply_plan, array.shape)
    masks = shown.masks >> dropped
    return Shown(settled(answer.plus_integers(-masks, bound=plan.mask_bound), plan.result), masks)


def rescale(given: Outline, dropped: int, key: PrivateKey) -> Script[Seen]:
    """The key holder's part: rounds what it sees down, and encrypts it."""
    plan = RescalingPlan(given, dropped)
    seen = yield from see(given, key)
    rounded = seen.integers >> dropped
    yield reply("rescaled", rounded, plan.reply_plan(key.public.bits), key)
    return Seen(rounded, plan.result)


def ask_rescaling(array: EncryptedArray, given: Outline, dropped: int) -> Script[EncryptedArray]:
    """The ciphertext holder's part, for who needs the result only."""
    return (yield from rescaled(array, given, dropped)).array


def answer_rescaling(given: Outline, dropped: int, key: PrivateKey) -> Script[Outline]:
    """The key holder's part, for who needs the result's outline only."""
    return (yield from rescale(given, dropped, key)).outline


def ask_unpacking(array: EncryptedArray, outline: Outline) -> Script[EncryptedArray]:
    """The ciphertext holder's part: a packed array with a ciphertext for each number.

    Its slots must have been planned for a mask (`Program.masked`).
    """
    check_outline(array, outline)
    masks = uniform(outline.shape, outline.mask_bound)
    masked = array.widened(outline.bound).plus_integers(masks, bound=outline.mask_bound)
    yield Say("packed", {"array": array_to_bytes(masked)})
    plan = _unpacking_plan(outline, array.public.bits)
    answer = yield hear_reply("unpacked", array.public, plan, array.shape)
    return settled(answer.plus_integers(-masks, bound=outline.mask_bound), outline)


def answer_unpacking(outline: Outline, packed: SlotPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part: opens packed masked numbers and encrypts them one by one."""

    def read(message: Message) -> Grid:
        return opened(received(message, key.public, packed, outline.shape), key)

    integers = yield Hear("packed", read)
    yield reply("unpacked", integers, _unpacking_plan(outline, key.public.bits), key)
    return outline


def _unpacking_plan(outline: Outline, key_bits: int) -> SlotPlan:
    stages = (outline.masked_bound, outline.masked_bound + outline.mask_bound)
    return roomy_plan(key_bits, *(Stage(bound, outline.fraction_bits) for bound in stages))
