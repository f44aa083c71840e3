"""Who of two parties has the larger number, told to neither: bitwise, under encryption.

After Damgard, Geisler and Kroigaard (2007) and Veugen (2012), with Paillier for the encryption of
bits. The key holder has b, the ciphertext holder a, both of l bits. The key holder encrypts the
bits of b. With a secret sign s the ciphertext holder computes under encryption, for each place i,

    c_i = s + a_i - b_i + 3 sum_{j above i} (a_j xor b_j),  and last  [s = -1] + sum_j (a_j xor b_j)

One of these l + 1 numbers is zero exactly if s = -1 and b < a, or s = +1 and a <= b; at most one
can be. They are sent in random order, each as rho c + p t: p is a public prime above every |c|, rho
uniform from 1 to p - 1, and t uniform over a range 2^64 times that of rho c / p. Modulo p a zero
stays zero and everything else becomes a uniform non-zero residue, exactly; what is not seen modulo
p is hidden by t but for a distance of 2^-64. So the key holder sees l + 1 uniform residues, with a
zero at a uniform place if a bit is one that s made a fair coin: nothing. Small p, as in DGK's own
cryptosystem, keeps the exponents short; t makes that safe under Paillier.

The outcome [b < a] = [zero found] xor [s = +1] is left shared between the two by exclusive or. The
sign of numbers that are shared by a sum modulo P is such a comparison: see `SharedNumbers`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray, concatenate
from sottovoce.learn.paillier.grid import Grid, as_grid, gmpy2, spread
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import (
    SLACK_BITS,
    Program,
    SlotPlan,
    SlotStage,
    mask_bound,
    plan_slots,
)
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
)
from sottovoce.learn.wire.message import Leakage, Learns, Message
from sottovoce.learn.wire.stages import Hear, PairScript, Say
from sottovoce.privacy.randomness import random_below, random_bytes

Bits = NDArray[np.int64]

LEAKAGE = Leakage(
    "bitwise comparison",
    (
        Learns("ciphertext holder", "nothing: it sees encrypted bits"),
        Learns("key holder", "residues that are uniform whatever the numbers are, within 2^-64"),
    ),
    collusion="the two together know both numbers",
)


class ZeroTests(NamedTuple):
    """Rows of ``each`` numbers, of which the key holder sees only whether one is zero.

    Numbers are at most ``largest`` in size, and seen modulo ``prime``, which is above that.
    """

    rows: int
    each: int
    largest: int
    prime: int

    @property
    def blur_bound(self) -> int:
        """The t that hides quotients by the prime is uniform below this."""
        return mask_bound(self.prime)

    def slots(self, key_bits: int) -> SlotPlan:
        """Packed slots for numbers times rho plus p t."""
        scaled = self.largest * (self.prime - 1)
        stages = SlotStage(scaled, 0), SlotStage(scaled + self.prime * self.blur_bound, 0)
        return plan_slots(Program(stages), key_bits=key_bits)

    def say(self, kind: str, tests: EncryptedArray) -> tuple[Say, NDArray[np.int64]]:
        """The numbers as rho c + p t, each row in a random order, which stays here."""
        rho = uniform(tests.shape, self.prime - 1) + 1
        scaled = tests.times(rho, bound=self.prime - 1)
        order = np.array([permutation(self.each) for _ in range(self.rows)])
        mixed = scaled[np.arange(self.rows)[:, None], order]
        blur = uniform((self.rows * self.each,), self.blur_bound) * self.prime
        packed = gather_slots(mixed, self.slots(tests.public.bits))
        hidden = packed.plus_integers(blur, bound=self.prime * self.blur_bound)
        # In full, since it goes to the owner of the key, who may have chosen its primes.
        return Say(kind, {"array": array_to_bytes(hidden.blind(full=True))}), order

    def hear(self, kind: str, key: PrivateKey, find: Callable[[NDArray[np.bool_]], Bits]) -> Hear:
        """What the key holder finds in which numbers of each row are zero."""

        def read(message: Message) -> Bits:
            size = self.rows * self.each
            array = read_array(message, key.public, self.slots(key.public.bits), (size,))
            residues = open_integers(array, key).reshape(self.rows, self.each) % self.prime
            return find(np.asarray(residues == 0))

        return Hear(kind, read)


@dataclass(frozen=True)
class ComparisonPlan:
    """What both know of a batch of comparisons.

    Attributes:
        count: how many pairs of numbers are compared.
        bits: the length of the numbers, l.
    """

    count: int
    bits: int

    def __post_init__(self) -> None:
        if min(self.count, self.bits) < 1:
            raise ParameterError("a comparison needs at least one pair, of at least one bit.")

    @property
    def zeros(self) -> ZeroTests:
        """What is sent of the tests."""
        largest = 3 * self.bits + 2
        return ZeroTests(self.count, self.bits + 1, largest, int(gmpy2.next_prime(largest)))

    def bits_plan(self, key_bits: int) -> SlotPlan:
        """A ciphertext for each bit."""
        return roomy_plan(key_bits, SlotStage(1, 0))


def ask_less(numbers: Grid, plan: ComparisonPlan, public: PublicKey) -> PairScript[Bits]:
    """The ciphertext holder's part: its share of [key holder's number < its own], for each pair."""
    own = bits_of(numbers, plan)
    flips = _coins(plan.count)
    theirs = yield hear_reply("bits", public, plan.bits_plan(public.bits), own.shape)
    zeros = plan.zeros
    said, _ = zeros.say("tests", replace(_tests(theirs, own, flips), bound=zeros.largest))
    yield said
    return flips


def answer_less(numbers: Grid, plan: ComparisonPlan, key: PrivateKey) -> PairScript[Bits]:
    """The key holder's part: its share of [its number < ciphertext holder's], for each pair."""
    own = bits_of(numbers, plan).astype(object)
    yield reply("bits", own, plan.bits_plan(key.public.bits), key)
    found: Bits = yield plan.zeros.hear(
        "tests", key, lambda zero: np.array(zero.any(axis=1), dtype=np.int64)
    )
    return found


def bits_of(numbers: Grid, plan: ComparisonPlan) -> Bits:
    """The bits of each number, the most significant first."""
    flat = [int(number) for number in np.asarray(numbers, dtype=object).ravel()]
    if len(flat) != plan.count or any(not 0 <= each < 1 << plan.bits for each in flat):
        raise ParameterError(f"a comparison takes {plan.count} numbers of {plan.bits} bits.")
    places = range(plan.bits - 1, -1, -1)
    return np.array([[each >> place & 1 for place in places] for each in flat], dtype=np.int64)


def _tests(theirs: EncryptedArray, own: Bits, flips: Bits) -> EncryptedArray:
    """The c_i of the module's text; a flip of 1 stands for s = +1, of 0 for s = -1."""
    differ = theirs.times(1 - 2 * own, bound=1).plus_integers(own, bound=1)
    above = _sums_above(differ)
    signs = (2 * flips - 1)[:, None]
    places = (above[:, :-1].times(3) - theirs).plus_integers(own + signs, bound=2)
    tie = above[:, -1:].plus_integers(1 - flips[:, None], bound=1)
    return concatenate([places, tie], axis=1)


def _sums_above(array: EncryptedArray) -> EncryptedArray:
    """Sums of what stands before each place of a row, and last the sum of all of it."""
    modulus = array.public.n_squared
    rows = [
        [*accumulate(row, lambda left, right: left * right % modulus, initial=gmpy2.mpz(1))]
        for row in array.ciphertexts.tolist()
    ]
    shape = (array.shape[0], array.shape[1] + 1)
    grid = as_grid([each for row in rows for each in row], shape)
    # Each bit differs or not, so that a sum of them is at most their number.
    return replace(array, ciphertexts=grid, bound=array.shape[1], blinded=False)


def permutation(length: int) -> list[int]:
    """A uniform order, after Fisher and Yates."""
    order = list(range(length))
    for last in range(length - 1, 0, -1):
        other = random_below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def _coins(count: int) -> Bits:
    return np.array([byte & 1 for byte in random_bytes(count)], dtype=np.int64)


def ask_encrypted_bits(share: Bits, public: PublicKey) -> PairScript[EncryptedArray]:
    """The ciphertext holder's part: the shared bits under encryption.

    a xor b = b where its share a is 0, and 1 - b where it is 1.
    """
    plan = roomy_plan(public.bits, SlotStage(1, 0))
    other = yield hear_reply("encrypted bits", public, plan, share.shape)
    bits = other.times(1 - 2 * share, bound=1).plus_integers(share, bound=1)
    tight: EncryptedArray = replace(bits, plan=plan, bound=1)
    return tight


def answer_encrypted_bits(share: Bits, key: PrivateKey) -> PairScript[None]:
    """The key holder's part: its share, encrypted."""
    plan = roomy_plan(key.public.bits, SlotStage(1, 0))
    yield reply("encrypted bits", share.astype(object), plan, key)


@dataclass(frozen=True)
class SharedNumbers:
    """What both know of numbers that they share by a sum modulo P.

    Attributes:
        count: how many there are.
        modulus: P.
        bound: the largest size of a number; P must be 2^65 times larger.
    """

    count: int
    modulus: int
    bound: int

    def __post_init__(self) -> None:
        if self.bound < 1 or self.modulus >> (SLACK_BITS + 1) < self.bound:
            raise ParameterError(
                f"the modulus of shares must be 2^{SLACK_BITS + 1} times the largest number, got "
                f"{self.modulus.bit_length()} bits for numbers of {self.bound.bit_length()}."
            )

    @property
    def comparison(self) -> ComparisonPlan:
        """The comparison that tells the sign."""
        return ComparisonPlan(self.count, (self.modulus + 1).bit_length())

    def check_share(self, share: Grid) -> Grid:
        """A party's share, which must be ``count`` residues."""
        flat = np.asarray(share, dtype=object).ravel()
        if len(flat) != self.count or any(not 0 <= int(each) < self.modulus for each in flat):
            raise ParameterError(f"a share must be {self.count} residues of the modulus.")
        return flat


def roomy_plan(key_bits: int, *stages: SlotStage) -> SlotPlan:
    """One number for each plaintext, as wide as the key allows; refused if a stage is wider."""
    program = Program(stages)
    plan_slots(program, key_bits=key_bits, packed=False)
    return SlotPlan(key_bits, key_bits - 1, 1, program)


def reply(kind: str, integers: Grid, plan: SlotPlan, key: PrivateKey) -> Say:
    """Integers encrypted for the ciphertext holder."""
    return Say(kind, {"array": array_to_bytes(encrypt_integers(integers, plan, key))})


def hear_reply(kind: str, public: PublicKey, plan: SlotPlan, shape: tuple[int, ...]) -> Hear:
    """Wait for encrypted integers of an agreed plan and shape."""
    return Hear(kind, lambda message: read_array(message, public, plan, shape))


def read_array(
    message: Message, public: PublicKey, plan: SlotPlan, shape: tuple[int, ...]
) -> EncryptedArray:
    """The ciphertexts of a message, checked against the key, the plan and the shape."""
    array = array_from_bytes(message.item("array", bytes), public, plan=plan)
    if array.shape != shape:
        raise InputError(f"{message.kind} must have shape {shape}, got {array.shape}.")
    return array


def open_integers(array: EncryptedArray, key: PrivateKey) -> Grid:
    """The integers of an array as Python's, which never overflow."""
    return decrypt_integers(array, key).astype(object)


def uniform(shape: tuple[int, ...], bound: int) -> Grid:
    """Uniform integers from 0 to ``bound`` - 1, from the operating system."""
    count = int(np.prod(shape))
    return as_grid([random_below(bound) for _ in range(count)], shape)


def gather_slots(array: EncryptedArray, plan: SlotPlan) -> EncryptedArray:
    """The numbers of an unpacked array in a row of slots: sums of v_j 2^(w j) under encryption."""
    flat = array.ciphertexts.ravel().tolist()
    groups = [flat[at : at + plan.slots] for at in range(0, len(flat), plan.slots)]
    work = partial(_shifted_together, 1 << plan.slot_bits, array.public.n_squared)
    grid = as_grid(spread(work, groups, fewest=1), (len(groups),))
    return EncryptedArray(array.public, plan, grid, len(flat), array.bound, array.fraction_bits)


def _shifted_together(shift: int, modulus: int, groups: Sequence[Sequence[int]]) -> list[int]:
    def join(sums: int, cipher: int) -> int:
        joined: int = gmpy2.powmod(sums, shift, modulus) * cipher % modulus
        return joined

    return [reduce(join, reversed(group)) for group in groups]
