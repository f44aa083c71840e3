"""Classification of several labels in the hidden mode: the asking peer learns the label alone.

Scores of all labels stay shared between the coordinator and the key holder. Every label's solve has
the same matrix, so that its scores are det(A) theta_k'x (or theta_k'x, by Chebyshev) on one scale,
and the largest of them can be found. The coordinator sends the asker an
order of the labels that it has drawn, the key holder a place in it. Neither says anything alone.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError
from sottovoce.learn.hidden.classify import (
    QueryTerms,
    masked_scores,
    opened_score_bytes,
    query_integers,
)
from sottovoce.learn.hidden.train import HiddenClassifier
from sottovoce.learn.paillier.grid import Grid
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.query_budget import LedgerBudget, QueryBudget
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import ScriptedParty
from sottovoce.learn.wire.stages import Listener, Script, Stage, Staged, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value
from functools import cached_property
from itertools import combinations

from sottovoce.errors import ParameterError
from sottovoce.learn.hidden.comparison import (
    ComparisonPlan,
    answer_encrypted_bits,
    answer_less,
    ask_encrypted_bits,
    ask_less,
    gather_slots,
    open_integers,
    permutation,
    read_array,
    uniform,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.learn.paillier.slots import Program, SlotPlan, SlotStage, mask_bound, plan_slots
from sottovoce.learn.paillier.wire import array_to_bytes
from sottovoce.learn.wire.message import Leakage, Learns
from sottovoce.learn.wire.script import Hear, PairScript, Say

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

    def check_share(self, share: Grid) -> Grid:
        """A party's share: residues, a column for each modulus."""
        grid = np.asarray(share, dtype=object)
        if grid.shape != (self.rows, self.labels) or any(
            not 0 <= int(each) < modulus
            for row in grid
            for each, modulus in zip(row, self.moduli, strict=True)
        ):
            raise ParameterError(f"a share must be {self.rows} rows of residues of their moduli.")
        return grid


def ask_largest(share: Grid, plan: LargestPlan, public: PublicKey) -> PairScript[Places]:
    """The part of the party without the key: for each row the order of what the other sees."""
    own = np.array(plan.moduli, dtype=object) - plan.check_share(share)
    below = yield from ask_less(plan.differences(own) + 1, plan.comparison, public)
    wins = yield from ask_encrypted_bits(below, public)
    tests = _tests(wins.reshape(plan.rows, len(plan.pairs)), plan)
    order = np.array([permutation(plan.labels) for _ in range(plan.rows)])
    hidden = _blur_wins(tests[np.arange(plan.rows)[:, None], order], plan)
    # In full, since it goes to the owner of the key, who may have chosen its primes.
    yield Say("wins", {"array": array_to_bytes(hidden.blind(full=True))})
    return order


def answer_largest(share: Grid, plan: LargestPlan, key: PrivateKey) -> PairScript[Places]:
    """The key holder's part: for each row the place of the largest in the other's order."""
    own = plan.differences(plan.check_share(share))
    below = yield from answer_less(own, plan.comparison, key)
    yield from answer_encrypted_bits(below, key)
    slots, size = plan.tests_plan(key.public.bits), plan.rows * plan.labels

    def read(message: Message) -> Places:
        array = read_array(message, key.public, slots, (size,))
        zero = open_integers(array, key).reshape(plan.rows, plan.labels) % plan.prime == 0
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


def _blur_wins(tests: EncryptedArray, plan: LargestPlan) -> EncryptedArray:
    """Tests as rho c + p t, packed."""
    rho = uniform(tests.shape, plan.prime - 1) + 1
    scaled = tests.times(rho, bound=plan.prime - 1)
    blur = uniform((plan.rows * plan.labels,), plan.blur_bound) * plan.prime
    slots = plan.tests_plan(tests.public.bits)
    return gather_slots(scaled, slots).plus_integers(blur, bound=plan.prime * plan.blur_bound)


STAGES = ("scores", "compare", "coordinator's order", "key holder's places")


@dataclass(frozen=True)
class LabelsQuery:
    """One query by the classifiers of several labels; all are of the same run, asker and rows."""

    labels: tuple[QueryTerms, ...]

    @property
    def one(self) -> QueryTerms:
        """What all labels share."""
        return self.labels[0]

    @property
    def plan(self) -> LargestPlan:
        """The comparison of all labels' scores."""
        for each in self.labels:
            each.numbers  # noqa: B018 - refuses shares that would not tell a sign
        return LargestPlan(self.one.rows, tuple(each.modulus for each in self.labels))


class LabelsContributor(Staged):
    """A peer with features of the rows; the asker among them ends with a label's place."""

    def __init__(
        self,
        name: str,
        query: LabelsQuery,
        classifiers: Sequence[HiddenClassifier],
        weights: Sequence[Floats],
    ) -> None:
        self.places: Places | None = None
        self.query = query
        parts: list[Mapping[str, Mapping[str, Value]]] = [
            masked_scores(each, query_integers(row, each.query_bits, len(query.one.contributors)))
            for each, row in zip(classifiers, weights, strict=True)
        ]
        self._pieces: dict[str, Mapping[str, Value]] = {
            helper: {"scores": tuple(part[helper]["scores"] for part in parts)}
            for helper in (COORDINATOR, KEY_HOLDER)
        }
        super().__init__(name, query.one.session, STAGES, self._script())

    def _script(self) -> Script:
        yield Stage("scores", lambda s: Teller(self.name, s, "scores", self._pieces))
        if self.name != self.query.one.asker:
            return
        first = yield Stage(STAGES[2], lambda s: Listener(self.name, s, "order", [COORDINATOR]))
        second = yield Stage(STAGES[3], lambda s: Listener(self.name, s, "places", [KEY_HOLDER]))
        order = told_order(first.heard[COORDINATOR], self.query)
        places = told_places(second.heard[KEY_HOLDER], self.query)
        self.places = largest_label(order, places)


class LabelsScorer(Staged):
    """Coordinator or key holder: opens masked scores, compares, and tells the asker its half."""

    def __init__(self, name: str, query: LabelsQuery, key: PrivateKey, other: PublicKey,
                 budgets: Sequence[QueryBudget | LedgerBudget]) -> None:  # fmt: skip
        super().__init__(name, query.one.session, STAGES, self._script())
        self.query, self._key, self._other, self._budgets = query, key, other, budgets

    def _script(self) -> Script:
        one = self.query.one
        heard = yield Stage("scores", lambda s: Listener(self.name, s, "scores", one.contributors))
        for budget in self._budgets:
            budget.spend(one.asker, one.rows)
        share = self._share(heard.heard)
        compared = yield Stage("compare", lambda s: self._comparing(s, share))
        found = np.asarray(compared.result, np.uint8)
        if self.name == COORDINATOR:
            piece: dict[str, Value] = {"order": found}
            yield Stage(STAGES[2], lambda s: Teller(self.name, s, "order", {one.asker: piece}))
        else:
            place: dict[str, Value] = {"places": found}
            yield Stage(STAGES[3], lambda s: Teller(self.name, s, "places", {one.asker: place}))

    def _share(self, heard: Mapping[str, Message]) -> Grid:
        """This party's share of every row's scores, a column for each label."""
        labels = self.query.labels
        parts = [told_scores(message, len(labels)) for message in heard.values()]
        columns = [
            opened_score_bytes([part[k] for part in parts], each, self._key)
            for k, each in enumerate(labels)
        ]
        return np.column_stack(columns)

    def _comparing(self, session: bytes, share: Grid) -> ScriptedParty[NDArray[np.int64]]:
        plan = self.query.plan
        if self.name == COORDINATOR:
            script = ask_largest(share, plan, self._other)
            return ScriptedParty(self.name, KEY_HOLDER, session, script)
        script = answer_largest(share, plan, self._key)
        return ScriptedParty(self.name, COORDINATOR, session, script)


def told_scores(message: Message, labels: int) -> tuple[bytes, ...]:
    """A contributor's masked scores of every label."""
    parts = message.item("scores", tuple)
    found = tuple(part for part in parts if isinstance(part, bytes))
    if len(parts) != labels or len(found) != labels:
        raise DamagedMessageError(f"masked scores of {labels} labels must come.")
    return found


def told_order(message: Message, query: LabelsQuery) -> Places:
    """The coordinator's half: an order of all labels for each row."""
    rows, labels = query.one.rows, len(query.labels)
    order = message.array("order", "|u1", ndim=2)
    if order.shape != (rows, labels) or (np.sort(order, axis=1) != np.arange(labels)).any():
        raise DamagedMessageError(f"an order of {labels} labels must come for {rows} rows.")
    return order.astype(np.int64)


def told_places(message: Message, query: LabelsQuery) -> Places:
    """The key holder's half: a place for each row."""
    places = message.array("places", "|u1")
    if places.size != query.one.rows or places.max(initial=0) >= len(query.labels):
        raise DamagedMessageError(f"a place must come for each of {query.one.rows} rows.")
    return places.astype(np.int64)
