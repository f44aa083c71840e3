"""The inverse of an encrypted positive definite matrix by Newton's iteration: S.INV.

    V <- V (2 I - A V),    V = I / t at first, with t at least the trace of A.

The eigenvalues of A V lie in (0, 1] from the start, and each step squares their distance from 1:
after k steps it is at most (1 - s / t)^(2^k) for A of smallest eigenvalue s. The number of steps
follows from the public bounds of s and t, so it tells nothing. V stays below the inverse of A,
which bounds its entries by 1 / s; those of A V are at most 1. A matrix that is not positive
definite, or has eigenvalues below s, breaks these bounds: then the numbers outgrow their masks, and
what comes out is wrong. Each product is rescaled to V's places, which costs one unit of the last
place; the iteration corrects what earlier steps lost.

This is the paper's way, and the reference that faster ones are checked against.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.shown import Outline, see, settled, show
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import scaled_bound
from sottovoce.learn.paillier.wire import encrypt
from sottovoce.learn.paper._products import (
    MATRIX,
    ProductPlan,
    answer_product,
    ask_product,
    multiplied,
    multiply,
    rescale,
    rescaled,
)
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.script import Script

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
        if len(self.matrix.shape) != 2 or len(set(self.matrix.shape)) != 1:  # noqa: PLR2004 - a square matrix
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
    def first(self) -> Floats:
        """The V to start from, I / t."""
        return np.eye(self.matrix.shape[0]) / self.trace_bound

    @property
    def doubled(self) -> Floats:
        """2 I."""
        return 2.0 * np.eye(self.matrix.shape[0])

    @property
    def result(self) -> Outline:
        """The outline of the inverse, and of every V on the way: its entries are at most 1 / s."""
        return self._outline(1 / self.smallest, self.fraction_bits)

    @property
    def unrounded(self) -> Outline:
        """The outline of V (2 I - A V) before it is rescaled."""
        return self._outline(1 / self.smallest, 2 * self.fraction_bits)

    @property
    def near_one(self) -> Outline:
        """The outline of A V before it is rescaled: its entries are at most 1."""
        return self._outline(1.0, self.matrix.fraction_bits + self.fraction_bits)

    @property
    def residual(self) -> Outline:
        """The outline of 2 I - A V."""
        return self._outline(2.0, self.fraction_bits)

    def _outline(self, magnitude: float, fraction_bits: int) -> Outline:
        bound = scaled_bound(_MARGIN * magnitude, fraction_bits)
        # Rescaling may add a unit of the last place.
        return Outline(self.matrix.shape, bound + 1, fraction_bits)


def ask_inverse(matrix: EncryptedArray, plan: InversePlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part of S.INV: V <- V (2 I - A V), from V = I / t."""
    shown = yield from show(matrix, plan.matrix)
    first = encrypt(plan.first, plan.result.plan(matrix.public.bits), matrix.public)
    inverse = yield from show(first, plan.result)
    for _ in range(plan.steps):
        product = yield from multiplied(shown, inverse, MATRIX)
        near_one = yield from rescaled(
            settled(product, plan.near_one), plan.near_one, plan.matrix.fraction_bits
        )
        residual = near_one.less_than(plan.doubled).settled(plan.residual)
        following = yield from multiplied(inverse, residual, MATRIX)
        inverse = (
            yield from rescaled(
                settled(following, plan.unrounded), plan.unrounded, plan.fraction_bits
            )
        ).settled(plan.result)
    return inverse.array


def answer_inverse(plan: InversePlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of S.INV."""
    seen = yield from see(plan.matrix, key)
    inverse = yield from see(plan.result, key)
    for _ in range(plan.steps):
        yield from multiply(seen, inverse, MATRIX, key)
        near_one = yield from rescale(plan.near_one, plan.matrix.fraction_bits, key)
        residual = near_one.less_than(plan.doubled).settled(plan.residual)
        yield from multiply(inverse, residual, MATRIX, key)
        inverse = (yield from rescale(plan.unrounded, plan.fraction_bits, key)).settled(plan.result)
    return plan.result


def ask_solution(
    matrix: EncryptedArray, column: EncryptedArray, of_column: Outline, plan: InversePlan
) -> Script[EncryptedArray]:
    """The ciphertext holder's part of the solution of A z = b, as the inverse times b."""
    inverse = yield from ask_inverse(matrix, plan)
    upright = replace(of_column, shape=(of_column.size, 1))
    product_plan = ProductPlan(plan.result, upright, MATRIX)
    product = yield from ask_product(inverse, column.reshape(-1, 1), product_plan)
    return product.reshape(-1)


def answer_solution(column: Outline, plan: InversePlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of the solution of A z = b."""
    inverse = yield from answer_inverse(plan, key)
    upright = replace(column, shape=(column.size, 1))
    product = yield from answer_product(inverse, upright, MATRIX, key)
    return replace(product, shape=(column.size,))
