"""The inverse of an encrypted positive definite matrix by Newton's iteration: S.INV.

    V <- V (2 I - A V),    V = I / t at first, with t at least the trace of A.

The eigenvalues of A V lie in (0, 1] from the start, and each step squares their distance from 1:
after k steps it is at most (1 - s / t)^(2^k) for A of smallest eigenvalue s. The number of steps
follows from the public bounds of s and t, so it tells nothing. V stays below the inverse of A, which
bounds its entries by 1 / s; those of A V are at most 1. Each product is rescaled to V's places,
which costs one unit of the last place a number; the iteration corrects what earlier steps lost.

This is the paper's way, and the reference that faster ones are checked against.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.arithmetic.outline import Outline, settled
from sottovoce.learn.arithmetic.products import (
    MATRIX,
    answer_product,
    ask_product,
    multiplied,
    multiply,
)
from sottovoce.learn.arithmetic.rescaling import answer_rescaling, ask_rescaling
from sottovoce.learn.arithmetic.script import Script
from sottovoce.learn.arithmetic.showing import Seen, Shown, see, show
from sottovoce.learn.paillier import EncryptedArray, PrivateKey, encrypt
from sottovoce.learn.paillier.plan import scaled_bound
from sottovoce.learn.party import Leakage, Learns

LEAKAGE = Leakage(
    "secure inverse by Newton's iteration: S.INV",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts"),
        Learns("key holder", "the matrix's size, the bounds of its trace and smallest eigenvalue, "
               "and the number of steps, all public; numbers under masks, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)  # fmt: skip

# Rounding may carry V a little beyond the bounds that it has in exact arithmetic.
_MARGIN = 2.0


@dataclass(frozen=True)
class InversePlan:
    """What both know of an inverse.

    Attributes:
        matrix: the outline of A, symmetric and positive definite.
        trace_bound: at least A's trace.
        smallest: a positive number below every eigenvalue of A, such as the ridge's weight.
        fraction_bits: the binary places of the inverse.
        tolerance: the relative error that the iteration may leave; rounding comes on top.
    """

    matrix: Outline
    trace_bound: float
    smallest: float
    fraction_bits: int = 40
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        if len(self.matrix.shape) != 2 or len(set(self.matrix.shape)) != 1:  # noqa: PLR2004
            raise ParameterError(f"only square matrices have inverses, got {self.matrix.shape}.")
        if not 0 < self.smallest <= self.trace_bound < math.inf:
            raise ParameterError("the smallest eigenvalue must be > 0 and at most the trace.")
        if not 0 < self.tolerance < 1:
            raise ParameterError(f"tolerance must be between 0 and 1, got {self.tolerance}.")
        if 1 / self.trace_bound < 2.0**-self.fraction_bits:
            raise ParameterError("fraction_bits are too few to hold one over the trace.")

    @property
    def steps(self) -> int:
        """How many steps leave at most ``tolerance``: (1 - s / t)^(2^k) <= tolerance."""
        needed = math.log(1 / self.tolerance) * self.trace_bound / self.smallest
        return max(1, math.ceil(math.log2(needed)))

    @property
    def result(self) -> Outline:
        """The outline of the inverse, and of every V on the way."""
        bound = scaled_bound(_MARGIN / self.smallest, self.fraction_bits)
        return Outline(self.matrix.shape, bound, self.fraction_bits)

    @property
    def residual(self) -> Outline:
        """The outline of 2 I - A V."""
        bound = scaled_bound(_MARGIN * 2, self.fraction_bits)
        return Outline(self.matrix.shape, bound, self.fraction_bits)


def ask_inverse(matrix: EncryptedArray, plan: InversePlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part of S.INV: V <- V (2 I - A V), from V = I / t."""
    if matrix.shape != plan.matrix.shape:
        raise InputError(f"a matrix of shape {plan.matrix.shape} was agreed on.")
    size, public = len(matrix), matrix.public
    shown = yield from show(matrix, plan.matrix)
    first = np.eye(size) / plan.trace_bound
    inverse = encrypt(first, plan.result.plan(public.bits), public)
    for _ in range(plan.steps):
        inverse = yield from _ask_step(shown, inverse, plan)
    return inverse


def answer_inverse(plan: InversePlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of S.INV."""
    matrix = yield from see(plan.matrix, key)
    for _ in range(plan.steps):
        yield from _answer_step(matrix, plan, key)
    return plan.result


def _ask_step(matrix: Shown, inverse: EncryptedArray, plan: InversePlan) -> Script[EncryptedArray]:
    shown = yield from show(inverse, plan.result)
    product = yield from multiplied(matrix, shown, MATRIX)
    near_one = yield from ask_rescaling(product, plan.matrix.fraction_bits)
    residual = settled(2 * np.eye(len(inverse)) - near_one, plan.residual)
    other = yield from show(residual, plan.residual)
    following = yield from multiplied(shown, other, MATRIX)
    rescaled = yield from ask_rescaling(following, plan.fraction_bits)
    return settled(rescaled, plan.result)


def _answer_step(matrix: Seen, plan: InversePlan, key: PrivateKey) -> Script[None]:
    seen = yield from see(plan.result, key)
    product = yield from multiply(matrix, seen, MATRIX, key)
    yield from answer_rescaling(product, plan.matrix.fraction_bits, key)
    other = yield from see(plan.residual, key)
    following = yield from multiply(seen, other, MATRIX, key)
    yield from answer_rescaling(following, plan.fraction_bits, key)


def ask_solution(
    matrix: EncryptedArray, column: EncryptedArray, plan: InversePlan
) -> Script[EncryptedArray]:
    """The ciphertext holder's part of the solution of A z = b, as the inverse times b."""
    inverse = yield from ask_inverse(matrix, plan)
    product = yield from ask_product(inverse, column.reshape(-1, 1), MATRIX)
    return product.reshape(-1)


def answer_solution(column: Outline, plan: InversePlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of the solution of A z = b."""
    inverse = yield from answer_inverse(plan, key)
    upright = replace(column, shape=(column.size, 1))
    product = yield from answer_product(inverse, upright, MATRIX, key)
    return replace(product, shape=(column.size,))
