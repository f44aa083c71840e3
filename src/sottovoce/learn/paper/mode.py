"""Training and classification as the paper has them: the coordinator holds the key.

Private Text Classification, Protocols 2 and 3. They are here to be reproduced and attacked: whoever
holds the key and sees ciphertexts reads what they hide. Nothing guards rare features, and the
coordinator learns theta, opens every score of every row, and tells its sign.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, InputError, ParameterError
from sottovoce.learn.local_data import LocalData
from sottovoce.learn.open.train import (
    feature_agreement_coordinator,
    feature_agreement_peer,
    local_statistics,
    solved_statistics,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import Program, SlotPlan, SlotStage, plan_slots
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt,
    decrypt_integers,
    encrypt,
    encrypt_integers,
)
from sottovoce.learn.paper._ring import CipherRingPeer, RingEnd
from sottovoce.learn.rados.rados import extra_rado
from sottovoce.learn.ridge import LinearModel, Standard, lifted
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import COORDINATOR, Offset, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, PartyMaker, Script, Stage, Staged, Teller

TRAINING_STAGES = ("features", "key", "moments", "standard", "statistics", "classifier")
THETA_BITS, LARGEST_THETA = 30, 2.0**16
ROW_BITS, LARGEST_ROW = 24, 2.0**20  # of a row, and of a rado, which is a sum of rows


@dataclass(frozen=True)
class PaperClassifier:
    """What a peer holds: theta for its own features, under the coordinator's key, and a rado.

    Attributes:
        standard: how to standardise a row.
        has: which of the standardised columns are the peer's, the intercept's among them.
        theta: under the coordinator's key, a number for each of these.
        rado: the peer's part of the common extra rado, over these columns, the intercept's zero.
        rado_rows: how many rows the rado is made from.
    """

    standard: Standard
    has: Floats
    theta: EncryptedArray
    rado: Floats
    rado_rows: int


class PaperPeer(Staged):
    """A peer of Protocol 2 as printed."""

    def __init__(self, name: str, terms: TrainingTerms, data: LocalData) -> None:
        super().__init__(name, terms.session, TRAINING_STAGES, self._script())
        self.terms, self.data = terms, data
        self.classifier: PaperClassifier | None = None

    def _script(self) -> Script:
        terms, data = self.terms, self.data
        yield from feature_agreement_peer(self.name, data)
        told = yield Stage("key", self._listening("key"))
        text = told.heard[COORDINATOR].item("key", str)
        public = public_key_from_text(text, needs_proof=True)
        kept = all_kept(len(terms.features))
        yield Stage("moments", self._adding(data.moments(kept), public))
        told = yield Stage("standard", self._listening("standard"))
        standard = Standard.of(told.heard[COORDINATOR].array("moments", "<f8"), kept)
        values = local_statistics(data, terms, kept, _if_rados(terms, standard))
        yield Stage("statistics", self._adding(values.ravel(), public))
        told = yield Stage("classifier", self._listening("classifier"))
        has = np.append(data.has, True)
        theta = told_theta(told.heard[COORDINATOR], public, int(has.sum()))
        rado, rows = extra_rado(standard.applied(data.rows)[:, has], data.signs)
        self.classifier = PaperClassifier(standard, has, theta, rado, rows)

    def _listening(self, kind: str) -> PartyMaker:
        return lambda s: Listener(self.name, s, kind, [COORDINATOR])

    def _adding(self, values: Floats, public: PublicKey) -> PartyMaker:
        numbers, peers = self.terms.numbers(), self.terms.peers
        integers = numbers.encode(values).view(np.int64)
        array = encrypt_integers(integers, ring_slots(numbers, public.bits), public)
        return lambda s: CipherRingPeer(self.name, s, peers, COORDINATOR, array)


class PaperCoordinator(Staged):
    """The coordinator of Protocol 2 as printed: holds the key, opens the sums, learns theta."""

    def __init__(self, terms: TrainingTerms, key: PrivateKey) -> None:
        if key.public.bits != terms.recipe.key_bits:
            raise InputError(f"keys of {terms.recipe.key_bits} bits were agreed on.")
        if terms.recipe.penalty is None:
            raise ParameterError("the paper mode needs a penalty that is agreed on.")
        super().__init__(COORDINATOR, terms.session, TRAINING_STAGES, self._script())
        self.terms, self._key = terms, key
        self.opened: Floats | None = None
        self.model: LinearModel | None = None
        self.holdings: dict[str, Floats] = {}

    def _script(self) -> Script:
        terms, key = self.terms, self._key
        self.holdings = yield from feature_agreement_coordinator(terms)
        text: dict[str, Value] = {"key": proven_key_to_text(key)}
        yield Stage("key", self._telling("key", dict.fromkeys(terms.peers, text)))
        kept = all_kept(len(terms.features))
        heard = yield Stage("moments", self._listening())
        moments = self._opened(heard.heard)
        standard = Standard.of(moments, kept)
        piece: dict[str, Value] = {"moments": moments}
        yield Stage("standard", self._telling("standard", dict.fromkeys(terms.peers, piece)))
        heard = yield Stage("statistics", self._listening())
        self.opened = self._opened(heard.heard)
        ((model, _),) = solved_statistics(self.opened, terms, kept, _if_rados(terms, standard))
        self.model = lifted(model, kept)
        pieces = self._theta_pieces(model, standard)
        yield Stage("classifier", self._telling("classifier", pieces))

    def _telling(self, kind: str, pieces: dict[str, dict[str, Value]]) -> PartyMaker:
        return lambda s: Teller(self.name, s, kind, pieces)

    def _listening(self) -> PartyMaker:
        last = self.terms.peers[-1]
        return lambda s: RingEnd(s, last, len(self.terms.peers))

    def _opened(self, heard: dict[str, Message]) -> Floats:
        numbers, public = self.terms.numbers(), self._key.public
        (message,) = heard.values()
        plan = ring_slots(numbers, public.bits)
        array = array_from_bytes(message.item("array", bytes), public, plan=plan)
        return numbers.decode(decrypt_integers(array, self._key).view(np.uint64))

    def _theta_pieces(self, model: LinearModel, standard: Standard) -> dict[str, dict[str, Value]]:
        """Theta of standardised rows, each peer's features only, under the own key."""
        slope = model.coefficients * standard.scales
        intercept = model.intercept + float(model.coefficients @ standard.means)
        theta = np.append(slope, intercept)
        plan = theta_slots(self._key.public.bits, len(self.terms.peers), theta.size)
        pieces: dict[str, dict[str, Value]] = {}
        for peer, has in self.holdings.items():
            own = theta[np.append(has.astype(bool), True)]
            pieces[peer] = {
                "theta": array_to_bytes(encrypt(own, plan, self._key)),
                "width": theta.size,
                "peers": len(self.terms.peers),
            }
        return pieces


def ring_slots(numbers: FixedPoint, key_bits: int) -> SlotPlan:
    """Packed slots that no sum over the peers can overflow."""
    program = Program.of(numbers.bound, numbers.fraction_bits)
    return plan_slots(_running_totals(program, numbers.parties), key_bits=key_bits)


def theta_slots(key_bits: int, peers: int, width: int) -> SlotPlan:
    """A plaintext for each number of theta, with room for scores of rows and of rados."""
    program = Program.of(LARGEST_THETA, THETA_BITS).combined(width, LARGEST_ROW, ROW_BITS)
    return plan_slots(_running_totals(program, peers), key_bits=key_bits, packed=False)


def _running_totals(program: Program, peers: int) -> Program:
    """Then go round the peers: a step for every running total, which each states as its bound."""
    one = program.last
    totals = (SlotStage(count * one.bound, one.fraction_bits) for count in range(2, peers + 1))
    return Program((*program.stages, *totals))


def told_theta(message: Message, public: PublicKey, width: int) -> EncryptedArray:
    """A peer's part of the encrypted classifier."""
    peers, whole = message.item("peers", int), message.item("width", int)
    plan = theta_slots(public.bits, peers, whole)
    array = array_from_bytes(message.item("theta", bytes), public, plan=plan)
    if array.shape != (width,):
        raise DamagedMessageError(f"theta must have {width} numbers here, got {array.shape}.")
    return array


def _if_rados(terms: TrainingTerms, standard: Standard) -> Standard | None:
    return replace(standard) if terms.recipe.statistics == "rados" else None


QUERY_STAGES = ("scores", "signs")


@dataclass(frozen=True)
class PaperQuery:
    """One query: who asks, who contributes in which order (the asker first), how many rows."""

    session: bytes
    order: tuple[str, ...]
    rows: int
    peers: int
    width: int

    @property
    def asker(self) -> str:
        """Who learns the signs."""
        return self.order[0]


class PaperContributor(Staged):
    """A peer that adds its part of the scores; the first of the order ends with the signs."""

    signs: NDArray[np.int64] | None = None

    def __init__(
        self, name: str, query: PaperQuery, classifier: PaperClassifier, weights: Floats
    ) -> None:
        self.query = query
        self._scores = encrypted_scores(classifier, weights)
        super().__init__(name, query.session, QUERY_STAGES, self._script())

    def _script(self) -> Script:
        query = self.query
        yield Stage(
            "scores",
            lambda s: CipherRingPeer(self.name, s, query.order, COORDINATOR, self._scores),
        )
        if self.name == query.asker:
            told = yield Stage("signs", lambda s: Listener(self.name, s, "signs", [COORDINATOR]))
            signs = told.heard[COORDINATOR].array("signs", "|i1")
            if signs.size != query.rows or not np.isin(signs, (-1, 1)).all():
                raise DamagedMessageError(f"{query.rows} signs must come.")
            self.signs = signs.astype(np.int64)


class PaperScorer(Staged):
    """The coordinator: opens the scores, which it keeps, and tells their signs."""

    def __init__(self, query: PaperQuery, key: PrivateKey) -> None:
        super().__init__(COORDINATOR, query.session, QUERY_STAGES, self._script())
        self.query, self._key = query, key
        self.scores: Floats | None = None

    def _script(self) -> Script:
        query, public = self.query, self._key.public
        last = query.order[-1]
        heard = yield Stage("scores", lambda s: RingEnd(s, last, len(query.order)))
        plan = theta_slots(public.bits, query.peers, query.width)
        data = heard.heard[last].item("array", bytes)
        array = array_from_bytes(data, public, plan=plan)
        if array.shape != (query.rows,):
            raise DamagedMessageError(f"{query.rows} scores must come, got {array.shape}.")
        self.scores = decrypt(array, self._key)
        signs: dict[str, Value] = {"signs": np.where(self.scores > 0, 1, -1).astype(np.int8)}
        yield Stage("signs", lambda s: Teller(self.name, s, "signs", {query.asker: signs}))


def encrypted_scores(classifier: PaperClassifier, weights: Floats) -> EncryptedArray:
    """A peer's local scores under the coordinator's key.

    Private Text Classification, Protocol 3 (eq. 22): S.LOCALINNERPROD.
    """
    if weights.size and np.abs(weights).max() > LARGEST_ROW:
        raise InputError(f"rows and rados must lie within +-{LARGEST_ROW:g} when standardised.")
    heaviest = int(LARGEST_ROW * (1 << ROW_BITS)) * classifier.theta.shape[0]
    return classifier.theta.combined(weights, fraction_bits=ROW_BITS, weight=heaviest)


def offset_weights(classifier: PaperClassifier, offset: Offset, rows: int) -> Floats:
    """What a peer that does not know the entity contributes: its rado in place of the entity.

    Private Text Classification, Protocol 3 (eq. 25). As printed the rado is a *sum* of rows, and
    its score drowns every local one; the correction divides it by the number of rows.
    """
    scale = 1.0 if offset == "print" else 1.0 / max(classifier.rado_rows, 1)
    return np.tile(classifier.rado * scale, (rows, 1))
