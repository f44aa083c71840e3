"""Which of several shared numbers is the largest, in two halves that say nothing by themselves.

The numbers y_k of a row are shared as a_k + b_k = y_k modulo P_k, with a_k uniform and 2^65 |y_k| <
P_k. But for a chance of 2^-64 a_k + b_k is y_k + P_k as integers, so that y_k = b_k - (P_k - a_k)
without any modulus: differences of numbers with different moduli are shared too. For i < j

    [y_i >= y_j] = [b_j - b_i < (P_j - a_j) - (P_i - a_i) + 1]

is one bitwise `comparison`, whose outcome stays shared. The key holder encrypts its shares of all
outcomes, and the other adds up, under encryption, how many of the others each number is not below:
the first of the largest ones has all labels - 1 wins, and no other has. Wins less labels - 1 are
sent in random order, each as rho c + p t (as in `comparison`: a zero stays zero modulo the public
prime p, everything else becomes a uniform non-zero residue, and t hides the rest but for 2^-64). So
the key holder sees one zero at a uniform place, and the other knows the order and not the place.
Whoever gets both knows which number is the largest, and nothing else.

Equal numbers: the first of them counts as the largest, as `numpy.argmax` has it.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DamagedMessageError, ParameterError
from sottovoce.learn.arithmetic.comparison import (
    ComparisonPlan,
    answer_encrypted_bits,
    answer_less,
    ask_encrypted_bits,
    ask_less,
    permutation,
)
from sottovoce.learn.arithmetic.shown import gathered, opened, received, uniform
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, gmpy2
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import Program, SlotPlan, SlotStage, mask_bound, plan_slots
from sottovoce.learn.paillier.wire import array_to_bytes
from sottovoce.learn.wire.message import Leakage, Learns, Message
from sottovoce.learn.wire.script import Hear, Say, Script

Places = NDArray[np.int64]
_FEWEST = 2

LEAKAGE = Leakage(
    "largest of shared numbers",
    (
        Learns("ciphertext holder", "a random order that it has drawn itself"),
        Learns("key holder", "a place that is uniform whatever the numbers are, within 2^-64"),
    ),
    collusion="the two together know all numbers; whoever gets both halves knows which number is "
    "the largest, and of many chosen rows a classifier's directions, so that it needs a budget",
)


@dataclass(frozen=True)
class LargestPlan:
    """What both know of rows of shared numbers.

    Attributes:
        rows: how many rows there are.
        moduli: of each number of a row.
    """

    rows: int
    moduli: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.rows < 1 or len(self.moduli) < _FEWEST:
            raise ParameterError("a largest number needs at least 1 row of at least 2 numbers.")

    @property
    def labels(self) -> int:
        """How many numbers a row has."""
        return len(self.moduli)

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of numbers, the smaller place first."""
        return tuple(combinations(range(self.labels), 2))

    @cached_property
    def offset(self) -> int:
        """What makes every difference positive: above every modulus."""
        return 1 << max(self.moduli).bit_length()

    @cached_property
    def comparison(self) -> ComparisonPlan:
        """All pairs of all rows at once."""
        return ComparisonPlan(self.rows * len(self.pairs), (2 * self.offset).bit_length())

    @cached_property
    def prime(self) -> int:
        """What wins are seen modulo: above every number of wins."""
        return int(gmpy2.next_prime(self.labels))

    @property
    def blur_bound(self) -> int:
        """The t that hides quotients by the prime is uniform below this."""
        return mask_bound(self.prime)

    def tests_plan(self, key_bits: int) -> SlotPlan:
        """Packed slots for wins times rho plus p t."""
        scaled = (self.labels - 1) * (self.prime - 1)
        stages = SlotStage(scaled, 0), SlotStage(scaled + self.prime * self.blur_bound, 0)
        return plan_slots(Program(stages), key_bits=key_bits)

    def differences(self, numbers: Grid) -> Grid:
        """Of each row and pair the second number less the first, made positive."""
        columns = [numbers[:, j] - numbers[:, i] + self.offset for i, j in self.pairs]
        return np.column_stack(columns).ravel()

    def checked(self, share: Grid) -> Grid:
        """A party's share: residues, a column for each modulus."""
        grid = np.asarray(share, dtype=object)
        if grid.shape != (self.rows, self.labels) or any(
            not 0 <= int(each) < modulus
            for row in grid
            for each, modulus in zip(row, self.moduli, strict=True)
        ):
            raise ParameterError(f"a share must be {self.rows} rows of residues of their moduli.")
        return grid


def ask_largest(share: Grid, plan: LargestPlan, public: PublicKey) -> Script[Places]:
    """The part of the party without the key: for each row the order of what the other sees."""
    own = np.array(plan.moduli, dtype=object) - plan.checked(share)
    below = yield from ask_less(plan.differences(own) + 1, plan.comparison, public)
    wins = yield from ask_encrypted_bits(below, public)
    tests = _tests(wins.reshape(plan.rows, len(plan.pairs)), plan)
    order = np.array([permutation(plan.labels) for _ in range(plan.rows)])
    hidden = _blurred(tests[np.arange(plan.rows)[:, None], order], plan)
    # In full, since it goes to the owner of the key, who may have chosen its primes.
    yield Say("wins", {"array": array_to_bytes(hidden.blind(full=True))})
    return order


def answer_largest(share: Grid, plan: LargestPlan, key: PrivateKey) -> Script[Places]:
    """The key holder's part: for each row the place of the largest in the other's order."""
    own = plan.differences(plan.checked(share))
    below = yield from answer_less(own, plan.comparison, key)
    yield from answer_encrypted_bits(below, key)
    slots, size = plan.tests_plan(key.public.bits), plan.rows * plan.labels

    def read(message: Message) -> Places:
        array = received(message, key.public, slots, (size,))
        zero = opened(array, key).reshape(plan.rows, plan.labels) % plan.prime == 0
        if not (zero.sum(axis=1) == 1).all():
            raise DamagedMessageError("of each row one number must be the largest.")
        return np.asarray(zero.argmax(axis=1), np.int64)

    found: Places = yield Hear("wins", read)
    return found


def largest_label(order: Places, places: Places) -> Places:
    """Which number is the largest, from both halves."""
    return order[np.arange(len(order)), places]


def _tests(wins: EncryptedArray, plan: LargestPlan) -> EncryptedArray:
    """Of each row and number its wins less labels - 1: zero for the first of the largest."""
    signs = np.zeros((len(plan.pairs), plan.labels), dtype=np.int64)
    for at, (i, j) in enumerate(plan.pairs):
        signs[at, i], signs[at, j] = 1, -1
    # Number j is not below those before it unless they win: j of them less their wins.
    others = np.arange(plan.labels) - (plan.labels - 1)
    added = wins.combine(signs, axis=1, weight=plan.labels - 1)
    return added.plus_integers(others, bound=plan.labels - 1)


def _blurred(tests: EncryptedArray, plan: LargestPlan) -> EncryptedArray:
    """Tests as rho c + p t, packed."""
    rho = uniform(tests.shape, plan.prime - 1) + 1
    scaled = tests.times(rho, bound=plan.prime - 1)
    blur = uniform((plan.rows * plan.labels,), plan.blur_bound) * plan.prime
    slots = plan.tests_plan(tests.public.bits)
    return gathered(scaled, slots).plus_integers(blur, bound=plan.prime * plan.blur_bound)
