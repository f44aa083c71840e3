"""Classification in the hidden mode: the asking peer learns the signs, and nobody anything else.

Private Text Classification, Protocol 3, corrected: scores stay shared between the coordinator and
the key holder, who compare their shares under encryption. Each sends the asking peer a bit that is
a fair coin by itself; both together are the sign. No score is ever opened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, InputError
from sottovoce.learn.hidden.comparison import SharedNumbers, answer_less, ask_less
from sottovoce.learn.hidden.solvers import QUERY_SUM, SCORE, share_slots
from sottovoce.learn.hidden.train import HiddenClassifier
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import Grid, as_grid
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import encode
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes, decrypt_integers
from sottovoce.learn.query_budget import LedgerBudget, QueryBudget
from sottovoce.learn.solve.field import mask_half_range, multiple_masks
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import ScriptedParty
from sottovoce.learn.wire.stages import Listener, Script, Stage, Staged, Teller
from sottovoce.privacy.randomness import random_below

STAGES = ("scores", "compare", "coordinator's bits", "key holder's bits")


@dataclass(frozen=True)
class QueryTerms:
    """One query.

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
    """A peer with features of the rows; the asker among them ends with the signs."""

    def __init__(
        self, name: str, terms: QueryTerms, classifier: HiddenClassifier, weights: Floats
    ) -> None:
        self.signs: NDArray[np.int64] | None = None
        self.terms = terms
        self._pieces = masked_scores(
            classifier, query_integers(weights, classifier.query_bits, len(terms.contributors))
        )
        super().__init__(name, terms.session, STAGES, self._script())

    def _script(self) -> Script:
        yield Stage("scores", lambda s: Teller(self.name, s, "scores", self._pieces))
        if self.name != self.terms.asker:
            return
        first = yield Stage(STAGES[2], lambda s: Listener(self.name, s, "bits", [COORDINATOR]))
        second = yield Stage(STAGES[3], lambda s: Listener(self.name, s, "bits", [KEY_HOLDER]))
        bits = told_bits(first.heard[COORDINATOR], self.terms)
        bits = bits ^ told_bits(second.heard[KEY_HOLDER], self.terms)
        self.signs = np.where(bits == 1, 1, -1)


class HiddenScorer(Staged):
    """Coordinator or key holder: opens masked scores, compares, and tells the asker a bit."""

    def __init__(self, name: str, terms: QueryTerms, key: PrivateKey, other: PublicKey,
                 budget: QueryBudget | LedgerBudget) -> None:  # fmt: skip
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self._key, self._other, self._budget = terms, key, other, budget

    def _script(self) -> Script:
        terms = self.terms
        heard = yield Stage(
            "scores", lambda s: Listener(self.name, s, "scores", terms.contributors)
        )
        self._budget.spend(terms.asker, terms.rows)
        share = opened_scores(heard.heard, terms, self._key)
        compared = yield Stage("compare", lambda s: self._comparing(s, share))
        bits = compared.result ^ 1 if self.name == COORDINATOR else compared.result
        piece: dict[str, Value] = {"bits": np.asarray(bits, np.uint8)}
        stage = STAGES[2] if self.name == COORDINATOR else STAGES[3]
        yield Stage(stage, lambda s: Teller(self.name, s, "bits", {terms.asker: piece}))

    def _comparing(self, session: bytes, share: Grid) -> ScriptedParty[NDArray[np.int64]]:
        """[b < P - a + 1], shared: it is 0 exactly if the score a + b - P is positive."""
        numbers = self.terms.numbers
        if self.name == COORDINATOR:
            own = numbers.modulus + 1 - numbers.check_share(share)
            script = ask_less(own, numbers.comparison, self._other)
            return ScriptedParty(self.name, KEY_HOLDER, session, script)
        script = answer_less(numbers.check_share(share), numbers.comparison, self._key)
        return ScriptedParty(self.name, COORDINATOR, session, script)


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


def masked_scores(classifier: HiddenClassifier, weights: Grid) -> dict[str, Mapping[str, Value]]:
    """A peer's part of each score under both keys, plus r for the one and -r for the other.

    Private Text Classification, Protocol 3: S.LOCALINNERPROD.
    """
    modulus, rows = classifier.modulus, len(weights)
    residues = [random_below(modulus) for _ in range(rows)]
    negated = [-residue % modulus for residue in residues]
    return {
        COORDINATOR: {"scores": _mask_scores(classifier.coordinator, weights, residues, modulus)},
        KEY_HOLDER: {"scores": _mask_scores(classifier.key_holder, weights, negated, modulus)},
    }


def _mask_scores(share: EncryptedArray, weights: Grid, residues: list[int], modulus: int) -> bytes:
    scores = share.combine(weights, weight=SCORE)
    masks = multiple_masks((len(weights),), modulus, SCORE) + as_grid(residues, (len(weights),))
    bound = (mask_half_range(SCORE) + 1) * modulus
    # In full, since it goes to the owner of the key, who may have chosen its primes.
    return array_to_bytes(scores.plus_integers(masks, bound=bound).blind(full=True))


def opened_scores(heard: Mapping[str, Message], terms: QueryTerms, key: PrivateKey) -> Grid:
    """This party's share of the scores, from all contributors' masked parts."""
    parts = [message.item("scores", bytes) for message in heard.values()]
    return opened_score_bytes(parts, terms, key)


def opened_score_bytes(parts: Sequence[bytes], terms: QueryTerms, key: PrivateKey) -> Grid:
    """The same, from the encrypted arrays themselves."""
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


def told_bits(message: Message, terms: QueryTerms) -> NDArray[np.int64]:
    """One party's share of the signs."""
    bits = message.array("bits", "|u1")
    if bits.size != terms.rows or bits.max(initial=0) > 1:
        raise DamagedMessageError(f"{terms.rows} bits must come.")
    return bits.astype(np.int64)
