"""The exponential and the logarithm of encrypted numbers: S.EXP and S.LOG.

S.EXP: Yu et al. (2011), whom Private Text Classification, section 2.5.2, follows, split the
exponential by e^x = e^(x + r) e^-r: the key holder takes the first factor, the ciphertext holder
the second. With a mask r that hides x, e^(x + r) has some 2^64 digits; with a short r it hides
little. So here only the residue of x + r modulo a public range is exponentiated. For x of f binary
places and at most B units, 2^L >= 2 B + 1, and the uniform r < 2^64 2^(L+1) or more:

    v = (x + B + r) mod 2^L,   a = r mod 2^L,   x + B = v - a + 2^L [v < a],

    e^x = e^v (k_0 + (k_1 - k_0) [v < a]),   k_0 = e^(-a - B),   k_1 = e^(2^L - a - B)

in units of 2^-f. The key holder knows e^v, the ciphertext holder k_0 and k_1, and [v < a] is the
bitwise comparison's, of which the key holder multiplies its share by e^v before encrypting it.

Error: e^v and k are rounded to g places each, so that the result is off by at most
2^-g (e^(2^L - B) + e^X) + 2^-2g for |x| <= X; g is chosen to make that less than half a unit of the
result's last place, and rescaling it to that place adds less than one unit. e^v is at most
e^(2^L), which fits a plaintext for ranges of hundreds.

S.LOG, of positive numbers, by Newton's iteration on S.EXP:

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
from sottovoce.learn.arithmetic.comparison import Bits, ComparisonPlan, answer_less, ask_less
from sottovoce.learn.arithmetic.shown import (
    Outline,
    Seen,
    Shown,
    hear_reply,
    reply,
    roomy_plan,
    see,
    settled,
    show,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, as_grid, gmpy2
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import SlotPlan, SlotStage
from sottovoce.learn.paillier.wire import encrypt
from sottovoce.learn.paper._products import (
    ELEMENTWISE,
    RescalingPlan,
    answer_rescaling,
    ask_rescaling,
    multiplied,
    multiply,
    rescale,
    rescaled,
)
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.script import Script

EXPONENTIAL_LEAKAGE = Leakage(
    "secure exponential: S.EXP",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts"),
        Learns("key holder", "shapes and bounds; numbers under masks, and the tests of a bitwise "
               "comparison, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)  # fmt: skip

_GUARD_BITS = 32
_WIDEST_RANGE = 512  # e^512 has 739 bits


@dataclass(frozen=True)
class ExponentialPlan:
    """What both know of a batch of exponentials.

    Attributes:
        given: the outline of the exponents.
        fraction_bits: the binary places of the results.
    """

    given: Outline
    fraction_bits: int

    def __post_init__(self) -> None:
        if self.range > _WIDEST_RANGE:
            raise ParameterError(
                f"exponents must lie within +-{_WIDEST_RANGE // 2}, got a bound of "
                f"{self.given.magnitude:g}; scale them down."
            )

    @property
    def places(self) -> int:
        """L, for which 2^L covers all exponents."""
        return (2 * self.given.bound).bit_length()

    @property
    def range(self) -> float:
        """The width of the covered range."""
        return math.ldexp(1.0, self.places - self.given.fraction_bits)

    @property
    def comparison(self) -> ComparisonPlan:
        """The comparison of residues with masks' residues."""
        return ComparisonPlan(self.given.size, self.places)

    @property
    def factor_bits(self) -> int:
        """g, the binary places of either factor."""
        return self.fraction_bits + math.ceil(self.range * math.log2(math.e)) + 2

    @property
    def result(self) -> Outline:
        """The outline of the results."""
        return self._rescaling.result

    @property
    def _rescaling(self) -> RescalingPlan:
        return RescalingPlan(self.unrounded, self.dropped)

    @property
    def dropped(self) -> int:
        """The binary places that the product of the factors has too many."""
        return 2 * self.factor_bits - self.fraction_bits

    @property
    def unrounded(self) -> Outline:
        """The outline of the product of the factors."""
        largest = rounded_exponential(self.given.bound, self.given.fraction_bits, 0) + 2
        return Outline(self.given.shape, largest << 2 * self.factor_bits, 2 * self.factor_bits)

    @property
    def factor_bound(self) -> int:
        """The largest size of either party's factor: e^(2^L) to g places."""
        return rounded_exponential(1 << self.places, self.given.fraction_bits,
                                   self.factor_bits) + 1  # fmt: skip

    def factors_plan(self, key_bits: int) -> SlotPlan:
        """Room for e^v, and for it times k_0 plus (k_1 - k_0) [v < a]."""
        products = 2 * self.factor_bound * self.factor_bound
        return roomy_plan(key_bits, SlotStage(self.factor_bound, 0), SlotStage(products, 0))

    def residues(self, masked: Grid) -> Grid:
        """(x + B + r) mod 2^L."""
        residues: Grid = (masked.ravel() + self.given.bound) % (1 << self.places)
        return residues


def exponentiated(array: EncryptedArray, plan: ExponentialPlan) -> Script[Shown]:
    """The ciphertext holder's part of S.EXP: e^v (k_0 + (k_1 - k_0) [v < a]).

    The key holder has then seen the result under masks, as after every rescaling.
    """
    public = array.public
    factors_plan = plan.factors_plan(public.bits)
    shown = yield from show(array, plan.given)
    masks = shown.masks.ravel() % (1 << plan.places)
    flips = yield from ask_less(masks, plan.comparison, public)
    powers = yield hear_reply("powers", public, factors_plan, masks.shape)
    chosen = yield hear_reply("chosen powers", public, factors_plan, masks.shape)
    product = _combined(powers, chosen, flips, masks, plan).reshape(*array.shape)
    return (yield from rescaled(settled(product, plan.unrounded), plan.unrounded, plan.dropped))


def exponentiate(plan: ExponentialPlan, key: PrivateKey) -> Script[Seen]:
    """The key holder's part of S.EXP."""
    factors_plan = plan.factors_plan(key.public.bits)
    seen = yield from see(plan.given, key)
    residues = plan.residues(seen.integers)
    found = yield from answer_less(residues, plan.comparison, key)
    powers = _exponentials([int(each) for each in residues], plan)
    yield reply("powers", powers, factors_plan, key)
    yield reply("chosen powers", powers * found, factors_plan, key)
    return (yield from rescale(plan.unrounded, plan.dropped, key))


def ask_exponential(array: EncryptedArray, plan: ExponentialPlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part of S.EXP, for who needs the result only."""
    return (yield from exponentiated(array, plan)).array


def answer_exponential(plan: ExponentialPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of S.EXP, for who needs the result's outline only."""
    return (yield from exponentiate(plan, key)).outline


def _combined(
    powers: EncryptedArray, chosen: EncryptedArray, flips: Bits, masks: Grid, plan: ExponentialPlan
) -> EncryptedArray:
    """The sum of k_0 e^v and (k_1 - k_0) [v < a] e^v, where the flips turn the share of [v < a].

    [v < a] e^v is the chosen powers where the flip is 0, and e^v less those where it is 1.
    """
    whole, offset = 1 << plan.places, plan.given.bound
    low = _exponentials([-int(mask) - offset for mask in masks], plan)
    high = _exponentials([whole - int(mask) - offset for mask in masks], plan)
    on_all = np.where(flips == 1, high, low)
    on_chosen = (high - low) * (1 - 2 * flips)
    bound = plan.factor_bound
    return powers.times(on_all, bound=bound) + chosen.times(on_chosen, bound=bound)


def _exponentials(exponents: list[int], plan: ExponentialPlan) -> Grid:
    places, bits = plan.given.fraction_bits, plan.factor_bits
    found = [rounded_exponential(each, places, bits) for each in exponents]
    return as_grid(found, (len(found),))


def rounded_exponential(exponent: int, places: int, fraction_bits: int) -> int:
    """e^(exponent / 2^places), rounded to ``fraction_bits`` binary places, as an integer."""
    size = abs(exponent) / (1 << places)
    precision = fraction_bits + math.ceil(size * math.log2(math.e)) + places + _GUARD_BITS
    with gmpy2.context(precision=max(precision, 64)):
        power = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(exponent, 1 << places)))
        return int(gmpy2.rint(gmpy2.mul_2exp(power, fraction_bits)))


LOGARITHM_LEAKAGE = Leakage(
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
