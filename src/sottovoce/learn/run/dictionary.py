"""A common dictionary through a coordinator who learns no word of it.

The peers share a key that the coordinator has not: each peer signs a fresh X25519 key, the
coordinator carries them, and the first peer seals a key for each of the others. It derives it from
a secret of its own and from who the peers are, so that the same peers have the same key in all
their trainings, and those who remember refuse another: words that share a bucket under one key and
not under another would stand alone in the difference of two sums. A word's bucket is
HMAC-SHA256 of the word under this key, modulo a public number of buckets. Each peer marks the
buckets of the words it nominates; the marks, zeros and ones, are added up under pairwise masks, so
that the coordinator learns how many peers marked each bucket and nothing about who did, and tells
the buckets that enough peers marked. Those are the columns. How often a word is used never
travels, and no message's size depends on anybody's vocabulary.

A word that too few peers nominate is told to nobody. Whoever has the key can try words: a peer
finds out which words are in the dictionary, and so that enough peers, itself perhaps among them,
nominated them; of three peers that says who, for a word that the third did not nominate.
"""

import hashlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DamagedMessageError, DataError, DisagreementError, ParameterError
from sottovoce.learn.documents import keyed_digest
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.modes.sums import SumStage
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.sums.fixed import KEY_BYTES, Among
from sottovoce.learn.sums.keys import AgreementKey, Identity, check_signature, seal, unseal
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Stage, Teller

if TYPE_CHECKING:
    from sottovoce.learn.openings import OpeningMemory

KEY_STAGES = ("keys", "directory", "word key", "sealed word key")
NOMINATION_STAGES = ("nominations", "dictionary")
Buckets = NDArray[np.int64]
_PURPOSE = "word key"
_TOGETHER, _DIGIT = 4, 1024  # 40 bits in all, as much as a count may have


@dataclass(frozen=True, repr=False)
class PeerSecrets:
    """What a peer brings to agree on words: who it is, its secret, and what it remembers."""

    identity: Identity
    secret: bytes
    memory: "OpeningMemory | None" = None

    def word_key(self, terms: RunTerms) -> bytes:
        """The key that this peer gives the others, if it is the first of them."""
        return keyed_digest(self.secret, _PURPOSE, _group(terms))

    def check_key(self, key: bytes, terms: RunTerms) -> bytes:
        """A key, if it is that of all earlier trainings among these peers."""
        if self.memory is not None and not self.memory.same_word_key(_group(terms), key):
            raise DisagreementError(
                f"{terms.peers[0]} must bring the key for words of the earlier trainings among "
                "these peers, got another: other words would share a column, and the difference "
                "of two sums would be single documents'."
            )
        return key


def _group(terms: RunTerms) -> bytes:
    """A name for the peers of a run, whatever else its terms say."""
    return hashlib.sha256(
        encode_value(tuple(terms.identities[peer] for peer in terms.peers))
    ).digest()


def word_key_peer(name: str, terms: RunTerms, secrets: PeerSecrets) -> Generator[Stage, Any, bytes]:
    """Agree with the other peers on a key that the coordinator does not learn."""
    own, identity = AgreementKey(), secrets.identity
    signature = identity.sign(_PURPOSE, terms.session, name, own.public)
    piece: dict[str, Value] = {"key": own.public, "signature": signature}
    yield Stage("keys", lambda s: Teller(name, s, "keys", {COORDINATOR: piece}))
    told = yield Stage("directory", lambda s: Listener(name, s, "directory", [COORDINATOR]))
    publics = _checked_directory(told.heard[COORDINATOR], terms)
    first = terms.peers[0]
    if name == first:
        key = secrets.check_key(secrets.word_key(terms), terms)
        pieces: dict[str, Value] = {
            other: seal(own.common_key(publics[other], terms.session, _PURPOSE, first, other), key)
            for other in terms.peers[1:]
        }
        yield Stage("word key", lambda s: Teller(name, s, "word key", {COORDINATOR: pieces}))
        return key
    told = yield Stage("sealed word key", lambda s: Listener(name, s, "word key", [COORDINATOR]))
    with_first = own.common_key(publics[first], terms.session, _PURPOSE, first, name)
    key = _word_key(unseal(with_first, told.heard[COORDINATOR].item("sealed", bytes)))
    return secrets.check_key(key, terms)


def word_key_coordinator(terms: RunTerms) -> Generator[Stage, Any, None]:
    """Carry the peers' signed keys, and the sealed key of their words."""
    heard = yield Stage("keys", lambda s: Listener(COORDINATOR, s, "keys", terms.peers))
    keys: dict[str, Value] = {
        peer: (said.item("key", bytes), said.item("signature", bytes))
        for peer, said in heard.heard.items()
    }
    pieces: dict[str, dict[str, Value]] = {peer: {"keys": keys} for peer in terms.peers}
    yield Stage("directory", lambda s: Teller(COORDINATOR, s, "directory", pieces))
    first, *others = terms.peers
    told = yield Stage("word key", lambda s: Listener(COORDINATOR, s, "word key", [first]))
    sealed_keys: dict[str, dict[str, Value]] = {
        other: {"sealed": told.heard[first].item(other, bytes)} for other in others
    }
    yield Stage("sealed word key", lambda s: Teller(COORDINATOR, s, "word key", sealed_keys))


def nominating_peer(
    name: str,
    terms: RunTerms,
    identity: Identity,
    marks: NDArray[np.float64],
    among: Among | None = None,
) -> Generator[Stage, Any, tuple[Buckets, tuple[str, ...]]]:
    """Mark buckets, and hear which are in the dictionary; and who is still there."""
    stage = nomination_stage(terms, len(marks))
    made = stage.peer(name, identity, packed_marks(marks), among=among)
    summed = yield Stage("nominations", made)
    told = yield Stage("dictionary", lambda s: Listener(name, s, "dictionary", [COORDINATOR]))
    chosen, peers = told_dictionary(told.heard[COORDINATOR], terms)
    if peers != summed.survivors:
        raise DamagedMessageError("the dictionary must be of the peers that agreed to be left.")
    return chosen, peers


def nominating_coordinator(
    terms: RunTerms, text: TextRecipe, helpers: tuple[str, ...]
) -> Generator[Stage, Any, tuple[Buckets, tuple[str, ...]]]:
    """Add up marks, and tell the buckets that enough peers marked."""
    stage = nomination_stage(terms, text.buckets)
    summed = yield Stage("nominations", stage.adder())
    marks = unpacked_marks(stage.numbers.decode(summed.total), text.buckets)
    peers = summed.survivors
    chosen = chosen_buckets(marks, fewest=terms.recipe.fewest_peers, most=text.width)
    piece: dict[str, Value] = {"buckets": chosen, "peers": peers}
    pieces = dict.fromkeys((*helpers, *peers), piece)
    yield Stage("dictionary", lambda s: Teller(COORDINATOR, s, "dictionary", pieces))
    return chosen, peers


def hearing_helper(
    name: str, terms: RunTerms
) -> Generator[Stage, Any, tuple[Buckets, tuple[str, ...]]]:
    """A key holder hears the columns' numbers, which say nothing to it."""
    told = yield Stage("dictionary", lambda s: Listener(name, s, "dictionary", [COORDINATOR]))
    return told_dictionary(told.heard[COORDINATOR], terms)


def nomination_stage(terms: RunTerms, buckets: int) -> SumStage:
    """A sum under masks, whatever the way of the statistics; peers are not told it.

    What a peer could read off the sum: of a word that it tries, how many peers nominated it.
    """
    if len(terms.peers) >= _DIGIT:
        raise ParameterError(f"fewer than {_DIGIT} peers can agree on words.")
    summing = TrainingTerms(terms.session, terms.identities, ("marks",), terms.recipe)
    words = -(-buckets // _TOGETHER)
    return SumStage(summing, words, summing.counts(), terms.peers, everyone=False)


def packed_marks(marks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Four marks in one number: a digit each, with room for the marks of all peers."""
    padded = np.concatenate([marks, np.zeros(-len(marks) % _TOGETHER)])
    packed: NDArray[np.float64] = padded.reshape(-1, _TOGETHER) @ float(_DIGIT) ** np.arange(
        _TOGETHER
    )
    return packed


def unpacked_marks(numbers: NDArray[np.float64], buckets: int) -> NDArray[np.float64]:
    """The digits of summed numbers."""
    digits = numbers.astype(np.int64)[:, None] // _DIGIT ** np.arange(_TOGETHER) % _DIGIT
    return digits.ravel()[:buckets].astype(np.float64)


def chosen_buckets(marks: NDArray[np.float64], *, fewest: int, most: int) -> Buckets:
    """The buckets that at least ``fewest`` peers marked; of these the ``most`` that most did."""
    enough = np.flatnonzero(marks >= fewest)
    if not enough.size:
        raise DataError(
            f"a word must be nominated by at least {fewest} peers to be in the dictionary, and "
            "none is; raise candidates, lower candidate_documents, or use a given word list."
        )
    order = enough[np.argsort(-marks[enough], kind="stable")][:most]
    return np.sort(order).astype(np.int64)


def told_dictionary(message: Message, terms: RunTerms) -> tuple[Buckets, tuple[str, ...]]:
    """The columns' buckets, checked, and who is still there."""
    buckets, names = message.array("buckets", "<i8"), message.item("peers", tuple)
    text = terms.text
    rising = buckets.size and np.all(np.diff(buckets) > 0) and buckets[0] >= 0
    if text is None or not rising or buckets[-1] >= text.buckets or buckets.size > text.width:
        raise DamagedMessageError("a dictionary must be rising numbers of buckets, at least one.")
    peers = tuple(str(name) for name in names)
    if not set(peers) <= set(terms.peers) or list(peers) != sorted(set(peers)):
        raise DamagedMessageError("a dictionary must be of peers of the run.")
    return buckets, peers


def _checked_directory(message: Message, terms: RunTerms) -> dict[str, bytes]:
    keys = message.payload.get("keys")
    if not isinstance(keys, dict) or set(keys) != set(terms.peers):
        raise DamagedMessageError("a directory must have one key of every peer.")
    publics = {}
    for peer, entry in keys.items():
        public, signature = _two_bytes(entry)
        parts = (_PURPOSE, terms.session, peer, public)
        check_signature(terms.identities[peer], signature, *parts)
        publics[peer] = public
    return publics


def _two_bytes(entry: Value) -> tuple[bytes, bytes]:
    if isinstance(entry, tuple) and len(entry) == 2:  # noqa: PLR2004 - a key and its signature
        one, two = entry
        if isinstance(one, bytes) and isinstance(two, bytes):
            return one, two
    raise DamagedMessageError("a directory's entry must be a key and a signature.")


def _word_key(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise DamagedMessageError(f"the key of words must have {KEY_BYTES} bytes.")
    return key
