"""What the parties of a masked solve agree on, and the shares that they end with.

A `SolvePlan` says how many primes of how many bits there are, and how numbers lie in slots: chosen
by cost, and proven. A `Share` is a summand modulo a public number; two of them are opened.
`PublicBounds` are what everybody may know of A and b before.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.learn.paillier.slots import (
    SLACK_BITS,
    SlotPlan,
    blocks,
    check_fraction_bits,
    scaled_bound,
)
from sottovoce.learn.solve.field import fits_key, masked_slots, plan_combs, smallest_public_prime


@dataclass(frozen=True)
class PublicBounds:
    """What everybody may know of A and b before the solve; all sizes of the scaled integers.

    Attributes:
        size: d, the number of unknowns.
        fraction_bits: f; the integers are A 2^f and b 2^f, rounded.
        entry: the largest size of an entry of A.
        trace: the largest trace of A.
        right: the largest size of an entry of b.
        moment: a number g for which [[A, b], [b', g]] is positive semidefinite, where one is
            known, as for least squares: then A, b and g are of one Gram matrix of X and y.
    """

    size: int
    fraction_bits: int
    entry: int
    trace: int
    right: int
    moment: int | None = None

    def __post_init__(self) -> None:
        check_fraction_bits(self.fraction_bits)
        if min(self.size, self.entry, self.trace, self.right) < 1:
            raise ParameterError("a system's size and bounds must be >= 1.")
        # The trace is a sum of d diagonal entries.
        object.__setattr__(self, "trace", min(self.trace, self.size * self.entry))

    @property
    def largest_minor(self) -> int:
        """The largest principal minor of order d-1, for A symmetric positive semidefinite.

        At most the product of its d-1 diagonal entries (Hadamard), so at most max|A|^(d-1), and by
        the means' inequality at most (tr(A) / (d-1))^(d-1).
        """
        return self._largest_product(self.size - 1)

    @property
    def largest_determinant(self) -> int:
        """The largest determinant, bounded as the minors are."""
        return self._largest_product(self.size)

    @property
    def largest_solution(self) -> int:
        """The largest size of an entry of y = adj(A) b, for A symmetric positive definite.

        Let a_1 .. a_d > 0 be A's eigenvalues. Those of adj(A) are the products of all a_j but one,
        each at most (tr(A) / (d-1))^(d-1) by the means' inequality, and
        |y_i| <= ||adj(A)||_2 ||b||_2 <= (tr(A) / (d-1))^(d-1) sqrt(d) max|b|.

        With the moment g, b'A^-1 b <= g (the Schur complement of A is not negative), and by Cauchy
        and Schwarz in A^-1's product y_i^2 = det(A)^2 (e_i'A^-1 b)^2 <= det(A)^2 (A^-1)_ii g
        = det(A) minor_ii g.
        """
        d = self.size
        spectral = Fraction(self.trace, d - 1) ** (d - 1) if d > 1 else Fraction(1)
        # isqrt + 1 exceeds the root.
        largest = math.ceil(spectral * (math.isqrt(d * self.right * self.right) + 1))
        if self.moment is None:
            return largest
        squared = self.largest_determinant * self.largest_minor * self.moment
        return min(largest, math.isqrt(squared) + 1)

    def _largest_product(self, count: int) -> int:
        """Of ``count`` diagonal entries."""
        if count == 0:
            return 1
        return math.ceil(min(Fraction(self.trace, count), Fraction(self.entry)) ** count)


def standardised_bounds(
    size: int, fraction_bits: int, penalty: float, *, peers: int = 1
) -> PublicBounds:
    """The bounds for A = X'X/m + lambda I and b = X'y/m of standardised columns and signs y.

    The diagonal of X'X/m is 1, so |A_ij| <= 1 + lambda, tr(A) = d (1 + lambda), |b_i| <= 1; each
    peer's summand is rounded once, as is lambda. Refuses a lambda that rounding could outweigh:
    rounding [[A, b], [b', 1]] adds a symmetric matrix with entries of at most (peers+1)/2 units,
    whose eigenvalues are at most (d+1) (peers+1)/2. A lambda above that keeps A positive definite,
    and the corner raised by that much (the moment) keeps the whole positive semidefinite.
    """
    if not (math.isfinite(penalty) and penalty > 0):
        raise ParameterError(f"penalty must be finite and > 0, got {penalty}.")
    one, off = 1 << fraction_bits, -(-(size + 1) * (peers + 1) // 2)
    if penalty * one <= off:
        raise ParameterError(
            f"penalty must be > {off / one:.3g} to keep a system of {size} features positive "
            f"definite at {fraction_bits} binary places, got {penalty}; use more places."
        )
    diagonal = scaled_bound(1 + penalty, fraction_bits) + peers + 1
    return PublicBounds(size, fraction_bits, diagonal, size * diagonal, one + peers + 1, one + off)


FEWEST_PRIME_BITS = 16
# A random prime of b bits divides det(A) with a chance of at most 2^(4-b) log2 det(A): see
# `fewest_prime_bits`. Keys shorter than this serve tests only.
SAFE_PRIME_BITS, SAFE_KEY_BITS = 90, 2048
# K's weights are cut in two, so that a slot of the answer holds a product of 3/2 instead of 2
# residues: fewer ciphertexts to C, which cost more than a few more back.
WEIGHT_PARTS = 2
# Per ciphertext of 2048 bits, in products by a unit (see `combs`), measured; a power's length, and
# so the factor, grows with the key.
_DECRYPT, _BLIND, _OWN_ENCRYPT, _MEASURED_BITS = 800, 120, 110, 2048


@dataclass(frozen=True)
class SolvePlan:
    """What coordinator and key holder agree on before a masked solve.

    Attributes:
        bounds: what is public of the system.
        key_bits: the length of both parties' keys.
        primes: how many primes.
        prime_bits: the length of each.
        determinant: whether shares of det(A) are made too, so that theta itself can be had.
    """

    bounds: PublicBounds
    key_bits: int
    primes: int
    prime_bits: int
    determinant: bool = False

    def __post_init__(self) -> None:
        check_prime_bits(self.prime_bits, self.key_bits)
        if self.primes < 1:
            raise ParameterError(f"a solve needs at least 1 prime, got {self.primes}.")

    @property
    def size(self) -> int:
        """The number of unknowns, d."""
        return self.bounds.size

    @property
    def outputs(self) -> int:
        """How many numbers are shared in the end."""
        return self.size + self.determinant

    @cached_property
    def quotient(self) -> int:
        """The largest size of a masked entry's quotient by a prime: of R'A and of b + A r.

        Residues are below p, so |sum_j A_ij r_j| < d max|A| p, and |b| <= max|b| <= max|b| p.
        """
        return self.size * self.bounds.entry + self.bounds.right + 1

    @property
    def part_bits(self) -> int:
        """The length of a part of a weight."""
        return -(-self.prime_bits // WEIGHT_PARTS)

    @cached_property
    def answer_quotient(self) -> int:
        """The largest quotient by a prime of a sum of d+1 residues, each times part of another."""
        return (self.size + 1) << self.part_bits

    @cached_property
    def slots(self) -> SlotPlan:
        """The slots of Enc_K(A), Enc_K(b) and what is computed from them."""
        first = max(self.bounds.entry, self.bounds.right)
        return masked_slots((first,), self.quotient, self.prime_bits, self.key_bits)

    @cached_property
    def answer_slots(self) -> SlotPlan:
        """The slots of Enc_C([eR | -er]) and of the answer made from it."""
        first = (1 << self.prime_bits) - 1
        return masked_slots((first,), self.answer_quotient, self.prime_bits, self.key_bits)

    @property
    def cost(self) -> float:
        """Both parties' work, in products by a unit of half a ciphertext's length."""
        rows, key = self.size + 1, self.key_bits / _MEASURED_BITS
        across, back = blocks(self.size, self.slots), blocks(self.outputs, self.answer_slots)
        opened = self.primes * (rows * across + WEIGHT_PARTS * back)
        mixed = across * plan_combs(self.size, self.primes * rows, self.prime_bits).cost
        answered = self.primes * back * plan_combs(rows, WEIGHT_PARTS, self.part_bits).cost
        owned = self.primes * rows * back * _OWN_ENCRYPT * key
        return opened * (_DECRYPT + _BLIND) * key + mixed + answered + owned


def fewest_prime_bits(key_bits: int) -> int:
    """How short a prime may be: of 90 bits, unless keys are too short to be safe anyway.

    det(A) has at most log2 det(A) / b prime factors of b bits, and the primes that begin with
    four ones are some 2^(b-4) / (b ln 2). A random one divides det(A), and so shows something of
    it, with a chance below 2^(4-b) log2 det(A): 2^-70 at 90 bits for det(A) < 2^65536.
    """
    return SAFE_PRIME_BITS if key_bits >= SAFE_KEY_BITS else FEWEST_PRIME_BITS


def check_prime_bits(prime_bits: int, key_bits: int) -> None:
    """Refuse primes that divide det(A) too often."""
    fewest = fewest_prime_bits(key_bits)
    if prime_bits < fewest:
        raise ParameterError(f"a solve needs primes of at least {fewest} bits, got {prime_bits}.")


def needed_bits(bounds: PublicBounds, *, score: int, slack_bits: int, determinant: bool) -> int:
    """The bits of P, the product of the primes, that hold every score's sign.

    |y'x| <= max|y_i| ||x||_1 with ||x||_1 <= ``score`` in x's own integers; one bit is the sign,
    and ``slack_bits`` are left so that shares modulo P can be cut locally.
    """
    if slack_bits < SLACK_BITS:
        raise ParameterError(f"slack_bits must be >= {SLACK_BITS}, got {slack_bits}.")
    largest = bounds.largest_solution * score
    if determinant:
        largest = max(largest, bounds.largest_determinant)
    return largest.bit_length() + 1 + slack_bits


def plan_solve(
    bounds: PublicBounds,
    *,
    key_bits: int,
    score: int = 1 << 22,
    slack_bits: int = SLACK_BITS,
    determinant: bool = False,
) -> SolvePlan:
    """The cheapest plan whose primes' product holds y'x for all ||x||_1 <= ``score``.

    Fewer and longer primes need fewer decryptions, as each slot's slack serves more bits; shorter
    ones need fewer products of powers, as more entries share a ciphertext.
    """
    bits = needed_bits(bounds, score=score, slack_bits=slack_bits, determinant=determinant)
    plans = []
    fewest = fewest_prime_bits(key_bits)
    for primes in range(1, max(bits // fewest, 1) + 1):
        plan = SolvePlan(bounds, key_bits, primes, _prime_bits(bits, primes, fewest), determinant)
        quotients = (plan.quotient, plan.answer_quotient)
        if all(fits_key(each, plan.prime_bits, key_bits) for each in quotients):
            plans.append(plan)
    if not plans:
        raise ParameterError(
            f"a key of {key_bits} bits is too short for a solve at {bounds.fraction_bits} binary "
            "places; use a longer key or fewer places."
        )
    return min(plans, key=lambda plan: plan.cost)


def _prime_bits(bits: int, primes: int, fewest: int) -> int:
    """The least length for which the product of so many primes surely exceeds 2^bits."""
    each = max(-(-bits // primes), fewest)
    while smallest_public_prime(each) ** primes < 1 << bits:
        each += 1
    return each


@dataclass(frozen=True)
class Share:
    """One party's summand of hidden integers, modulo ``modulus``.

    Attributes:
        modulus: public; more than twice as large as any hidden integer.
        values: uniform residues, worth nothing without the other's; never printed.
        determinant: the last of the values is det(A)'s.
        fraction_bits: the binary places of the hidden numbers.
    """

    modulus: int
    values: tuple[int, ...] = field(repr=False)
    determinant: bool = False
    fraction_bits: int = 0


def join_residues(
    residues: Sequence[Sequence[int]], primes: Sequence[int]
) -> tuple[int, list[int]]:
    """Residues modulo each prime to residues modulo their product (Chinese remainders)."""
    modulus = math.prod(primes)
    parts = [modulus // prime for prime in primes]
    lifts = [
        part * int(gmpy2.invert(part, prime)) for part, prime in zip(parts, primes, strict=True)
    ]
    columns = zip(*residues, strict=True)
    found = [
        sum(int(residue) * lift for residue, lift in zip(column, lifts, strict=True)) % modulus
        for column in columns
    ]
    return int(modulus), found
