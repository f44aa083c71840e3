"""Whether hidden numbers are positive: the sign under encryption, and the sign of shares.

Of an encrypted x with |x| < 2^l (Veugen 2012): z = x - 1 + 2^l has bit l exactly if x > 0. The key
holder sees x + r under a mask r, and so w = z + r. Then

    [x > 0] = floor(w / 2^l) - floor(r / 2^l) - [w mod 2^l < r mod 2^l]

where the last comparison is `comparison`'s. Only parities matter, so that the sum is an exclusive
or: each party adds its parity to its share of the comparison.

Of shares a + b = y modulo P, with a uniform and 2^65 |y| < P: but for a chance of 2^-64 a + b is
y + P as integers, so y > 0 exactly if b is not below P - a + 1.

Zero counts as not positive, as in the classifiers' `predict`.
"""

from dataclasses import dataclass

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.comparison import (
    Bits,
    ComparisonPlan,
    Told,
    answer_bits,
    answer_encrypted_bits,
    answer_less,
    ask_bits,
    ask_encrypted_bits,
    ask_less,
)
from sottovoce.learn.arithmetic.shown import Outline, see, show
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import SLACK_BITS
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.learn.wire.script import Script

LEAKAGE = Leakage(
    "secure sign",
    (
        Learns("ciphertext holder", "the signs if it is the one told, else nothing"),
        Learns("key holder", "the signs if it is the one told, else nothing; all that it opens is "
               "uniform whatever the numbers are, within 2^-64"),
    ),
    collusion="the two together can open everything; signs of many chosen queries give a "
    "classifier's direction away, so that whoever is told them needs a budget",
)  # fmt: skip


def ask_positive_shares(array: EncryptedArray, outline: Outline) -> Script[Bits]:
    """The ciphertext holder's share of [x > 0] for each number, in the order of its flat array.

    ``outline`` is the agreed one: an array's own bound may follow from private weights.
    """
    plan, places = _sign_plan(outline)
    shown = yield from show(array, outline)
    masks = shown.masks.ravel()
    share = yield from ask_less(masks % (1 << places), plan, array.public)
    return share ^ _parity(masks >> places)


def answer_positive_shares(outline: Outline, key: PrivateKey) -> Script[Bits]:
    """The key holder's share of [x > 0] for each number."""
    plan, places = _sign_plan(outline)
    seen = yield from see(outline, key)
    raised = seen.integers.ravel() + ((1 << places) - 1)
    share = yield from answer_less(raised % (1 << places), plan, key)
    return share ^ _parity(raised >> places)


def ask_positive(array: EncryptedArray, outline: Outline, *, told: Told) -> Script[Bits]:
    """The ciphertext holder's part of the sign: 1 where x > 0, if it is the one told."""
    share = yield from ask_positive_shares(array, outline)
    return (yield from ask_bits(share, told))


def answer_positive(outline: Outline, key: PrivateKey, *, told: Told) -> Script[Bits]:
    """The key holder's part of the sign: 1 where x > 0, if it is the one told."""
    share = yield from answer_positive_shares(outline, key)
    return (yield from answer_bits(share, told))


def ask_positive_encrypted(array: EncryptedArray, outline: Outline) -> Script[EncryptedArray]:
    """The ciphertext holder's part of the sign as encrypted bits."""
    share = yield from ask_positive_shares(array, outline)
    bits = yield from ask_encrypted_bits(share, array.public)
    return bits.reshape(*array.shape)


def answer_positive_encrypted(outline: Outline, key: PrivateKey) -> Script[None]:
    """The key holder's part of the sign as encrypted bits."""
    share = yield from answer_positive_shares(outline, key)
    yield from answer_encrypted_bits(share, key)


def _sign_plan(outline: Outline) -> tuple[ComparisonPlan, int]:
    places = outline.bound.bit_length()
    return ComparisonPlan(outline.size, places), places


def _parity(numbers: Grid) -> Bits:
    return np.array([int(number) & 1 for number in numbers], dtype=np.int64)


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

    def checked(self, share: Grid) -> Grid:
        """A party's share, which must be ``count`` residues."""
        flat = np.asarray(share, dtype=object).ravel()
        if len(flat) != self.count or any(not 0 <= int(each) < self.modulus for each in flat):
            raise ParameterError(f"a share must be {self.count} residues of the modulus.")
        return flat


def ask_shared_positive(
    share: Grid, numbers: SharedNumbers, public: PublicKey, *, told: Told
) -> Script[Bits]:
    """The part of the party without the key: 1 where y > 0, if it is the one told.

    ``public`` is the other party's key; "ciphertext holder" names this party.
    """
    own = numbers.modulus + 1 - numbers.checked(share)
    below = yield from ask_less(own, numbers.comparison, public)
    return (yield from ask_bits(below ^ 1, told))


def answer_shared_positive(
    share: Grid, numbers: SharedNumbers, key: PrivateKey, *, told: Told
) -> Script[Bits]:
    """The key holder's part: 1 where y > 0, if it is the one told."""
    below = yield from answer_less(numbers.checked(share), numbers.comparison, key)
    return (yield from answer_bits(below, told))
