"""Training in the hidden mode: nobody sees A, b or theta.

Private Text Classification, Protocol 2, with a solve between a coordinator without the key and a
key holder without the ciphertexts. Peers end with theta under encryption, in two shares: one under
the coordinator's key, one under the key holder's.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sottovoce.errors import InputError
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    PublicKey,
    array_to_bytes,
    public_key_to_text,
)
from sottovoce.learn.party import Value
from sottovoce.learn.protocols.hidden_messages import (
    SHARERS,
    check_keys,
    checked_penalty,
    hidden_solve,
    share_pieces,
    told_key,
    told_shape,
    told_share,
    told_summand,
)
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.open_training import (
    agreeing_coordinator,
    agreeing_peer,
    kept_features,
    moments_stage,
    support_stage,
    told_standard,
)
from sottovoce.learn.protocols.solving import HiddenSolve, Made
from sottovoce.learn.protocols.stages import Script, Stage, Staged
from sottovoce.learn.protocols.standard import Standard
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER, TrainingTerms

if TYPE_CHECKING:
    from sottovoce.learn.examples import Floats
    from sottovoce.learn.solve import Share

STAGES = (
    "features",
    "agreed",
    "support",
    "moments",
    "shape",
    "key",
    "summands",
    "solve",
    "coordinator's share",
    "key holder's share",
)


@dataclass(frozen=True)
class HiddenClassifier:
    """What a peer holds of theta: two shares, each under the key of who holds it.

    Private Text Classification, Protocol 2: the encrypted classifier at a peer.

    Attributes:
        standard: how to standardise a row.
        modulus: the shares add up to theta (or det(A) theta) modulo this.
        score_bound: the largest size of a score, as the solve was planned for.
        query_bits: the binary places of a standardised row to classify.
        coordinator: the coordinator's share, under its own key.
        key_holder: the key holder's, under its own.
    """

    standard: Standard
    modulus: int
    score_bound: int
    query_bits: int
    coordinator: EncryptedArray
    key_holder: EncryptedArray


class HiddenPeer(Staged):
    """A peer: standardises by sums that everybody knows, and encrypts its part of the system."""

    def __init__(self, name: str, terms: TrainingTerms, data: LocalData) -> None:
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self.data = terms, data
        self.classifier: HiddenClassifier | None = None
        self.survivors: tuple[str, ...] = ()

    def _script(self) -> Script:
        terms, data = self.terms, self.data
        yield from agreeing_peer(self.name, terms, data)
        made = support_stage(terms).peer(self.name, data.identity, data.support(1))
        summed = yield Stage("support", made)
        kept = kept_features(summed.total, terms)
        peers = self.survivors = summed.survivors
        stage = moments_stage(terms, kept, peers)
        made = stage.peer(self.name, data.identity, data.moments(kept))
        summed = yield Stage("moments", made)
        standard = told_standard(stage, summed.total, kept)
        solve = hidden_solve(terms, standard, peers)
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        public = told_key(told.heard[KEY_HOLDER], terms.recipe)
        piece = self._summand(solve, standard, public)
        yield Stage("summands", lambda s: Teller(self.name, s, "summand", {COORDINATOR: piece}))
        dealing = solve.dealing()
        if dealing is not None and self.name == solve.dealer:
            yield Stage("solve", dealing)
        parts = []
        for stage_name, sender in SHARERS:
            told = yield Stage(stage_name, self._listening(sender))
            parts.append(told_share(told.heard[sender], solve))
        (modulus, first), (other, second) = parts
        if modulus != other or second.public != public or first.public == public:
            raise InputError("the two shares of a classifier must be of one solve, under two keys.")
        self.classifier = HiddenClassifier(
            standard, modulus, solve.score_bound, solve.query_bits, first, second
        )

    def _listening(self, sender: str) -> Made:
        return lambda s: Listener(self.name, s, "share", [sender])

    def _summand(
        self, solve: HiddenSolve, standard: Standard, public: PublicKey
    ) -> dict[str, Value]:
        rows = standard.applied(self.data.rows)
        matrix, vector = solve.quantised(rows, self.data.signs, standard.count)
        arrays = solve.encrypted(matrix, vector, public)
        return {"arrays": tuple(array_to_bytes(array) for array in arrays)}


class HiddenCoordinator(Staged):
    """C: adds ciphertexts of the key holder's, and ends with a share of theta."""

    def __init__(self, terms: TrainingTerms, key: PrivateKey) -> None:
        check_keys(terms, key)
        super().__init__(COORDINATOR, terms.session, STAGES, self._script())
        self.terms, self._key = terms, key
        self.share: Share | None = None
        self.features = 0
        self.standard: Standard | None = None
        self.solve: HiddenSolve | None = None
        self.survivors: tuple[str, ...] = ()
        self.other: PublicKey | None = None
        self.holdings: dict[str, Floats] = {}

    def _script(self) -> Script:
        terms = self.terms
        self.holdings = yield from agreeing_coordinator(terms)
        summed = yield Stage("support", support_stage(terms).adder())
        kept = kept_features(summed.total, terms)
        peers = self.survivors = summed.survivors
        stage = moments_stage(terms, kept, peers)
        summed = yield Stage("moments", stage.adder())
        self.standard = told_standard(stage, summed.total, kept)
        self.solve = solve = hidden_solve(terms, self.standard, peers)
        self.features = kept.width
        shape: dict[str, Value] = {"width": solve.width, "peers": peers}
        yield Stage("shape", lambda s: Teller(self.name, s, "shape", {KEY_HOLDER: shape}))
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        public = told_key(told.heard[KEY_HOLDER], terms.recipe)
        if public == self._key.public:
            raise InputError("the key holder must have a key of its own.")
        self.other = public
        heard = yield Stage("summands", lambda s: Listener(self.name, s, "summand", peers))
        parts = [told_summand(message, solve, public) for message in heard.heard.values()]
        solved = yield Stage("solve", solve.coordinator(self._key, solve.summed(parts)))
        self.share = solved.share
        pieces = share_pieces(solved.share, self._key, peers)
        yield Stage(SHARERS[0][0], lambda s: Teller(self.name, s, "share", pieces))


class HiddenKeyHolder(Staged):
    """K: opens nothing but masked numbers, and ends with the other share of theta."""

    def __init__(self, terms: TrainingTerms, key: PrivateKey) -> None:
        check_keys(terms, key)
        super().__init__(KEY_HOLDER, terms.session, STAGES, self._script())
        self.terms, self._key = terms, key
        self.share: Share | None = None
        self.features = 0
        self.survivors: tuple[str, ...] = ()
        self.solve: HiddenSolve | None = None

    def _script(self) -> Script:
        terms, key = self.terms, self._key
        if terms.recipe.way == "packed":
            summed = yield Stage("support", support_stage(terms).opener(key))
            kept, peers = kept_features(summed.total, terms), summed.survivors
            yield Stage("moments", moments_stage(terms, kept, peers).opener(key))
        told = yield Stage("shape", lambda s: Listener(self.name, s, "shape", [COORDINATOR]))
        width, peers = told_shape(told.heard[COORDINATOR], terms)
        self.survivors = peers
        self.features = width - 1
        self.solve = solve = HiddenSolve(terms.recipe, checked_penalty(terms), width, peers)
        piece: dict[str, Value] = {"key": public_key_to_text(key.public)}
        pieces = dict.fromkeys((COORDINATOR, *peers), piece)
        yield Stage("key", lambda s: Teller(self.name, s, "key", pieces))
        solved = yield Stage("solve", solve.key_holder(key))
        self.share = solved.share
        pieces = share_pieces(solved.share, key, peers)
        yield Stage(SHARERS[1][0], lambda s: Teller(self.name, s, "share", pieces))
