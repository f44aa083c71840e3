"""Training as the paper has it: the coordinator holds the key.

Private Text Classification, Protocol 2. It is here to be reproduced and attacked: whoever holds
the key and sees ciphertexts reads what they hide. Nothing guards rare features, and the coordinator
learns theta and, later, every score.
"""

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import all_kept
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    Program,
    PublicKey,
    SlotPlan,
    Stage,
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt,
    encrypt_integers,
    plan_slots,
    public_key_from_text,
    public_key_to_text,
)
from sottovoce.learn.party import DamagedMessageError, Message, Value
from sottovoce.learn.protocols.cipher_ring import CipherRingPeer
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.open_training import (
    agreeing_coordinator,
    agreeing_peer,
    local_statistics,
    solved_statistics,
)
from sottovoce.learn.protocols.solving import Made
from sottovoce.learn.protocols.stages import Script, Staged
from sottovoce.learn.protocols.stages import Stage as Step
from sottovoce.learn.protocols.standard import Standard, lifted
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR, TrainingTerms
from sottovoce.learn.rados.definition import rademacher_observations
from sottovoce.learn.rados.maker import fresh_signatures
from sottovoce.learn.sums import FixedPoint

STAGES = ("features", "agreed", "key", "moments", "standard", "statistics", "classifier")
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
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self.data = terms, data
        self.classifier: PaperClassifier | None = None

    def _script(self) -> Script:
        terms, data = self.terms, self.data
        yield from agreeing_peer(self.name, terms, data)
        told = yield Step("key", self._listening("key"))
        public = public_key_from_text(told.heard[COORDINATOR].item("key", str))
        kept = all_kept(len(terms.features))
        yield Step("moments", self._adding(data.moments(kept), public))
        told = yield Step("standard", self._listening("standard"))
        standard = Standard.of(told.heard[COORDINATOR].array("moments", "<f8"), kept)
        values = local_statistics(data, terms, kept, _if_rados(terms, standard))
        yield Step("statistics", self._adding(values.ravel(), public))
        told = yield Step("classifier", self._listening("classifier"))
        has = np.append(data.has, True)
        theta = told_theta(told.heard[COORDINATOR], public, int(has.sum()))
        rado, rows = extra_rado(standard.applied(data.rows)[:, has], data.signs)
        self.classifier = PaperClassifier(standard, has, theta, rado, rows)

    def _listening(self, kind: str) -> Made:
        return lambda s: Listener(self.name, s, kind, [COORDINATOR])

    def _adding(self, values: Floats, public: PublicKey) -> Made:
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
        super().__init__(COORDINATOR, terms.session, STAGES, self._script())
        self.terms, self._key = terms, key
        self.opened: Floats | None = None
        self.model: LinearModel | None = None
        self.holdings: dict[str, Floats] = {}

    def _script(self) -> Script:
        terms, key = self.terms, self._key
        self.holdings = yield from agreeing_coordinator(terms)
        text: dict[str, Value] = {"key": public_key_to_text(key.public)}
        yield Step("key", self._telling("key", dict.fromkeys(terms.peers, text)))
        kept = all_kept(len(terms.features))
        heard = yield Step("moments", self._listening())
        moments = self._opened(heard.heard)
        standard = Standard.of(moments, kept)
        piece: dict[str, Value] = {"moments": moments}
        yield Step("standard", self._telling("standard", dict.fromkeys(terms.peers, piece)))
        heard = yield Step("statistics", self._listening())
        self.opened = self._opened(heard.heard)
        model, _ = solved_statistics(self.opened, terms, kept, _if_rados(terms, standard))
        self.model = lifted(model, kept)
        pieces = self._theta_pieces(model, standard)
        yield Step("classifier", self._telling("classifier", pieces))

    def _telling(self, kind: str, pieces: dict[str, dict[str, Value]]) -> Made:
        return lambda s: Teller(self.name, s, kind, pieces)

    def _listening(self) -> Made:
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


class RingEnd(Listener):
    """Hears the last peer of a ring, at the step that is its place."""

    def __init__(self, session: bytes, last: str, step: int) -> None:
        super().__init__(COORDINATOR, session, "running total", [last])
        self._last_step = step

    def start(self) -> list[Message]:
        """Wait for the last peer."""
        self._inbox.expect(self._last_step, self._kind, self._senders)
        return []


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
    totals = (Stage(count * one.bound, one.fraction_bits) for count in range(2, peers + 1))
    return Program((*program.stages, *totals))


def told_theta(message: Message, public: PublicKey, width: int) -> EncryptedArray:
    """A peer's part of the encrypted classifier."""
    peers, whole = message.item("peers", int), message.item("width", int)
    plan = theta_slots(public.bits, peers, whole)
    array = array_from_bytes(message.item("theta", bytes), public, plan=plan)
    if array.shape != (width,):
        raise DamagedMessageError(f"theta must have {width} numbers here, got {array.shape}.")
    return array


def extra_rado(rows: Floats, signs: Floats) -> tuple[Floats, int]:
    """A peer's part of the common extra rado of Protocol 3, and how many rows it is made from."""
    rado = rademacher_observations(rows, signs, fresh_signatures(1, len(rows)))[0]
    rado[-1] = 0.0  # the intercept is the asker's to add
    return rado, len(rows)


def _if_rados(terms: TrainingTerms, standard: Standard) -> Standard | None:
    return replace(standard) if terms.recipe.statistics == "rados" else None
