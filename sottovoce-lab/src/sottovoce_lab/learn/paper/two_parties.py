"""Arithmetic between one who holds ciphertexts and one who holds the key.

Private Text Classification, section 2.3: the ciphertext holder masks its numbers, the key holder
works on what it opens and encrypts the outcome, and the ciphertext holder takes out what the masks
added. The key holder sees numbers within 2^-64 of uniform, and bounds, which are public.
"""

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn.modes.comparison import ComparisonPlan, answer_less, ask_less
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, as_grid, gmpy2
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.wire import array_to_bytes, decrypt, encrypt, encrypt_integers
from sottovoce.learn.wire.exchange import Traffic
from sottovoce.learn.wire.stages import PairScript, run_together
from sottovoce_lab.learn.paper.shown import Outline, Seen, Shown, see, settle, show

_GUARD_BITS = 32
_WIDEST_RANGE = 512  # e^512 has 739 bits
_ROUNDING = 2.0**-8  # how far rounding could carry a logarithm beyond its bounds


class TwoParties:
    """A ciphertext holder and a key holder.

    Attributes:
        traffic: what they have sent each other.
        views: the masked numbers that the key holder has seen.
    """

    def __init__(self, key: PrivateKey) -> None:
        self._key = key
        self.traffic = Traffic()
        self.views: list[Grid] = []

    def encrypt(self, values: ArrayLike, magnitude: float, places: int) -> EncryptedArray:
        """Numbers of at most ``magnitude``, a ciphertext each."""
        outline = Outline.of_numbers(np.shape(values), magnitude, places)
        return encrypt(values, outline.plan(self._key.public.bits), self._key)

    def decrypt(self, array: EncryptedArray) -> Floats:
        """What neither party does in a protocol: look at a result."""
        return decrypt(array, self._key)

    def multiply(self, left: EncryptedArray, right: EncryptedArray) -> EncryptedArray:
        """S.MULT: elementwise."""
        if left.shape != right.shape:
            raise ParameterError(f"shapes {left.shape} and {right.shape} do not fit.")
        return self._product(left, right, operator.mul, 1)

    def matmul(self, left: EncryptedArray, right: EncryptedArray) -> EncryptedArray:
        """S.MATPROD."""
        if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:  # noqa: PLR2004 - matrices
            raise ParameterError(f"shapes {left.shape} and {right.shape} do not fit.")
        return self._product(left, right, multiply_matrices, left.shape[1])

    def inner_product(self, left: EncryptedArray, right: EncryptedArray) -> EncryptedArray:
        """S.INNERPROD: a row by a column."""
        return self.matmul(left.reshape(1, -1), right.reshape(-1, 1)).reshape()

    def outer_product(self, left: EncryptedArray, right: EncryptedArray) -> EncryptedArray:
        """S.OUTERPROD: a column by a row."""
        return self.matmul(left.reshape(-1, 1), right.reshape(1, -1))

    def rescale(self, array: EncryptedArray, dropped: int) -> EncryptedArray:
        """Lose binary places: floor((x + r) / 2^s) - floor(r / 2^s), within one unit."""
        if not 0 < dropped <= array.fraction_bits:
            raise ParameterError(f"of {array.fraction_bits} places {dropped} cannot be dropped.")
        shown, seen = self._show(array)
        bound = (seen.outline.masked_bound >> dropped) + 1
        rounded = self._reply(seen.integers >> dropped, Outline(array.shape, bound))
        found = rounded.plus_integers(-(shown.masks >> dropped))
        places = array.fraction_bits - dropped
        return settle(found, Outline(array.shape, (array.bound >> dropped) + 1, places))

    def exponentiate(self, array: EncryptedArray, places: int) -> EncryptedArray:
        """S.EXP: e^x, within two units of its last place.

        Yu et al. (2011) split e^x = e^(x + r) e^-r. A mask that hides x makes e^(x + r) far too
        long, so only x + r modulo a range 2^L is exponentiated:

            v = (x + B + r) mod 2^L,   a = r mod 2^L,   x + B = v - a + 2^L [v < a],

        and e^x = e^v (k_0 + (k_1 - k_0) [v < a]) with k_0 = e^(-a - B), k_1 = e^(2^L - a - B). The
        key holder knows e^v, the ciphertext holder k_0 and k_1; they compare v and a bitwise.
        """
        bound, given = array.bound, array.fraction_bits
        length = (2 * bound).bit_length()
        whole = 1 << length
        if whole > _WIDEST_RANGE << given:
            raise ParameterError(f"exponents must lie within +-{_WIDEST_RANGE // 2}; scale them.")
        kept = places + math.ceil(math.ldexp(whole, -given) * math.log2(math.e)) + 2
        shown, seen = self._show(array)
        masks = shown.masks.ravel() % whole
        residues = (seen.integers.ravel() + bound) % whole
        plan = ComparisonPlan(masks.size, length)
        flips, found = self._play(
            ask_less(masks, plan, array.public), answer_less(residues, plan, self._key)
        )
        powers = _powers(residues, given, kept)
        room = Outline(masks.shape, rounded_exponential(whole, given, kept) + 1)
        on_all, on_chosen = self._reply(powers, room), self._reply(powers * found, room)
        low, high = (_powers(at - masks - bound, given, kept) for at in (0, whole))
        turned = on_chosen * ((high - low) * (1 - 2 * flips))
        product = on_all * np.where(flips == 1, high, low) + turned
        largest = rounded_exponential(bound, given, 0) + 2
        outline = Outline(array.shape, largest << 2 * kept, 2 * kept)
        return self.rescale(settle(product.reshape(*array.shape), outline), 2 * kept - places)

    def take_logarithm(self, array: EncryptedArray, smallest: float, places: int) -> EncryptedArray:
        """S.LOG of numbers from ``smallest`` to their bound: y <- y - 1 + x e^-y.

        From the right of ln x every step stays there: ceil(ln(h / l)) steps come within 1, and a
        few more square the distance away.
        """
        largest = Outline.of_array(array).magnitude
        if not 0 < smallest <= largest:
            raise ParameterError("the smallest number must be > 0 and at most the bound.")
        half = (math.log(largest) - math.log(smallest)) / 2
        middle = math.log(smallest) + half
        steps = math.ceil(2 * half) + math.ceil(math.log2(places + 1)) + 1
        guard = math.ceil((half + _ROUNDING) * math.log2(math.e)) + 2
        scale_bits = places + max(0, math.ceil(math.log2(largest))) + 2
        ratio_bits = array.fraction_bits + places + guard + scale_bits
        one = Outline.of_numbers(array.shape, 2.0, ratio_bits)
        rest = Outline.of_numbers(array.shape, half + _ROUNDING, places)
        offset = self.encrypt(np.full(array.shape, half), half + _ROUNDING, places)
        for _ in range(steps):
            factor = self.exponentiate(-offset, places + guard)
            product = self.multiply(array, factor)
            scaled = product.times(math.exp(-middle), fraction_bits=scale_bits)
            near_one = self.rescale(settle(scaled, one), ratio_bits - places)
            offset = settle(offset + near_one - 1, rest)
        return offset + middle

    def invert(
        self,
        matrix: EncryptedArray,
        trace: float,
        smallest: float,
        *,
        places: int = 40,
        tolerance: float = 1e-9,
    ) -> EncryptedArray:
        """S.INV of a positive definite matrix by Newton: V <- V (2 I - A V), from V = I / t.

        The eigenvalues of A V lie in (0, 1], and each step squares their distance from 1: after k
        steps it is at most (1 - s / t)^(2^k) for a trace of at most t and a least eigenvalue of s.
        """
        if matrix.ndim != 2 or len(set(matrix.shape)) != 1:  # noqa: PLR2004 - a square matrix
            raise ParameterError(f"only square matrices have inverses, got {matrix.shape}.")
        if not (0 < smallest <= trace < math.inf and 0 < tolerance < 1):
            raise ParameterError("0 < smallest <= trace and 0 < tolerance < 1 must hold.")
        shape, unit = matrix.shape, np.eye(len(matrix))
        largest = 2 / smallest  # twice what it is in exact arithmetic, for rounding
        inverse = self.encrypt(unit / trace, largest, places)
        for _ in range(newton_steps(trace, smallest, tolerance)):
            near_one = Outline.of_numbers(shape, 2.0, matrix.fraction_bits + places)
            product = settle(self.matmul(matrix, inverse), near_one)
            residual = 2 * unit - self.rescale(product, matrix.fraction_bits)
            following = self.matmul(
                inverse, settle(residual, Outline.of_numbers(shape, 4.0, places))
            )
            unrounded = settle(following, Outline.of_numbers(shape, largest, 2 * places))
            inverse = self.rescale(unrounded, places)
        return inverse

    def solve(
        self,
        matrix: EncryptedArray,
        column: EncryptedArray,
        trace: float,
        smallest: float,
        *,
        places: int = 40,
    ) -> EncryptedArray:
        """The z of A z = b, as the inverse times b."""
        inverse = self.invert(matrix, trace, smallest, places=places)
        return self.matmul(inverse, column.reshape(-1, 1)).reshape(-1)

    def _product(
        self,
        left: EncryptedArray,
        right: EncryptedArray,
        times: Callable[[Any, Any], Any],
        terms: int,
    ) -> EncryptedArray:
        """The product: x y = (x + r)(y + s) - x s - r y - r s."""
        x, seen_x = self._show(replace(left, fraction_bits=0))
        y, seen_y = self._show(replace(right, fraction_bits=0))
        masked = times(seen_x.integers, seen_y.integers)
        bound = terms * seen_x.outline.masked_bound * seen_y.outline.masked_bound
        replied = self._reply(masked, Outline(masked.shape, bound))
        found = replied - times(x.array, y.masks) - times(x.masks, y.array)
        places = left.fraction_bits + right.fraction_bits
        outline = Outline(masked.shape, terms * left.bound * right.bound, places)
        return settle(found.plus_integers(-times(x.masks, y.masks)), outline)

    def _show(self, array: EncryptedArray) -> tuple[Shown, Seen]:
        """Have the key holder see numbers under masks."""
        outline = Outline.of_array(array)
        shown, seen = self._play(show(array, outline), see(outline, self._key))
        self.views.append(seen.integers)
        return shown, seen

    def _reply(self, integers: Grid, outline: Outline) -> EncryptedArray:
        """Send integers of the key holder to the ciphertext holder."""
        array = encrypt_integers(integers, outline.plan(self._key.public.bits), self._key)
        self.traffic.rounds += 1
        self.traffic.messages += 1
        self.traffic.sent_bytes["key holder"] += len(array_to_bytes(array))
        return array

    def _play(self, asking: PairScript[Any], answering: PairScript[Any]) -> tuple[Any, Any]:
        run = run_together(asking, answering)
        self.traffic.rounds += run.traffic.rounds
        self.traffic.messages += run.traffic.messages
        self.traffic.sent_bytes.update(run.traffic.sent_bytes)
        return run.asked, run.answered


def multiply_matrices(left: Any, right: Any) -> Any:  # noqa: ANN401 - either may be encrypted
    """A matrix by a matrix, of which one may be encrypted."""
    if isinstance(left, EncryptedArray):
        return left.combine(right, axis=-1)
    return right.combine(left) if isinstance(right, EncryptedArray) else left @ right


def newton_steps(trace: float, smallest: float, tolerance: float) -> int:
    """How many steps leave at most ``tolerance``: (1 - s / t)^(2^k) <= tolerance."""
    return max(1, math.ceil(math.log2(math.log(1 / tolerance) * trace / smallest)))


def rounded_exponential(exponent: int, places: int, fraction_bits: int) -> int:
    """e^(exponent / 2^places), rounded to ``fraction_bits`` binary places, as an integer."""
    size = abs(exponent) / (1 << places)
    precision = fraction_bits + math.ceil(size * math.log2(math.e)) + places + _GUARD_BITS
    with gmpy2.context(precision=max(precision, 64)):
        power = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(exponent, 1 << places)))
        return int(gmpy2.rint(gmpy2.mul_2exp(power, fraction_bits)))


def _powers(exponents: Grid, places: int, fraction_bits: int) -> Grid:
    found = [rounded_exponential(int(each), places, fraction_bits) for each in exponents]
    return as_grid(found, (len(found),))
