"""Classification in the hidden mode: the asking peer learns the label, and nobody anything else.

Private Text Classification, Protocol 3, corrected: scores stay shared between the coordinator and
the key holder, who compare their shares under encryption. No score is ever opened.
**Two labels.** Each of them sends the asker a bit that is a fair coin; both make the sign.
**Several labels.** Every label's solve has the same matrix, so that its scores are det(A) theta_k'x
(or theta_k'x, by Chebyshev) on one scale, and the largest of them can be found. The coordinator
sends the asker an order of the labels that it has drawn, the key holder a place in it.
The numbers y_k of a row are shared as a_k + b_k = y_k modulo P_k, with a_k uniform and 2^65 |y_k| <
P_k. But for a chance of 2^-64 a_k + b_k is y_k + P_k as integers, so that y_k = b_k - (P_k - a_k)
without any modulus: differences of numbers with different moduli are shared too. For i < j

    [y_i >= y_j] = [b_j - b_i < (P_j - a_j) - (P_i - a_i) + 1]

is one bitwise `comparison`, whose outcome stays shared. The key holder encrypts its shares of all
outcomes, and the other adds up, under encryption, how many of the others each number is not below:
the first of the largest ones has all labels - 1 wins, and no other has. Wins less labels - 1 are
sent as `comparison.ZeroTests`: the key holder sees one zero at a uniform place, and the other knows
the order and not the place. Whoever gets both knows which number is the largest, and nothing else:
of equal numbers the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, InputError, ParameterError
from sottovoce.learn.modes.comparison import (
    Bits,
    ComparisonPlan,
    SharedNumbers,
    ZeroTests,
    answer_encrypted_bits,
    answer_less,
    ask_encrypted_bits,
    ask_less,
)
from sottovoce.learn.modes.hidden import HiddenClassifier
from sottovoce.learn.modes.hidden_solve import QUERY_SUM, SCORE, share_slots
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, as_grid, gmpy2
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import encode
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes, decrypt_integers
from sottovoce.learn.query_budget import LedgerBudget, QueryBudget
from sottovoce.learn.solve.field import mask_half_range, multiple_masks
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.message import Leakage, Learns, Message
from sottovoce.learn.wire.stages import (
    Listener,
    PairScript,
    Script,
    ScriptedParty,
    Stage,
    Staged,
    Teller,
)
from sottovoce.privacy.randomness import random_below

Places = NDArray[np.int64]
STAGES = ("scores", "compare", "coordinator's bits", "key holder's bits")
LABELS_STAGES = ("scores", "compare", "coordinator's order", "key holder's places")
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
    def tests(self) -> ZeroTests:
        """Of each row and number, whether it wins against all others."""
        prime = int(gmpy2.next_prime(self.labels))
        return ZeroTests(self.rows, self.labels, self.labels - 1, prime)

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
    said, order = plan.tests.say("wins", _count_wins(wins, plan))
    yield said
    return order


def answer_largest(share: Grid, plan: LargestPlan, key: PrivateKey) -> PairScript[Places]:
    """The key holder's part: for each row the place of the largest in the other's order."""
    own = plan.differences(plan.check_share(share))
    below = yield from answer_less(own, plan.comparison, key)
    yield from answer_encrypted_bits(below, key)

    def find_largest(zero: NDArray[np.bool_]) -> Places:
        if not (zero.sum(axis=1) == 1).all():
            raise DamagedMessageError("of each row one number must be the largest.")
        return np.asarray(zero.argmax(axis=1), np.int64)

    found: Places = yield plan.tests.hear("wins", key, find_largest)
    return found


def largest_label(order: Places, places: Places) -> Places:
    """Which number is the largest, from both halves."""
    return order[np.arange(len(order)), places]


def _count_wins(wins: EncryptedArray, plan: LargestPlan) -> EncryptedArray:
    """Of each row and number its wins less labels - 1: zero for the first of the largest."""
    signs = np.zeros((len(plan.pairs), plan.labels), dtype=np.int64)
    for at, (i, j) in enumerate(plan.pairs):
        signs[at, i], signs[at, j] = 1, -1
    # Number j is not below those before it unless they win: j of them less their wins.
    others = np.arange(plan.labels) - (plan.labels - 1)
    by_row = wins.reshape(plan.rows, len(plan.pairs))
    added = by_row.combine(signs, axis=1, weight=plan.labels - 1)
    return added.plus_integers(others, bound=plan.labels - 1)


@dataclass(frozen=True)
class QueryTerms:
    """One query by one label's classifier.

    Attributes:
        session: the run's name.
        asker: who learns the signs.
        contributors: whose features are used, the asker among them.
        rows: how many rows are classified.
        modulus: of the shares of theta.
        bound: the largest size of a score, as the solve was planned for.
        peers: how many peers trained, which the slots were planned for.
    """

    session: bytes
    asker: str
    contributors: tuple[str, ...]
    rows: int
    modulus: int
    bound: int
    peers: int

    def __post_init__(self) -> None:
        if self.asker not in self.contributors or self.rows < 1:
            raise InputError("a query needs at least one row, and its asker's own features.")

    @property
    def numbers(self) -> SharedNumbers:
        """What is known of the scores; refused where shares would not tell their sign."""
        return SharedNumbers(self.rows, self.modulus, self.bound)


class HiddenContributor(Staged):
    """A peer with features of the rows; the asker among them ends with each row's place of label.

    ``query`` has terms for each label's classifier, or for one that tells two labels apart; all are
    of one asker and of the same rows.
    """

    def __init__(
        self,
        name: str,
        query: Sequence[QueryTerms],
        classifiers: Sequence[HiddenClassifier],
        weights: Sequence[Floats],
    ) -> None:
        self.places: Places | None = None
        self.query, self._several = query, len(query) > 1
        parts = [
            masked_scores(each, query_integers(row, each.query_bits, len(query[0].contributors)))
            for each, row in zip(classifiers, weights, strict=True)
        ]
        self._scores: dict[str, tuple[bytes, ...] | bytes] = {
            helper: tuple(part[helper] for part in parts) if self._several else parts[0][helper]
            for helper in (COORDINATOR, KEY_HOLDER)
        }
        super().__init__(name, query[0].session, _stages(query), self._script())

    def _script(self) -> Script:
        said = {helper: {"scores": each} for helper, each in self._scores.items()}
        yield Stage("scores", lambda s: Teller(self.name, s, "scores", said))
        if self.name != self.query[0].asker:
            return
        kinds, stages = _kinds(self.query), _stages(self.query)[2:]
        first = yield Stage(stages[0], lambda s: Listener(self.name, s, kinds[0], [COORDINATOR]))
        second = yield Stage(stages[1], lambda s: Listener(self.name, s, kinds[1], [KEY_HOLDER]))
        one, other = first.heard[COORDINATOR], second.heard[KEY_HOLDER]
        rows, labels = self.query[0].rows, len(self.query)
        if self._several:
            self.places = largest_label(
                told_order(one, rows, labels), told_places(other, rows, labels)
            )
        else:
            self.places = told_bits(one, rows) ^ told_bits(other, rows)


class HiddenScorer(Staged):
    """Coordinator or key holder: opens masked scores, compares, and tells the asker its half."""

    def __init__(self, name: str, query: Sequence[QueryTerms], key: PrivateKey, other: PublicKey,
                 budgets: Sequence[QueryBudget | LedgerBudget]) -> None:  # fmt: skip
        super().__init__(name, query[0].session, _stages(query), self._script())
        self.query, self._key, self._other, self._budgets = query, key, other, budgets

    def _script(self) -> Script:
        one = self.query[0]
        heard = yield Stage("scores", lambda s: Listener(self.name, s, "scores", one.contributors))
        for budget in self._budgets:
            budget.spend(one.asker, one.rows)
        comparing = self._compare_labels if len(self.query) > 1 else self._compare_signs
        script = comparing(list(heard.heard.values()))
        leads = self.name == COORDINATOR
        other = KEY_HOLDER if leads else COORDINATOR
        compared = yield Stage("compare", lambda s: ScriptedParty(self.name, other, s, script))
        kind, stage = _kinds(self.query)[not leads], _stages(self.query)[3 - leads]
        half = np.asarray(compared.result, np.uint8)
        yield Stage(stage, lambda s: Teller(self.name, s, kind, {one.asker: {kind: half}}))

    def _compare_signs(self, heard: Sequence[Message]) -> PairScript[Bits]:
        """[b < P - a + 1], shared: it is 0 exactly if the score a + b - P is positive."""
        one = self.query[0]
        numbers = one.numbers
        parts = [message.item("scores", bytes) for message in heard]
        share = numbers.check_share(opened_scores(parts, one, self._key))
        if self.name == KEY_HOLDER:
            return (yield from answer_less(share, numbers.comparison, self._key))
        less = yield from ask_less(numbers.modulus + 1 - share, numbers.comparison, self._other)
        return less ^ 1

    def _compare_labels(self, heard: Sequence[Message]) -> PairScript[Places]:
        """Which label's score is the largest, in two halves."""
        for each in self.query:
            each.numbers  # noqa: B018 - refuses shares that would not tell a sign
        plan = LargestPlan(self.query[0].rows, tuple(each.modulus for each in self.query))
        parts = [told_scores(message, len(self.query)) for message in heard]
        columns = [
            opened_scores([part[k] for part in parts], each, self._key)
            for k, each in enumerate(self.query)
        ]
        share = np.column_stack(columns)
        if self.name == KEY_HOLDER:
            return (yield from answer_largest(share, plan, self._key))
        return (yield from ask_largest(share, plan, self._other))


def _stages(query: Sequence[QueryTerms]) -> tuple[str, ...]:
    return LABELS_STAGES if len(query) > 1 else STAGES


def _kinds(query: Sequence[QueryTerms]) -> tuple[str, str]:
    """What the coordinator's and the key holder's half of an answer are called."""
    return ("order", "places") if len(query) > 1 else ("bits", "bits")


def query_integers(weights: Floats, places: int, contributors: int) -> Grid:
    """Standardised rows as integers, none of them too far out for the planned scores.

    Contributors' numbers add up, so that each may use its part of the planned sum.
    """
    if not np.isfinite(weights).all():
        raise InputError("rows to classify must be finite, got NaN or infinity.")
    sizes = np.abs(weights).sum(axis=1)
    most = QUERY_SUM / contributors - 1  # rounding adds less than 1
    if sizes.size and sizes.max() > most:
        raise InputError(
            f"a standardised row's numbers must add up to less than {most:g} in size, got "
            f"{sizes.max():g}; this row is nothing like those that were trained on."
        )
    return np.asarray(encode(weights, places)).astype(object)


def masked_scores(classifier: HiddenClassifier, weights: Grid) -> dict[str, bytes]:
    """A peer's part of each score under both keys, plus r for the one and -r for the other.

    Private Text Classification, Protocol 3: S.LOCALINNERPROD.
    """
    modulus, rows = classifier.modulus, len(weights)
    residues = [random_below(modulus) for _ in range(rows)]
    negated = [-residue % modulus for residue in residues]
    return {
        COORDINATOR: _mask_scores(classifier.coordinator, weights, residues, modulus),
        KEY_HOLDER: _mask_scores(classifier.key_holder, weights, negated, modulus),
    }


def _mask_scores(share: EncryptedArray, weights: Grid, residues: list[int], modulus: int) -> bytes:
    scores = share.combine(weights, weight=SCORE)
    masks = multiple_masks((len(weights),), modulus, SCORE) + as_grid(residues, (len(weights),))
    bound = (mask_half_range(SCORE) + 1) * modulus
    # In full, since it goes to the owner of the key, who may have chosen its primes.
    return array_to_bytes(scores.plus_integers(masks, bound=bound).blind(full=True))


def opened_scores(parts: Sequence[bytes], terms: QueryTerms, key: PrivateKey) -> Grid:
    """This party's share of the scores, from all contributors' masked parts."""
    plan = share_slots(terms.modulus, key.public.bits, terms.peers)
    total: EncryptedArray | None = None
    for each in parts:
        part = array_from_bytes(each, key.public, plan=plan)
        if part.shape != (terms.rows,):
            raise DamagedMessageError(f"{terms.rows} masked scores must come, got {part.shape}.")
        total = part if total is None else total + part
    if total is None:
        raise DamagedMessageError("a query needs at least one contributor.")
    opened = decrypt_integers(total, key).ravel()
    return as_grid([int(each) % terms.modulus for each in opened], (terms.rows,))


def told_bits(message: Message, rows: int) -> Bits:
    """One party's share of the signs."""
    bits = message.array("bits", "|u1")
    if bits.size != rows or bits.max(initial=0) > 1:
        raise DamagedMessageError(f"{rows} bits must come.")
    return bits.astype(np.int64)


def told_scores(message: Message, labels: int) -> tuple[bytes, ...]:
    """A contributor's masked scores of every label."""
    parts = message.item("scores", tuple)
    found = tuple(part for part in parts if isinstance(part, bytes))
    if len(parts) != labels or len(found) != labels:
        raise DamagedMessageError(f"masked scores of {labels} labels must come.")
    return found


def told_order(message: Message, rows: int, labels: int) -> Places:
    """The coordinator's half: an order of all labels for each row."""
    order = message.array("order", "|u1", ndim=2)
    if order.shape != (rows, labels) or (np.sort(order, axis=1) != np.arange(labels)).any():
        raise DamagedMessageError(f"an order of {labels} labels must come for {rows} rows.")
    return order.astype(np.int64)


def told_places(message: Message, rows: int, labels: int) -> Places:
    """The key holder's half: a place for each row."""
    places = message.array("places", "|u1")
    if places.size != rows or places.max(initial=0) >= labels:
        raise DamagedMessageError(f"a place must come for each of {rows} rows.")
    return places.astype(np.int64)
