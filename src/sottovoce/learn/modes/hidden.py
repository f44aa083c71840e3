"""Training in the hidden mode: nobody sees A, b or theta.

Private Text Classification, Protocol 2, with a solve between a coordinator without the key and a
key holder without the ciphertexts. Peers end with theta under encryption, in two shares: one under
the coordinator's key, one under the key holder's. Of several labels, features, moments, keys and A
are the same: they are taken once, with the first, and each further label adds its b and its solve.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

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
    standardise_coordinator,
    standardise_peer,
    support_coordinator,
    support_peer,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_to_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.wire import array_to_bytes
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


class _HiddenParty(Staged):
    """A party of one label's training.

    With ``first``, the same party for an earlier label of the run: features, moments, keys and A
    are the same for every label, and are taken from there.
    """

    solve: HiddenSolve

    def __init__(self, name: str, terms: TrainingTerms, first: "_HiddenParty | None") -> None:
        super().__init__(name, terms.session, STAGES, self._script())
        self.terms, self._first = terms, first
        self.survivors: tuple[str, ...] = ()
        self.tags: dict[str, bytes] = {}
        self.features = 0

    def _script(self) -> Script:
        if self._first is None:
            yield from self._prepare()
        else:
            self._take_over(self._first)
        yield from self._train_label()

    def _take_over(self, first: Any) -> None:  # noqa: ANN401 - a party of its own class
        if not first.has_finished:
            raise InputError("a further label must come after the first one's end.")
        self.survivors, self.solve = first.survivors, first.solve
        self.tags, self.features = first.tags, first.features

    def _prepare(self) -> Script:
        """What all labels share."""
        raise NotImplementedError

    def _train_label(self) -> Script:
        """What is this label's own."""
        raise NotImplementedError


class HiddenPeer(_HiddenParty):
    """A peer: standardises by sums that everybody knows, and encrypts its part of the system."""

    standard: Standard
    public: PublicKey

    def __init__(
        self, name: str, terms: TrainingTerms, data: LocalData, first: "HiddenPeer | None" = None
    ) -> None:
        super().__init__(name, terms, first)
        self.data = data
        self.classifier: HiddenClassifier | None = None
        self._known: KnownKeys = {}

    def _take_over(self, first: Any) -> None:  # noqa: ANN401 - as there
        super()._take_over(first)
        self.standard, self.public, self._known = first.standard, first.public, first._known  # noqa: SLF001 - its own class
        self.data = replace(first.data, signs=self.data.signs)

    def _train_label(self) -> Script:
        solve, piece = self.solve, self._encrypt_part()
        yield Stage("summands", lambda s: Teller(self.name, s, "summand", {COORDINATOR: piece}))
        parts = []
        for stage_name, sender in SHARERS:
            told = yield Stage(stage_name, self._listening(sender))
            parts.append(told_share(told.heard[sender], solve, self._known))
        (modulus, one), (other, second) = parts
        if modulus != other or second.public != self.public or one.public == self.public:
            raise InputError("the two shares of a classifier must be of one solve, under two keys.")
        self.classifier = HiddenClassifier(
            self.standard, modulus, solve.score_bound, solve.query_bits, one, second
        )

    def _prepare(self) -> Script:
        terms, data = self.terms, self.data
        tag: dict[str, Value] = {"tag": data.tag}
        pieces = dict.fromkeys((COORDINATOR, KEY_HOLDER), tag)
        yield Stage("data", lambda s: Teller(self.name, s, "data", pieces))
        yield from feature_agreement_peer(self.name, data)
        self.data, kept, self.survivors = yield from support_peer(self.name, terms, data)
        data, peers = self.data, self.survivors
        self.standard = yield from standardise_peer(self.name, terms, data, kept, peers)
        self.solve = hidden_solve(terms, self.standard, peers)
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        self.public = told_agreed_key(told.heard[KEY_HOLDER], terms.recipe, self._known)

    def _listening(self, sender: str) -> PartyMaker:
        return lambda s: Listener(self.name, s, "share", [sender])

    def _encrypt_part(self) -> dict[str, Value]:
        rows = self.standard.apply(self.data.rows)
        parts = self.solve.quantise(rows, self.data.signs, self.standard.count)
        given = parts if self._first is None else parts[1:]
        arrays = self.solve.encrypt_part(given, self.public)
        return {"arrays": tuple(array_to_bytes(array) for array in arrays)}


class HiddenCoordinator(_HiddenParty):
    """C: adds ciphertexts of the key holder's, and ends with a share of theta."""

    standard: Standard
    other: PublicKey

    def __init__(
        self, terms: TrainingTerms, key: PrivateKey, first: "HiddenCoordinator | None" = None
    ) -> None:
        check_keys(terms, key)
        super().__init__(COORDINATOR, terms, first)
        self._key = key
        self.system: tuple[EncryptedArray, ...] = ()
        self.share: Share | None = None
        self.holdings: dict[str, Floats] = {}

    def _take_over(self, first: Any) -> None:  # noqa: ANN401 - as there
        super()._take_over(first)
        self.standard, self.other, self.holdings = first.standard, first.other, first.holdings
        self.system = first.system

    def _train_label(self) -> Script:
        solve, peers, whole = self.solve, self.survivors, self._first is None
        heard = yield Stage("summands", lambda s: Listener(self.name, s, "summand", peers))
        shapes = solve.shapes if whole else solve.shapes[1:]
        parts = [told_summand(each, shapes, solve, self.other) for each in heard.heard.values()]
        self.system = solve.add_parts(parts) if whole else solve.with_vector(self.system, parts)
        solved = yield Stage("solve", solve.coordinator(self._key, self.system))
        self.share = solved.result
        # It has proven this key to everybody with the first label's.
        text = proven_key_to_text(self._key) if whole else public_key_to_text(self._key.public)
        pieces = share_pieces(solved.result, self._key, text, peers)
        yield Stage(SHARERS[0][0], lambda s: Teller(self.name, s, "share", pieces))

    def _prepare(self) -> Script:
        terms = self.terms
        self.tags = yield from heard_tags(self.name, terms)
        self.holdings = yield from feature_agreement_coordinator(terms)
        kept, peers = yield from support_coordinator(terms)
        self.survivors, self.features = peers, kept.width
        self.standard = yield from standardise_coordinator(terms, kept, peers)
        self.solve = solve = hidden_solve(terms, self.standard, peers)
        shape: dict[str, Value] = {"width": solve.width, "peers": peers}
        yield Stage("shape", lambda s: Teller(self.name, s, "shape", {KEY_HOLDER: shape}))
        told = yield Stage("key", lambda s: Listener(self.name, s, "key", [KEY_HOLDER]))
        self.other = told_agreed_key(told.heard[KEY_HOLDER], terms.recipe, {})
        if self.other == self._key.public:
            raise InputError("the key holder must have a key of its own.")


class HiddenKeyHolder(_HiddenParty):
    """K: opens nothing but masked numbers, and ends with the other share of theta."""

    def __init__(
        self, terms: TrainingTerms, key: PrivateKey, first: "HiddenKeyHolder | None" = None
    ) -> None:
        check_keys(terms, key)
        super().__init__(KEY_HOLDER, terms, first)
        self._key = key
        self.share: Share | None = None

    def _train_label(self) -> Script:
        solved = yield Stage("solve", self.solve.key_holder(self._key))
        self.share = solved.result
        # It has proven this key to everybody already.
        text = public_key_to_text(self._key.public)
        pieces = share_pieces(solved.result, self._key, text, self.survivors)
        yield Stage(SHARERS[1][0], lambda s: Teller(self.name, s, "share", pieces))

    def _prepare(self) -> Script:
        terms = self.terms
        self.tags = yield from heard_tags(self.name, terms)
        told = yield Stage("shape", lambda s: Listener(self.name, s, "shape", [COORDINATOR]))
        width, peers = told_shape(told.heard[COORDINATOR], terms)
        self.survivors, self.features = peers, width - 1
        piece: dict[str, Value] = {"key": proven_key_to_text(self._key)}
        pieces = dict.fromkeys((COORDINATOR, *peers), piece)
        yield Stage("key", lambda s: Teller(self.name, s, "key", pieces))
        self.solve = HiddenSolve(terms.recipe, checked_penalty(terms), width, peers)
