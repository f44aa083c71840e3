"""The logarithm of encrypted positive numbers: S.LOG, by Newton's iteration on S.EXP.

    y <- y - 1 + x e^-y,    y = ln h at first, for x between public bounds l and h.

From the right of ln x every step stays there: a distance e becomes e - 1 + e^-e, which is less by
almost 1 while e is large and at most e^2 / 2 near the end. So ceil(ln(h / l)) steps bring it below
1, and a few more square it away; their number is public.

Error: the iteration ends within 2^-f of its fixed point, and that within about two units of the
last place of ln x, whatever the earlier steps lost; x's own rounding comes on top, relative to l.
"""

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.exponential import (
    ExponentialPlan,
    exponentiate,
    exponentiated,
)
from sottovoce.learn.arithmetic.outline import Outline, settled
from sottovoce.learn.arithmetic.products import ELEMENTWISE, multiplied, multiply
from sottovoce.learn.arithmetic.rescaling import answer_rescaling, ask_rescaling
from sottovoce.learn.arithmetic.script import Script
from sottovoce.learn.arithmetic.showing import see, show
from sottovoce.learn.paillier import EncryptedArray, PrivateKey, encrypt
from sottovoce.learn.party import Leakage, Learns

LEAKAGE = Leakage(
    "secure logarithm: S.LOG",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts"),
        Learns("key holder", "shapes, bounds and the number of steps, all public; numbers under "
               "masks, and the tests of bitwise comparisons, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)  # fmt: skip

_ROUNDING = 2.0**-8  # how far beyond its exact bounds rounding could carry y


@dataclass(frozen=True)
class LogarithmPlan:
    """What both know of a batch of logarithms.

    Attributes:
        given: the outline of the numbers.
        smallest: l, a positive number that none of them is below.
        fraction_bits: the binary places of the logarithms.
    """

    given: Outline
    smallest: float
    fraction_bits: int

    def __post_init__(self) -> None:
        if not 0 < self.smallest <= self.largest:
            raise ParameterError("the smallest number must be > 0 and at most the bound.")

    @property
    def largest(self) -> float:
        """h, a number that none is above."""
        return self.given.magnitude

    @property
    def steps(self) -> int:
        """ceil(ln(h / l)) to come near, then as many as squaring takes to 2^-f."""
        squarings = math.ceil(math.log2(self.fraction_bits + 1)) + 1
        return math.ceil(math.log(self.largest / self.smallest)) + squarings

    @property
    def middle(self) -> float:
        """The logarithm of the geometric mean of l and h, around which exponents lie."""
        return (math.log(self.largest) + math.log(self.smallest)) / 2

    @property
    def offset(self) -> Outline:
        """The outline of y less the middle."""
        half = (math.log(self.largest) - math.log(self.smallest)) / 2
        return Outline.of_numbers(self.given.shape, half + _ROUNDING, self.fraction_bits)

    @property
    def exponential(self) -> ExponentialPlan:
        """The plan of e^(middle - y), with guard bits for its largest factor."""
        guard = math.ceil(self.offset.magnitude * math.log2(math.e)) + 2
        return ExponentialPlan(self.offset, self.fraction_bits + guard)

    @property
    def scale_bits(self) -> int:
        """The binary places of the public factor e^-middle."""
        return self.fraction_bits + max(0, math.ceil(math.log2(self.largest))) + 2

    @property
    def scale(self) -> int:
        """e^-middle, at those places."""
        return round(math.ldexp(math.exp(-self.middle), self.scale_bits))

    @property
    def ratio(self) -> Outline:
        """The outline of x e^-y, at most 1 but for rounding, before it is rescaled."""
        places = self.given.fraction_bits + self.exponential.fraction_bits + self.scale_bits
        return Outline.of_numbers(self.given.shape, 2.0, places)

    @property
    def dropped(self) -> int:
        """The binary places that x e^-y has too many."""
        return self.ratio.fraction_bits - self.fraction_bits

    @property
    def result(self) -> Outline:
        """The outline of the logarithms."""
        magnitude = self.offset.magnitude + abs(self.middle) + _ROUNDING
        return Outline.of_numbers(self.given.shape, magnitude, self.fraction_bits)


def ask_logarithm(array: EncryptedArray, plan: LogarithmPlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part of S.LOG: y <- y - 1 + x e^-y.

    It carries u = y - middle, and x e^-y = x e^-u e^-middle.
    """
    shown = yield from show(array, plan.given)
    start = np.full(array.shape, math.log(plan.largest) - plan.middle)
    offset = encrypt(start, plan.offset.plan(array.public.bits), array.public)
    for _ in range(plan.steps):
        factor = yield from exponentiated(-offset, plan.exponential)
        product = yield from multiplied(shown, factor, ELEMENTWISE)
        ratio = settled(product.times(plan.scale), plan.ratio)
        near_one = yield from ask_rescaling(ratio, plan.ratio, plan.dropped)
        offset = settled(offset + near_one - 1, plan.offset)
    return settled(offset + plan.middle, plan.result)


def answer_logarithm(plan: LogarithmPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of S.LOG."""
    seen = yield from see(plan.given, key)
    for _ in range(plan.steps):
        factor = yield from exponentiate(plan.exponential, key)
        yield from multiply(seen, factor, ELEMENTWISE, key)
        yield from answer_rescaling(plan.ratio, plan.dropped, key)
    return plan.result
