"""Theta itself, in fixed point, by Chebyshev's iteration on shares: for many unknowns.

Division-free: the steps' factors follow from public bounds of A's eigenvalues (Golub and Varga
1961). Every vector is shared modulo 2^m between coordinator C and key holder K. Each holds A under
the *other's* key, so each works out A times its own share there, masks it and hands it over; the
two products are shares of A times the vector. Shares are cut back to their binary places locally.
`ChebyshevPlan` is what is agreed on before: steps, binary places and slots.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.errors import DamagedMessageError, InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import SLACK_BITS, SlotPlan, mask_bound
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
)
from sottovoce.learn.solve.field import (
    Combs,
    Objects,
    as_array,
    fits_key,
    mask_half_range,
    masked_slots,
    multiple_masks,
    plan_combs,
)
from sottovoce.learn.solve.plan import PublicBounds, Share
from sottovoce.learn.wire.message import Leakage, Learns, Message
from sottovoce.learn.wire.stages import Hear, PairScript, Say
from sottovoce.privacy.randomness import random_below

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

# The rounding of a step is off by one unit in the product and one in the new step.
_UNITS_PER_STEP = 2


@dataclass(frozen=True)
class ChebyshevPlan:
    """What is agreed on before the iteration.

    Attributes:
        bounds: what is public of the system.
        key_bits: the length of both parties' keys.
        lowest: a public lower bound of A's eigenvalues: the penalty.
        highest: a public upper bound of them: the trace.
        tolerance: the error of theta that is aimed at, relative to its size.
    """

    bounds: PublicBounds
    key_bits: int
    lowest: float
    highest: float
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if not 0 < self.lowest < self.highest < math.inf:
            raise ParameterError("eigenvalue bounds must be 0 < lowest < highest < infinity.")
        if not 0 < self.tolerance < 1:
            raise ParameterError(f"tolerance must be between 0 and 1, got {self.tolerance}.")
        if not fits_key(self.quotient, self.share_bits, self.key_bits):
            raise ParameterError(f"a key of {self.key_bits} bits is too short for this tolerance.")

    @property
    def size(self) -> int:
        """The number of unknowns, d."""
        return self.bounds.size

    @property
    def iterations(self) -> int:
        """1/2 sqrt(kappa) ln(2 / tolerance): the error is at most 2 exp(-2 k / sqrt(kappa))."""
        kappa = self.highest / self.lowest
        return math.ceil(0.5 * math.sqrt(kappa) * math.log(2 / self.tolerance))

    @cached_property
    def fraction_bits(self) -> int:
        """The binary places of vectors, g.

        Each step's rounding enters the residual by at most two units per entry, and the residual's
        error reaches theta divided by the lowest eigenvalue; all steps together must stay below
        half the tolerance.
        """
        off = _UNITS_PER_STEP * self.iterations * math.sqrt(self.size) / self.lowest
        return max(self.bounds.fraction_bits, math.ceil(math.log2(2 * off / self.tolerance)))

    @property
    def right_norm(self) -> float:
        """The largest ||b||_2."""
        return math.sqrt(self.size) * math.ldexp(self.bounds.right, -self.bounds.fraction_bits)

    @cached_property
    def share_bits(self) -> int:
        """m: shares are modulo 2^m, 2^65 times as large as any number shared.

        Chebyshev's residuals satisfy ||r_k|| <= ||b||, so that ||A p|| = ||r_k - r_(k+1)|| and
        ||p|| = ||A^-1 (r_k - r_(k+1))|| are at most 2 ||b|| and 2 ||b|| / lowest.
        """
        f, g = self.bounds.fraction_bits, self.fraction_bits
        product = 2 * self.right_norm * math.ldexp(1, f + g)
        step = 4 * self.right_norm * max(1, 1 / self.lowest) * math.ldexp(1, 2 * g)
        return math.ceil(math.log2(max(product, step))) + 2 + SLACK_BITS

    @property
    def modulus(self) -> int:
        """2^m."""
        return 1 << self.share_bits

    @property
    def quotient(self) -> int:
        """The largest size of (A s) / 2^m, for s residues."""
        return self.size * self.bounds.entry + 1

    @cached_property
    def slots(self) -> SlotPlan:
        """The slots of A under either key, of b, and of what is computed from them."""
        first = max(self.bounds.entry, self.bounds.right)
        opened = first + mask_bound(first)
        return masked_slots((first, opened), self.quotient, self.share_bits, self.key_bits)

    @property
    def first_factor(self) -> int:
        """1 / mid, as an integer at the vectors' places."""
        return self._round_factor(2 / (self.highest + self.lowest))

    def factors(self) -> Iterator[tuple[int, int]]:
        """For each step the factors of the last step and of the residual, as integers.

        With mid and half the bounds' mean and half distance, s = mid/half, rho_0 = 1/s and
        rho_k = 1/(2 s - rho_(k-1)): p <- rho_k rho_(k-1) p + 2 rho_k/half r.
        """
        middle, half = (self.highest + self.lowest) / 2, (self.highest - self.lowest) / 2
        sigma = middle / half
        rho = 1 / sigma
        for _ in range(self.iterations):
            following = 1 / (2 * sigma - rho)
            yield self._round_factor(following * rho), self._round_factor(2 * following / half)
            rho = following

    def _round_factor(self, factor: float) -> int:
        return round(math.ldexp(factor, self.fraction_bits))


def plan_chebyshev(
    bounds: PublicBounds, *, key_bits: int, penalty: float, tolerance: float = 1e-4
) -> ChebyshevPlan:
    """The plan for ridge: eigenvalues from the penalty, less rounding, to the trace."""
    off = 0 if bounds.moment is None else bounds.moment - (1 << bounds.fraction_bits)
    lowest = penalty - math.ldexp(off, -bounds.fraction_bits)
    highest = math.ldexp(bounds.trace, -bounds.fraction_bits)
    return ChebyshevPlan(bounds, key_bits, lowest, highest, tolerance)


LEAKAGE = Leakage(
    "Chebyshev's iteration on shares",
    (
        Learns("coordinator", "ciphertexts, numbers under masks, and a share of theta"),
        Learns("key holder", "A and b under masks, numbers under masks, and a share of theta"),
    ),
    collusion="the coordinator and the key holder together learn A, b and theta: keep them apart",
    assumes=(
        "honest but curious parties, authenticated private channels, Paillier's assumption, and "
        "masks that hide each number but for a chance of 2^-64"
    ),
)


def cut(share: int, bits: int, modulus: int, *, first: bool) -> int:
    """A share of the hidden number over 2^bits, off by one unit at most (Mohassel and Zhang 2017).

    One party cuts its share, the other the share's negative. Wrong with the chance that the shares'
    sum does not wrap as that of a small number does: 2^-64, by the modulus.
    """
    return share >> bits if first else -((modulus - share) >> bits) % modulus


def iterate(
    plan: ChebyshevPlan,
    key: PrivateKey,
    matrix: EncryptedArray,
    right: Sequence[int],
    *,
    first: bool,
) -> PairScript[Share]:
    """What both do once each holds A under the other's key and a share of b."""
    shape = plan_combs(plan.size, plan.iterations, plan.share_bits)
    combs = [Combs(each.tolist(), matrix.public.n, shape) for each in matrix.ciphertexts.T]
    modulus, places = plan.modulus, plan.fraction_bits

    def cut_all(shares: Iterable[int], bits: int) -> list[int]:
        return [cut(share % modulus, bits, modulus, first=first) for share in shares]

    theta = [0] * plan.size
    residual = [(int(each) << (places - plan.bounds.fraction_bits)) % modulus for each in right]
    step = cut_all((each * plan.first_factor for each in residual), places)
    for last, new in plan.factors():
        product, masks = mask_product(plan, combs, matrix, step)
        yield Say("product", {"product": array_to_bytes(product)})
        heard = yield Hear("product", partial(read_product, plan=plan, key=key), together=True)
        opened = decrypt_integers(heard, key)
        shares = (int(here) - mask for here, mask in zip(opened, masks, strict=True))
        change = cut_all(shares, plan.bounds.fraction_bits)
        theta = [(x + y) % modulus for x, y in zip(theta, step, strict=True)]
        residual = [(x - y) % modulus for x, y in zip(residual, change, strict=True)]
        step = cut_all((last * x + new * y for x, y in zip(step, residual, strict=True)), places)
    return Share(modulus, tuple(theta), fraction_bits=places)


def mask_product(
    plan: ChebyshevPlan, combs: Sequence[Combs], like: EncryptedArray, share: list[int]
) -> tuple[EncryptedArray, list[int]]:
    """Enc of A times one's own share, masked, under the other's key; and the masks' residues."""
    mixed = [comb.combinations([share])[0] for comb in combs]
    array = as_array(
        like, as_grid(mixed, (len(mixed),)), plan.slots, plan.quotient << plan.share_bits
    )
    residues = [random_below(plan.modulus) for _ in range(plan.size)]
    masks = multiple_masks((plan.size,), plan.modulus, plan.quotient)
    bound = (mask_half_range(plan.quotient) + 1) << plan.share_bits
    return array.plus_integers(masks + as_grid(residues, (plan.size,)), bound=bound), residues


def read_product(message: Message, plan: ChebyshevPlan, key: PrivateKey) -> EncryptedArray:
    """The other's product."""
    array = array_from_bytes(message.item("product", bytes), key.public, plan=plan.slots)
    if array.shape != (plan.size,):
        raise InputError(f"a product must have {plan.size} numbers, got {array.shape}.")
    return array


def ask_chebyshev(
    plan: ChebyshevPlan, key: PrivateKey, matrix: EncryptedArray, vector: EncryptedArray
) -> PairScript[Share]:
    """C: holds Enc_K(A) and Enc_K(b), masks them, and ends with a share of theta."""
    _check_key(plan, key)
    d = plan.size
    if matrix.shape != (d, d) or vector.shape != (d,):
        raise InputError(f"the solve needs an encrypted {d} x {d} matrix and {d} sides.")
    if any(array.plan != plan.slots for array in (matrix, vector)):
        raise InputError("the system must be encrypted in the slots of the solve's plan.")
    if matrix.public != vector.public or matrix.public == key.public:
        raise InputError("the system must be under the key holder's key.")
    limit = mask_bound(plan.slots.value_bound)
    masks = _uniform((d + 1, d), limit // 2)
    payload: dict[str, Value] = {
        "key": proven_key_to_text(key),
        "matrix": array_to_bytes(matrix.plus_integers(masks[:-1], bound=limit)),
        "vector": array_to_bytes(vector.plus_integers(masks[-1], bound=limit)),
        "masks": array_to_bytes(_encrypt_masks(plan, key, masks[:-1])),
    }
    yield Say("system", payload)
    return (yield from iterate(plan, key, matrix, [-int(mask) for mask in masks[-1]], first=True))


def answer_chebyshev(plan: ChebyshevPlan, key: PrivateKey) -> PairScript[Share]:
    """K: opens A + S, moves A under the coordinator's key, and ends with a share of theta."""
    _check_key(plan, key)
    matrix, vector, masks = yield Hear("system", partial(read_system, plan=plan, own=key.public))
    # Enc_C(A) = Enc_C(-S) + (A + S), and the share b + s.
    moved = masks + decrypt_integers(matrix, key)
    right = [int(each) for each in decrypt_integers(vector, key)]
    return (yield from iterate(plan, key, moved, right, first=False))


def read_system(
    message: Message, plan: ChebyshevPlan, own: PublicKey
) -> tuple[EncryptedArray, EncryptedArray, EncryptedArray]:
    """A + S and b + s under one's own key, and -S under the coordinator's."""
    d, slots = plan.size, plan.slots
    other = public_key_from_text(message.item("key", str), needs_proof=True)
    if other == own or other.bits != plan.key_bits:
        raise InputError("coordinator and key holder must have keys of their own, as planned.")
    matrix = array_from_bytes(message.item("matrix", bytes), own, plan=slots)
    vector = array_from_bytes(message.item("vector", bytes), own, plan=slots)
    masks = array_from_bytes(message.item("masks", bytes), other, plan=slots)
    if (matrix.shape, vector.shape, masks.shape) != ((d, d), (d,), (d, d)):
        raise DamagedMessageError("a masked system must have the shapes of its plan.")
    return matrix, vector, masks


def _check_key(plan: ChebyshevPlan, key: PrivateKey) -> None:
    if key.public.bits != plan.key_bits:
        raise InputError(f"the solve is planned for keys of {plan.key_bits} bits.")


def _encrypt_masks(plan: ChebyshevPlan, key: PrivateKey, masks: Objects) -> EncryptedArray:
    """Enc_C(-S): in slots planned for the numbers, but as large as an opened one."""
    program = replace(plan.slots.program, stages=plan.slots.program.stages[1:])
    array = encrypt_integers(-masks, replace(plan.slots, program=program), key)
    return replace(array, plan=plan.slots)


def _uniform(shape: tuple[int, ...], half: int) -> Objects:
    drawn = [random_below(2 * half) - half for _ in range(int(np.prod(shape)))]
    return as_grid(drawn, shape)
