"""Training in the hidden mode: nobody sees A, b or theta.

Private Text Classification, Protocol 2, with a solve between a coordinator without the key and a
key holder without the ciphertexts. Peers end with theta under encryption, in two shares: one under
the coordinator's key, one under the key holder's. Of several labels, features, moments, keys and A
are the same: they are taken once, with the first, and each further label adds its b and its solve.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sottovoce.errors import DamagedMessageError, InputError
from sottovoce.learn.modes.hidden_solve import (
    HiddenSolve,
    check_keys,
    checked_penalty,
    hidden_solve,
    share_pieces,
    told_agreed_key,
    told_shape,
    told_share,
    told_summand,
)
from sottovoce.learn.modes.open import (
    KEPT_STAGES,
    MOMENT_STAGES,
    feature_agreement_coordinator,
    feature_agreement_peer,
    moments_stage,
    support_coordinator,
    support_peer,
    told_standard,
)
from sottovoce.learn.modes.sums import told_alike
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import (
    proven_key_to_text,
    public_key_to_text,
)
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.wire import array_to_bytes, encrypt_integers
from sottovoce.learn.ridge import Standard
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, LocalData, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.stages import Listener, PartyMaker, Script, Stage, Staged, Teller

if TYPE_CHECKING:
    from sottovoce.arrays import Floats
    from sottovoce.learn.paillier.key_files import KnownKeys
    from sottovoce.learn.solve.plan import Share


LONGEST_TAG = 32
SHARERS = (("coordinator's share", COORDINATOR), ("key holder's share", KEY_HOLDER))


STAGES = (
    "data",
    "features",
    *KEPT_STAGES,
    *MOMENT_STAGES,
    "shape",
    "key",
    "summands",
    "solve",
    "coordinator's share",
    "key holder's share",
)


def heard_tags(name: str, terms: TrainingTerms) -> Generator[Stage, Any, dict[str, bytes]]:
    """What a helper calls each peer's data by: a keyed digest, the same for the same data."""
    heard = yield Stage("data", lambda s: Listener(name, s, "data", terms.peers))
    tags = {peer: message.item("tag", bytes) for peer, message in heard.heard.items()}
    if any(len(tag) > LONGEST_TAG for tag in tags.values()):
        raise DamagedMessageError(f"a tag of data must have at most {LONGEST_TAG} bytes.")
    return tags


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


class PreparedPeer(NamedTuple):
    """What a peer needs of the first label's training for every further one."""

    standard: Standard
    solve: HiddenSolve
    public: PublicKey
    known: "KnownKeys"


class HiddenPeer(Staged):
    """A peer: standardises by sums that everybody knows, and encrypts its part of the system.

    With ``first``, the same peer for an earlier label of the run: features, moments, keys and A are
    the same for every label, and only b is given.
    """

    def __init__(
        self,
        name: str,
        terms: TrainingTerms,
        data: LocalData,
        first: "HiddenPeer | None" = None,
    ) -> None:
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self.data, self._first = terms, data, first
        self.classifier: HiddenClassifier | None = None
        self.survivors: tuple[str, ...] = ()
        self.prepared: PreparedPeer | None = None

    def _script(self) -> Script:
        first = self._first
        if first is None or first.prepared is None:
            prepared = yield from self._preparing()
        else:
            prepared, self.survivors = first.prepared, first.survivors
            self.data = replace(first.data, signs=self.data.signs)
        self.prepared = prepared
        standard, solve, public, known = prepared
        piece = self._summand(solve, standard, public)
        yield Stage("summands", lambda s: Teller(self.name, s, "summand", {COORDINATOR: piece}))
        parts = []
        for stage_name, sender in SHARERS:
            told = yield Stage(stage_name, self._listening(sender))
            parts.append(told_share(told.heard[sender], solve, known))
        (modulus, one), (other, second) = parts
        if modulus != other or second.public != public or one.public == public:
            raise InputError("the two shares of a classifier must be of one solve, under two keys.")
        self.classifier = HiddenClassifier(
            standard, modulus, solve.score_bound, solve.query_bits, one, second
        )

    def _preparing(self) -> Generator[Stage, Any, PreparedPeer]:
        """What all labels share: features, moments and the key holder's key."""
        terms, data = self.terms, self.data
        known: KnownKeys = {}
        tag: dict[str, Value] = {"tag": data.tag}
        pieces = dict.fromkeys((COORDINATOR, KEY_HOLDER), tag)
        yield Stage("data", lambda s: Teller(self.name, s, "data", pieces))
        yield from feature_agreement_peer(self.name, data)
        supported = yield from support_peer(self.name, terms, data)
        self.data = data = supported.data
        kept, peers = supported.kept, supported.peers
        self.survivors = peers
        stage = moments_stage(terms, kept, peers)
        made = stage.peer(self.name, data.identity, data.moments(kept))
        summed = yield Stage("moments", made)
        same = told_alike(terms, "moments", peers, summed.total)
        yield from same.party(self.name, data.identity)
        standard = told_standard(stage, summed.total, kept)
        solve = hidden_solve(terms, standard, peers)
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        public = told_agreed_key(told.heard[KEY_HOLDER], terms.recipe, known)
        return PreparedPeer(standard, solve, public, known)

    def _listening(self, sender: str) -> PartyMaker:
        return lambda s: Listener(self.name, s, "share", [sender])

    def _summand(
        self, solve: HiddenSolve, standard: Standard, public: PublicKey
    ) -> dict[str, Value]:
        rows = standard.apply(self.data.rows)
        matrix, vector = solve.quantise(rows, self.data.signs, standard.count)
        arrays: tuple[EncryptedArray, ...]
        if self._first is not None:
            arrays = (encrypt_integers(vector, solve.summand_slots, public),)
        else:
            arrays = solve.encrypt_part(matrix, vector, public)
        return {"arrays": tuple(array_to_bytes(array) for array in arrays)}


class HiddenCoordinator(Staged):
    """C: adds ciphertexts of the key holder's, and ends with a share of theta.

    With ``first``, that of an earlier label of the run, it takes A from there.
    """

    def __init__(
        self, terms: TrainingTerms, key: PrivateKey, first: "HiddenCoordinator | None" = None
    ) -> None:
        check_keys(terms, key)
        super().__init__(COORDINATOR, terms.session, STAGES, self._script())
        self.terms, self._key, self._first = terms, key, first
        self.system: tuple[EncryptedArray, ...] = ()
        self.share: Share | None = None
        self.tags: dict[str, bytes] = {}
        self.features = 0
        self.standard: Standard | None = None
        self.solve: HiddenSolve | None = None
        self.survivors: tuple[str, ...] = ()
        self.other: PublicKey | None = None
        self.holdings: dict[str, Floats] = {}

    def _script(self) -> Script:
        if self._first is None:
            solve, public = yield from self._preparing()
        else:
            solve, public = self._taken_over(self._first)
        peers = self.survivors
        heard = yield Stage("summands", lambda s: Listener(self.name, s, "summand", peers))
        shapes = solve.shapes if self._first is None else solve.shapes[1:]
        parts = [told_summand(each, shapes, solve, public) for each in heard.heard.values()]
        if self._first is None:
            self.system = solve.add_parts(parts)
        else:
            self.system = solve.with_vector(self._first.system, parts)
        solved = yield Stage("solve", solve.coordinator(self._key, self.system))
        self.share = solved.result
        # It has proven this key to everybody with the first label's.
        first = self._first is None
        text = proven_key_to_text(self._key) if first else public_key_to_text(self._key.public)
        pieces = share_pieces(solved.result, self._key, text, peers)
        yield Stage(SHARERS[0][0], lambda s: Teller(self.name, s, "share", pieces))

    def _taken_over(self, first: "HiddenCoordinator") -> tuple[HiddenSolve, PublicKey]:
        self.tags, self.holdings, self.features = first.tags, first.holdings, first.features
        self.survivors, self.standard = first.survivors, first.standard
        self.solve, self.other = first.solve, first.other
        if self.solve is None or self.other is None:
            raise InputError("a further label must come after the first one's end.")
        return self.solve, self.other

    def _preparing(self) -> Generator[Stage, Any, tuple[HiddenSolve, PublicKey]]:
        """What all labels share: features, moments and the key holder's key."""
        terms = self.terms
        self.tags = yield from heard_tags(self.name, terms)
        self.holdings = yield from feature_agreement_coordinator(terms)
        kept, peers = yield from support_coordinator(terms)
        self.survivors = peers
        stage = moments_stage(terms, kept, peers)
        summed = yield Stage("moments", stage.adder())
        yield from told_alike(terms, "moments", peers, summed.total).party(COORDINATOR)
        self.standard = told_standard(stage, summed.total, kept)
        self.solve = solve = hidden_solve(terms, self.standard, peers)
        self.features = kept.width
        shape: dict[str, Value] = {"width": solve.width, "peers": peers}
        yield Stage("shape", lambda s: Teller(self.name, s, "shape", {KEY_HOLDER: shape}))
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        public = told_agreed_key(told.heard[KEY_HOLDER], terms.recipe, {})
        if public == self._key.public:
            raise InputError("the key holder must have a key of its own.")
        self.other = public
        return solve, public


class HiddenKeyHolder(Staged):
    """K: opens nothing but masked numbers, and ends with the other share of theta.

    ``first`` is that of an earlier label.
    """

    def __init__(
        self,
        terms: TrainingTerms,
        key: PrivateKey,
        first: "HiddenKeyHolder | None" = None,
    ) -> None:
        check_keys(terms, key)
        super().__init__(KEY_HOLDER, terms.session, STAGES, self._script())
        self.terms, self._key, self._first = terms, key, first
        self.share: Share | None = None
        self.tags: dict[str, bytes] = {}
        self.features = 0
        self.survivors: tuple[str, ...] = ()
        self.solve: HiddenSolve | None = None

    def _script(self) -> Script:
        key, first = self._key, self._first
        if first is None or first.solve is None:
            solve = yield from self._preparing()
        else:
            self.tags, self.survivors, self.features = first.tags, first.survivors, first.features
            solve = first.solve
        self.solve, peers = solve, self.survivors
        solved = yield Stage("solve", solve.key_holder(key))
        self.share = solved.result
        # It has proven this key to everybody already.
        pieces = share_pieces(solved.result, key, public_key_to_text(key.public), peers)
        yield Stage(SHARERS[1][0], lambda s: Teller(self.name, s, "share", pieces))

    def _preparing(self) -> Generator[Stage, Any, HiddenSolve]:
        """What all labels share: the sums that are opened, the system's size, and the own key."""
        terms, key = self.terms, self._key
        self.tags = yield from heard_tags(self.name, terms)
        told = yield Stage("shape", lambda s: Listener(self.name, s, "shape", [COORDINATOR]))
        width, peers = told_shape(told.heard[COORDINATOR], terms)
        self.survivors = peers
        self.features = width - 1
        piece: dict[str, Value] = {"key": proven_key_to_text(key)}
        pieces = dict.fromkeys((COORDINATOR, *peers), piece)
        yield Stage("key", lambda s: Teller(self.name, s, "key", pieces))
        return HiddenSolve(terms.recipe, checked_penalty(terms), width, peers)
