"""S.INV on packed matrices: the same iteration as `inverse`, with packed products.

    V <- (2 I - V A) V

with A by rows, 2 I - V A by columns, and V both ways: the key holder, who opens what it rescales
under masks anyhow, encrypts V once by columns and once by rows.
"""

from dataclasses import dataclass

from sottovoce.learn.arithmetic.inverse import InversePlan
from sottovoce.learn.arithmetic.outline import Outline, settled
from sottovoce.learn.arithmetic.packed import (
    PackedProductPlan,
    check_packed,
    cross,
    multiplied_packed,
    multiply_packed,
    packed_plan,
    see_crossed,
    see_packed,
    show_packed,
)
from sottovoce.learn.arithmetic.rescaling import RescalingPlan
from sottovoce.learn.arithmetic.script import Say, Script
from sottovoce.learn.arithmetic.showing import hear_reply, reply
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    Program,
    PublicKey,
    SlotPlan,
    encrypt,
    plan_slots,
)
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.packing import encode


@dataclass(frozen=True)
class PackedInversePlan:
    """What both know of a packed inverse: the plan of `inverse`, and the slots it needs."""

    inverse: InversePlan

    @property
    def slot_bits(self) -> int:
        """The width of all slots."""
        return max(self._first().needed_bits, self._second().needed_bits)

    @property
    def times_matrix(self) -> PackedProductPlan:
        """The product V A."""
        return self._first(self.slot_bits)

    @property
    def times_inverse(self) -> PackedProductPlan:
        """The product (2 I - V A) V."""
        return self._second(self.slot_bits)

    @property
    def near_one(self) -> RescalingPlan:
        """From V A to fewer places."""
        return RescalingPlan(self.inverse.near_one, self.inverse.matrix.fraction_bits)

    @property
    def following(self) -> RescalingPlan:
        """From the next V to fewer places."""
        return RescalingPlan(self.inverse.unrounded, self.inverse.fraction_bits)

    def plan(self, outline: Outline, key_bits: int) -> SlotPlan:
        """Slots for numbers to be encrypted."""
        return packed_plan(outline, self.slot_bits, key_bits)

    def reply_plan(self, rescaling: RescalingPlan, key_bits: int) -> SlotPlan:
        """Slots for rescaled numbers under masks, and for taking these out."""
        stages = rescaling.reply_plan(key_bits).program.stages
        return plan_slots(Program(stages), key_bits=key_bits, slot_bits=self.slot_bits)

    def _first(self, slot_bits: int = 0) -> PackedProductPlan:
        return PackedProductPlan(self.inverse.result, self.inverse.matrix, slot_bits)

    def _second(self, slot_bits: int = 0) -> PackedProductPlan:
        return PackedProductPlan(self.inverse.residual, self.inverse.result, slot_bits)


@dataclass(frozen=True, eq=False, repr=False)
class _Inverse:
    """V by columns and by rows, and the masks under which the key holder saw it."""

    columns: EncryptedArray
    rows: EncryptedArray
    masks: Grid


def ask_packed_inverse(rows: EncryptedArray, plan: PackedInversePlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part of S.INV: the inverse by rows, of a matrix packed by rows."""
    check_packed(rows, plan.inverse.matrix, plan.slot_bits)
    public, matrix = rows.public, settled(rows, plan.inverse.matrix)
    matrix_masks = yield from show_packed(matrix, plan.inverse.matrix)
    first = encrypt(plan.inverse.first, plan.plan(plan.inverse.result, public.bits), public)
    masks = yield from show_packed(first, plan.inverse.result)
    inverse = _Inverse(first, first, masks)  # I / t is its own transpose
    for left in reversed(range(plan.inverse.steps)):
        if left == plan.inverse.steps - 1:
            blur = yield from cross(inverse.masks, matrix, plan.times_matrix)
        product = yield from multiplied_packed(
            inverse.columns, (inverse.masks, matrix_masks), blur, plan.times_matrix
        )
        following = yield from _ask_following(product, inverse, plan)
        shown = yield from show_packed(following, plan.following.given)
        masks = shown.T >> plan.following.dropped
        if left:  # sent before the answer is there, so that no round is lost
            blur = yield from cross(masks, matrix, plan.times_matrix)
        inverse = yield from _ask_both_ways(masks, plan, public)
    return inverse.rows


def _ask_following(
    product: EncryptedArray, inverse: _Inverse, plan: PackedInversePlan
) -> Script[EncryptedArray]:
    """(2 I - V A) V by columns, from V A by columns."""
    shown = yield from show_packed(product, plan.near_one.given)
    masks = shown.T >> plan.near_one.dropped
    blur = yield from cross(-masks, inverse.rows, plan.times_inverse)
    near_one = yield from _ask_rescaled(masks.T, plan.near_one, plan, product.public)
    residual = settled(plan.inverse.doubled - near_one, plan.inverse.residual)
    both = (-masks, inverse.masks)
    following = yield from multiplied_packed(residual, both, blur, plan.times_inverse)
    return settled(following, plan.following.given)


def _ask_both_ways(masks: Grid, plan: PackedInversePlan, public: PublicKey) -> Script[_Inverse]:
    columns = yield from _ask_rescaled(masks.T, plan.following, plan, public)
    rows = yield from _ask_rescaled(masks, plan.following, plan, public)
    result = plan.inverse.result
    return _Inverse(settled(columns, result), settled(rows, result), masks)


def _ask_rescaled(
    masks: Grid, rescaling: RescalingPlan, plan: PackedInversePlan, public: PublicKey
) -> Script[EncryptedArray]:
    reply_plan = plan.reply_plan(rescaling, public.bits)
    answer = yield hear_reply("rescaled", public, reply_plan, masks.shape)
    return settled(answer.plus_integers(-masks, bound=rescaling.mask_bound), rescaling.result)


def answer_packed_inverse(plan: PackedInversePlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of S.INV."""
    matrix = yield from see_packed(plan.inverse.matrix, plan.slot_bits, key)
    inverse = yield from see_packed(plan.inverse.result, plan.slot_bits, key)
    crossed = yield from see_crossed(plan.times_matrix, key)
    for left in reversed(range(plan.inverse.steps)):
        yield from multiply_packed(inverse, matrix, crossed, plan.times_matrix, key)
        yield from _answer_following(inverse, plan, key)
        inverse = yield from _see_rescaled(plan.following, plan, key)
        if left:
            crossed = yield from see_crossed(plan.times_matrix, key)
        yield _rescaled(inverse.T, plan.following, plan, key)
        yield _rescaled(inverse, plan.following, plan, key)
    return plan.inverse.result


def _answer_following(inverse: Grid, plan: PackedInversePlan, key: PrivateKey) -> Script[None]:
    near_one = yield from _see_rescaled(plan.near_one, plan, key)
    crossed = yield from see_crossed(plan.times_inverse, key)
    yield _rescaled(near_one.T, plan.near_one, plan, key)
    residual = encode(plan.inverse.doubled, plan.inverse.fraction_bits) - near_one
    yield from multiply_packed(residual, inverse, crossed, plan.times_inverse, key)


def _see_rescaled(
    rescaling: RescalingPlan, plan: PackedInversePlan, key: PrivateKey
) -> Script[Grid]:
    """What came by columns, rounded down."""
    columns = yield from see_packed(rescaling.given, plan.slot_bits, key)
    rounded: Grid = columns.T >> rescaling.dropped
    return rounded


def _rescaled(
    integers: Grid, rescaling: RescalingPlan, plan: PackedInversePlan, key: PrivateKey
) -> Say:
    return reply("rescaled", integers, plan.reply_plan(rescaling, key.public.bits), key)
