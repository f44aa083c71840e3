"""Matrix products and inverses of packed matrices: S.MATPROD and S.INV with fewer ciphertexts.

To take x s and r y out of (x + r)(y + s), ciphertexts are combined with the masks as coefficients.
For packed arrays that is a product with whole rows at a time, if x is packed by columns and y by
rows; but then x s comes out packed by columns and r y by rows, and the two do not add up. So r y is
sent along under a mask t of its own, packed too, and the key holder takes it out:

    z = (x + r)(y + s) - (r y + t) = x y + x s + r s - t,

encrypted by columns, from which the ciphertext holder takes x s, and what it knows of r s - t. One
round trip as before, with as many times fewer ciphertexts as a plaintext has slots.

S.INV on packed matrices is the iteration of `_inverse` with packed products,

    V <- (2 I - V A) V

with A by rows, 2 I - V A by columns, and V both ways: the key holder, who opens what it rescales
under masks anyhow, encrypts V once by columns and once by rows.
"""

from dataclasses import dataclass, replace

from sottovoce.errors import ParameterError
from sottovoce.learn._arithmetic.shown import (
    Outline,
    check_outline,
    hear_reply,
    opened,
    received,
    reply,
    settled,
    uniform,
)
from sottovoce.learn._paillier._grid import Grid
from sottovoce.learn._paillier.array import EncryptedArray
from sottovoce.learn._paillier.keys import PrivateKey, PublicKey
from sottovoce.learn._paillier.packing import encode
from sottovoce.learn._paillier.slots import Program, SlotPlan, SlotStage, bits_for, plan_slots
from sottovoce.learn._paillier.wire import array_to_bytes, encrypt
from sottovoce.learn._wire.message import Message
from sottovoce.learn._wire.script import Hear, Say, Script
from sottovoce.learn.paper._inverse import InversePlan
from sottovoce.learn.paper._products import MATRIX, RescalingPlan


@dataclass(frozen=True)
class PackedProductPlan:
    """The bounds of a product of packed matrices.

    Attributes:
        left: the outline of x.
        right: the outline of y.
        slot_bits: the width of all slots; 0 for as narrow ones as this product allows.
    """

    left: Outline
    right: Outline
    slot_bits: int = 0

    def __post_init__(self) -> None:
        MATRIX.shape(self.left.shape, self.right.shape)
        width = self.slot_bits or self.needed_bits
        if width < self.needed_bits:
            raise ParameterError(
                f"this product needs slots of {self.needed_bits} bits, got {width}."
            )
        object.__setattr__(self, "slot_bits", width)

    def plans(self, key_bits: int) -> tuple[SlotPlan, SlotPlan]:
        """How x and y are to be encrypted: x by columns, y by rows."""
        outlines = (_turned(self.left), self.right)
        left, right = (packed_plan(each, self.slot_bits, key_bits) for each in outlines)
        return left, right

    @property
    def result(self) -> Outline:
        """The outline of x y."""
        return self._outline(self.left.bound * self.right.bound)

    @property
    def crossed(self) -> Outline:
        """The outline of r y."""
        return self._outline(self.left.mask_bound * self.right.bound)

    @property
    def known_bound(self) -> int:
        """The largest size of r s - t."""
        return self._terms * self.left.mask_bound * self.right.mask_bound + self.crossed.mask_bound

    @property
    def needed_bits(self) -> int:
        """How wide slots must be for every step."""
        return bits_for(max(*self._reply_bounds, self.crossed.masked_bound))

    def reply_plan(self, key_bits: int) -> SlotPlan:
        """Slots for z, and for taking x s and r s - t out of it."""
        places = self.result.fraction_bits
        program = Program(tuple(SlotStage(bound, places) for bound in self._reply_bounds))
        return plan_slots(program, key_bits=key_bits, slot_bits=self.slot_bits)

    @property
    def _reply_bounds(self) -> tuple[int, int]:
        products = self._terms * self.left.masked_bound * self.right.masked_bound
        product = products + self.crossed.masked_bound
        removed = self._terms * self.left.bound * self.right.mask_bound + self.known_bound
        return product, product + removed

    @property
    def _terms(self) -> int:
        return self.right.shape[0]

    def _outline(self, bound: int) -> Outline:
        places = self.left.fraction_bits + self.right.fraction_bits
        return Outline((self.left.shape[0], self.right.shape[1]), self._terms * bound, places)


def packed_plan(outline: Outline, slot_bits: int, key_bits: int) -> SlotPlan:
    """Slots of a given width for numbers and their masks."""
    program = Program((SlotStage(outline.bound, outline.fraction_bits),)).masked()
    return plan_slots(program, key_bits=key_bits, slot_bits=slot_bits)


def show_packed(array: EncryptedArray, outline: Outline) -> Script[Grid]:
    """Send packed numbers under masks; the masks."""
    masks = uniform(outline.shape, outline.mask_bound)
    masked = settled(array, outline).plus_integers(masks, bound=outline.mask_bound)
    yield Say("masked", {"array": array_to_bytes(_planned(masked, outline))})
    return masks


def see_packed(outline: Outline, slot_bits: int, key: PrivateKey) -> Script[Grid]:
    """Open packed numbers under masks."""
    seen: Grid = yield _hear_masked("masked", outline, slot_bits, key)
    return seen


def cross(masks: Grid, right_rows: EncryptedArray, plan: PackedProductPlan) -> Script[Grid]:
    """Send r y under a mask; the mask t."""
    weight = plan.left.mask_bound * len(right_rows)
    crossed = settled(right_rows.combined(masks, weight=weight), plan.crossed)
    blur = uniform(plan.crossed.shape, plan.crossed.mask_bound)
    masked = crossed.plus_integers(blur, bound=plan.crossed.mask_bound)
    yield Say("crossed", {"array": array_to_bytes(_planned(masked, plan.crossed))})
    return blur


def see_crossed(plan: PackedProductPlan, key: PrivateKey) -> Script[Grid]:
    """Open r y + t."""
    seen: Grid = yield _hear_masked("crossed", plan.crossed, plan.slot_bits, key)
    return seen


def multiplied_packed(
    left_columns: EncryptedArray, masks: tuple[Grid, Grid], blur: Grid, plan: PackedProductPlan
) -> Script[EncryptedArray]:
    """The ciphertext holder's part: x y by columns, x y = z - x s - (r s - t)."""
    left_masks, right_masks = masks
    public, shape = left_columns.public, plan.result.shape[::-1]
    answer = yield hear_reply("product", public, plan.reply_plan(public.bits), shape)
    weight = plan.right.mask_bound * len(left_columns)
    by_right = left_columns.combined(right_masks.T, weight=weight)
    known = (left_masks.dot(right_masks) - blur).T
    # Masks are integers at the scale of what they mask, which the crossed terms thereby have too.
    removed = answer - replace(by_right, fraction_bits=answer.fraction_bits)
    return settled(removed.plus_integers(-known, bound=plan.known_bound), _turned(plan.result))


def multiply_packed(
    left: Grid, right: Grid, crossed: Grid, plan: PackedProductPlan, key: PrivateKey
) -> Script[None]:
    """The key holder's part: z by columns, z = (x + r)(y + s) - (r y + t)."""
    columns = (left.dot(right) - crossed).T
    yield reply("product", columns, plan.reply_plan(key.public.bits), key)


def ask_packed_product(
    left_columns: EncryptedArray, right_rows: EncryptedArray, plan: PackedProductPlan
) -> Script[EncryptedArray]:
    """S.MATPROD, the ciphertext holder's part: x y by columns, for x by columns and y by rows."""
    check_packed(left_columns, _turned(plan.left), plan.slot_bits)
    check_packed(right_rows, plan.right, plan.slot_bits)
    masks = (yield from show_packed(left_columns, _turned(plan.left))).T
    right_masks = yield from show_packed(right_rows, plan.right)
    blur = yield from cross(masks, settled(right_rows, plan.right), plan)
    columns = settled(left_columns, _turned(plan.left))
    return (yield from multiplied_packed(columns, (masks, right_masks), blur, plan))


def answer_packed_product(plan: PackedProductPlan, key: PrivateKey) -> Script[Outline]:
    """S.MATPROD, the key holder's part."""
    left = (yield from see_packed(_turned(plan.left), plan.slot_bits, key)).T
    right = yield from see_packed(plan.right, plan.slot_bits, key)
    crossed = yield from see_crossed(plan, key)
    yield from multiply_packed(left, right, crossed, plan, key)
    return _turned(plan.result)


def check_packed(array: EncryptedArray, outline: Outline, slot_bits: int) -> None:
    """Refuse an array that is not as agreed on, or lies in other slots."""
    check_outline(array, outline)
    if array.plan.slot_bits != slot_bits:
        raise ParameterError(
            f"the array must be packed in slots of {slot_bits} bits, got {array.plan.slot_bits}; "
            "encrypt it with the plan's own slots."
        )


def _turned(outline: Outline) -> Outline:
    return Outline(outline.shape[::-1], outline.bound, outline.fraction_bits)


def _hear_masked(kind: str, outline: Outline, slot_bits: int, key: PrivateKey) -> Hear:
    plan = packed_plan(outline, slot_bits, key.public.bits)

    def read(message: Message) -> Grid:
        return opened(received(message, key.public, plan, outline.shape), key)

    return Hear(kind, read)


def _planned(array: EncryptedArray, outline: Outline) -> EncryptedArray:
    """An array under the plan of masked numbers that the key holder awaits."""
    plan = packed_plan(outline, array.plan.slot_bits, array.public.bits)
    return replace(array, plan=plan)


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
