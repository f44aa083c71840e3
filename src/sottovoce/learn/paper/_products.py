"""Products of two encrypted arrays: S.MULT, S.INNERPROD, S.OUTERPROD and S.MATPROD; and rescaling.

The three steps of Private Text Classification, section 2.3: the ciphertext holder masks both
arrays, the key holder multiplies what it opens and encrypts the product, and the ciphertext holder
takes out what the masks added:

    x y = (x + r)(y + s) - x s - r y - r s

where x s and r y are products of ciphertexts by numbers that it knows. All four products are this
formula, with the elementwise or the matrix product in it.

Products gain binary places. To lose s of them, the key holder sees x + r and rounds it down to
multiples of 2^s; the ciphertext holder takes floor(r / 2^s) out again:

    floor((x + r) / 2^s) - floor(r / 2^s)  is  floor(x / 2^s) or one more,

so that the result is within one unit of its last place of x / 2^s. An array that is packed, as sums
are, comes back unpacked in the same way, exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.arithmetic.shown import (
    Outline,
    Seen,
    Shown,
    check_outline,
    hear_reply,
    opened,
    received,
    reply,
    roomy_plan,
    see,
    settled,
    show,
    uniform,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import SlotPlan, SlotStage
from sottovoce.learn.paillier.wire import array_to_bytes
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import Hear, Say, Script

PRODUCT_LEAKAGE = Leakage(
    "secure products: S.MULT, S.INNERPROD, S.OUTERPROD, S.MATPROD",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts"),
        Learns("key holder", "shapes and bounds; numbers under masks, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)


@dataclass(frozen=True)
class Form:
    """A product, the shape it has, and how ciphertexts are multiplied by plain numbers in it."""

    name: str
    plain: Callable[[Any, Any], Any]
    shape: Callable[[tuple[int, ...], tuple[int, ...]], tuple[int, ...]]
    terms: Callable[[tuple[int, ...]], int]
    by_right: Callable[[EncryptedArray, Grid, int], EncryptedArray]
    by_left: Callable[[Grid, EncryptedArray, int], EncryptedArray]


def _matrix_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if len(left) != 2 or len(right) != 2 or left[1] != right[0]:  # noqa: PLR2004 - matrices
        raise ParameterError(f"shapes {left} and {right} do not fit a matrix product.")
    return left[0], right[1]


def _same_shape(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    if left != right:
        raise ParameterError(f"shapes {left} and {right} do not fit an elementwise product.")
    return left


ELEMENTWISE = Form(
    name="elementwise",
    plain=lambda left, right: left * right,
    shape=_same_shape,
    terms=lambda _: 1,
    by_right=lambda array, numbers, bound: array.times(numbers, bound=bound),
    by_left=lambda numbers, array, bound: array.times(numbers, bound=bound),
)
MATRIX = Form(
    name="matrix",
    plain=lambda left, right: left.dot(right),
    shape=_matrix_shape,
    terms=lambda left: left[1],
    by_right=lambda array, numbers, bound: array.combined(
        numbers, axis=-1, weight=bound * len(numbers)
    ),
    by_left=lambda numbers, array, bound: array.combined(numbers, weight=bound * len(array)),
)


@dataclass(frozen=True)
class ProductPlan:
    """The bounds of one product, known to both parties and proven before it begins."""

    left: Outline
    right: Outline
    form: Form

    def __post_init__(self) -> None:
        self.form.shape(self.left.shape, self.right.shape)

    @property
    def result(self) -> Outline:
        """The outline of the product."""
        bound = self._terms * self.left.bound * self.right.bound
        return Outline(self._shape, bound, self._fraction_bits)

    def reply_plan(self, key_bits: int) -> SlotPlan:
        """Room for the product of masked numbers, and for taking the masks out of it."""
        left, right = self.left, self.right
        product = left.masked_bound * right.masked_bound
        removed = left.bound * right.mask_bound + left.mask_bound * right.masked_bound
        stages = [self._terms * product, self._terms * (product + removed)]
        return roomy_plan(key_bits, *(SlotStage(bound, self._fraction_bits) for bound in stages))

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.form.shape(self.left.shape, self.right.shape)

    @property
    def _terms(self) -> int:
        return self.form.terms(self.left.shape)

    @property
    def _fraction_bits(self) -> int:
        return self.left.fraction_bits + self.right.fraction_bits


def multiplied(left: Shown, right: Shown, form: Form) -> Script[EncryptedArray]:
    """The ciphertext holder's part, after both arrays were shown.

    Private Text Classification, section 2.3: x y = (x + r)(y + s) - x s - r y - r s.
    """
    plan = ProductPlan(left.outline, right.outline, form)
    reply_plan = plan.reply_plan(left.array.public.bits)
    answer = yield hear_reply("product", left.array.public, reply_plan, plan.result.shape)
    known = form.plain(left.masks, right.masks)
    by_right = form.by_right(left.array, right.masks, plan.right.mask_bound)
    by_left = form.by_left(left.masks, right.array, plan.left.mask_bound)
    # Masks are integers at the scale of what they mask, which the crossed terms thereby have too.
    places = answer.fraction_bits
    removed = (
        answer - replace(by_right, fraction_bits=places) - replace(by_left, fraction_bits=places)
    )
    most = form.terms(plan.left.shape) * plan.left.mask_bound * plan.right.mask_bound
    return settled(removed.plus_integers(-known, bound=most), plan.result)


def multiply(left: Seen, right: Seen, form: Form, key: PrivateKey) -> Script[Outline]:
    """The key holder's part: the product of what it saw, encrypted."""
    plan = ProductPlan(left.outline, right.outline, form)
    product = np.asarray(form.plain(left.integers, right.integers), dtype=object)
    yield reply("product", product, plan.reply_plan(key.public.bits), key)
    return plan.result


def ask_product(
    left: EncryptedArray, right: EncryptedArray, plan: ProductPlan
) -> Script[EncryptedArray]:
    """The ciphertext holder's part of one product, under the outlines that both know.

    Those of the arrays themselves would not do: a bound may follow from private weights.
    """
    check_one_key(left, right)
    plan.reply_plan(left.public.bits)  # refused here if the key is too short for it
    shown = yield from show(left, plan.left)
    other = yield from show(right, plan.right)
    return (yield from multiplied(shown, other, plan.form))


def answer_product(left: Outline, right: Outline, form: Form, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of one product."""
    ProductPlan(left, right, form).reply_plan(key.public.bits)
    seen = yield from see(left, key)
    other = yield from see(right, key)
    return (yield from multiply(seen, other, form, key))


def ask_multiplication(
    left: EncryptedArray, right: EncryptedArray, of_left: Outline, of_right: Outline
) -> Script[EncryptedArray]:
    """Elementwise: S.MULT, the ciphertext holder's part."""
    return ask_product(left, right, ProductPlan(of_left, of_right, ELEMENTWISE))


def answer_multiplication(left: Outline, right: Outline, key: PrivateKey) -> Script[Outline]:
    """Elementwise: S.MULT, the key holder's part."""
    return answer_product(left, right, ELEMENTWISE, key)


def ask_matrix_product(
    left: EncryptedArray, right: EncryptedArray, of_left: Outline, of_right: Outline
) -> Script[EncryptedArray]:
    """S.MATPROD, the ciphertext holder's part."""
    return ask_product(left, right, ProductPlan(of_left, of_right, MATRIX))


def answer_matrix_product(left: Outline, right: Outline, key: PrivateKey) -> Script[Outline]:
    """S.MATPROD, the key holder's part."""
    return answer_product(left, right, MATRIX, key)


def ask_inner_product(
    left: EncryptedArray, right: EncryptedArray, of_left: Outline, of_right: Outline
) -> Script[EncryptedArray]:
    """S.INNERPROD, the ciphertext holder's part: a row times a column."""
    plan = _inner(of_left, of_right)
    product = yield from ask_product(left.reshape(1, -1), right.reshape(-1, 1), plan)
    return product.reshape()


def answer_inner_product(left: Outline, right: Outline, key: PrivateKey) -> Script[Outline]:
    """S.INNERPROD, the key holder's part."""
    plan = _inner(left, right)
    return replace((yield from answer_product(plan.left, plan.right, MATRIX, key)), shape=())


def ask_outer_product(
    left: EncryptedArray, right: EncryptedArray, of_left: Outline, of_right: Outline
) -> Script[EncryptedArray]:
    """S.OUTERPROD, the ciphertext holder's part: a column times a row."""
    plan = _outer(of_left, of_right)
    return ask_product(left.reshape(-1, 1), right.reshape(1, -1), plan)


def answer_outer_product(left: Outline, right: Outline, key: PrivateKey) -> Script[Outline]:
    """S.OUTERPROD, the key holder's part."""
    plan = _outer(left, right)
    return answer_product(plan.left, plan.right, MATRIX, key)


def _inner(left: Outline, right: Outline) -> ProductPlan:
    row, column = replace(left, shape=(1, left.size)), replace(right, shape=(right.size, 1))
    return ProductPlan(row, column, MATRIX)


def _outer(left: Outline, right: Outline) -> ProductPlan:
    column, row = replace(left, shape=(left.size, 1)), replace(right, shape=(1, right.size))
    return ProductPlan(column, row, MATRIX)


def check_one_key(*arrays: EncryptedArray) -> None:
    """Refuse arrays under several keys."""
    if any(array.public != arrays[0].public for array in arrays):
        raise InputError("arrays under two keys cannot be combined.")


RESCALING_LEAKAGE = Leakage(
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
        return roomy_plan(key_bits, *(SlotStage(bound, self._fraction_bits) for bound in stages))

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
    return roomy_plan(key_bits, *(SlotStage(bound, outline.fraction_bits) for bound in stages))
