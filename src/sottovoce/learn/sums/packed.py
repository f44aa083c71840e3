"""SM.ADD under packed Paillier: the coordinator adds ciphertexts, the key holder opens the sum.

The SM.ADD of Private Text Classification, with its coordinator's role split in two: who holds
ciphertexts of single summands does not hold the key.
"""

from functools import cached_property

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    PublicKey,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
    public_key_to_text,
)
from sottovoce.learn.party import (
    Inbox,
    Leakage,
    Learns,
    Message,
    TooFewPartiesError,
    Value,
)
from sottovoce.learn.party.refusals import EarlyMessageError
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.masking import told_part
from sottovoce.learn.sums.packed_terms import (
    KnownKeys,
    PackedSum,
    _names,
    check_summand,
    received_array,
    told_key,
    told_sum,
)

LEAKAGE = Leakage(
    "secure sum by packed Paillier",
    (
        Learns("coordinator", "who took part, ciphertexts, and the sum"),
        Learns("key holder", "who took part, and the sum"),
        Learns("every peer", "who took part, and the sum; with told=False nothing of the sum"),
    ),
    collusion="the coordinator and the key holder together learn every summand: keep them apart",
)

KEY, SUMMAND, ADDED, SUM = range(1, 5)


class PackedPeer:
    """Encrypts its summand for the coordinator."""

    def __init__(
        self, name: str, terms: PackedSum, summand: Ring, *, known: KnownKeys | None = None
    ) -> None:
        if name not in terms.peers:
            raise ParameterError(f"{name} must be one of the sum's peers.")
        if summand.shape != (terms.size,):
            raise ParameterError(f"a summand must have {terms.size} values, got {summand.size}.")
        self.name = name
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms, self._summand = terms, summand
        self._known: KnownKeys = {} if known is None else known
        self._inbox = Inbox(terms.session, name)

    @property
    def finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """Wait for the key."""
        self._inbox.expect(KEY, "key", [self._terms.key_holder])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Encrypt under the key, or note the sum."""
        if message.kind == "sum":
            total, survivors = told_sum(message, self._terms, told=self._terms.told)
            self._inbox.take(message)
            self.total, self.survivors = total, survivors
            self._inbox.close()
            return []
        public = told_key(message, self._known)
        self._inbox.take(message)
        self._inbox.expect(SUM, "sum", [self._terms.key_holder])
        return [self._encrypted(public)]

    def time_out(self) -> list[Message]:
        """Only the coordinator goes on without others."""
        return []

    def _encrypted(self, public: PublicKey) -> Message:
        plan = self._terms.plan(public.bits)
        array = encrypt_integers(self._summand.view(np.int64), plan, public)
        payload: dict[str, Value] = {"array": array_to_bytes(array)}
        receiver = self._terms.coordinator
        return Message(self._terms.session, self.name, receiver, SUMMAND, "summand", payload)


class PackedCoordinator:
    """Adds ciphertexts, and sends nothing but their sum to the key holder."""

    def __init__(self, terms: PackedSum, *, known: KnownKeys | None = None) -> None:
        self.name = terms.coordinator
        self._known: KnownKeys = {} if known is None else known
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms = terms
        self._inbox = Inbox(terms.session, self.name)
        self._public: PublicKey | None = None
        self._added: EncryptedArray | None = None

    @property
    def finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """Wait for the key."""
        self._inbox.expect(KEY, "key", [self._terms.key_holder])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Note the key, add a summand, or note the sum."""
        if message.kind == "key":
            return self._note_key(message)
        if message.kind == "sum":
            return self._note_sum(message)
        array = self._summand(message)
        # Who cannot be added must not count as heard.
        added = array if self._added is None else self._added + array
        complete = self._inbox.take(message)
        self._added = added
        return self._sent_on() if complete else []

    def time_out(self) -> list[Message]:
        """Go on with those who have been heard, if they are enough."""
        return self._sent_on() if self._inbox.step == SUMMAND else []

    def _note_key(self, message: Message) -> list[Message]:
        public = told_key(message, self._known)
        self._inbox.take(message)
        self._public = public
        self._inbox.expect(SUMMAND, "summand", self._terms.peers)
        return []

    def _note_sum(self, message: Message) -> list[Message]:
        total, _ = told_sum(message, self._terms)
        self._inbox.take(message)
        self.total = total
        self._inbox.close()
        return []

    def _summand(self, message: Message) -> EncryptedArray:
        if self._public is None:
            # A peer may have the key, and answer it, before it has come here.
            raise EarlyMessageError("a summand must come after the key.")
        array = received_array(message, self._public, self._terms)
        check_summand(array)
        return array

    def _sent_on(self) -> list[Message]:
        heard, needed = tuple(self._inbox.taken), self._terms.threshold
        if len(heard) < needed or self._added is None:
            raise TooFewPartiesError(
                f"{len(heard)} peers are left, at least {needed} must be; run the sum again."
            )
        self.survivors = heard
        self._inbox.expect(SUM, "sum", [self._terms.key_holder])
        payload: dict[str, Value] = {"array": array_to_bytes(self._added), "names": heard}
        receiver = self._terms.key_holder
        return [Message(self._terms.session, self.name, receiver, ADDED, "added", payload)]


class PackedKeyHolder:
    """Hands out its public key and opens the sum, the only ciphertext that it sees."""

    def __init__(self, terms: PackedSum, key: PrivateKey) -> None:
        self.name = terms.key_holder
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms, self._key = terms, key
        self._inbox = Inbox(terms.session, self.name)

    @property
    def finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    @cached_property
    def _everybody(self) -> tuple[str, ...]:
        return (self._terms.coordinator, *self._terms.peers)

    def start(self) -> list[Message]:
        """Hand out the public key."""
        self._inbox.expect(ADDED, "added", [self._terms.coordinator])
        text = public_key_to_text(self._key.public)
        return self._to_everybody(KEY, "key", {"key": text})

    def receive(self, message: Message) -> list[Message]:
        """Open the sum and tell it."""
        array = received_array(message, self._key.public, self._terms)
        names = _names(message, self._terms)
        self._inbox.take(message)
        # Planned numbers have slots of at most 64 bits, so that machine integers come out.
        self.total, self.survivors = decrypt_integers(array, self._key).view(np.uint64), names
        self._inbox.close()
        everything: dict[str, Value] = {"vector": self.total, "names": names}
        vector = told_part(self.total, told=self._terms.told)
        to_peers: dict[str, Value] = {"vector": vector, "names": names}
        return [
            self._said(self._terms.coordinator, SUM, "sum", everything),
            *(self._said(peer, SUM, "sum", to_peers) for peer in self._terms.peers),
        ]

    def time_out(self) -> list[Message]:
        """Only the coordinator goes on without others."""
        return []

    def _to_everybody(self, step: int, kind: str, payload: dict[str, Value]) -> list[Message]:
        return [self._said(one, step, kind, payload) for one in self._everybody]

    def _said(self, receiver: str, step: int, kind: str, payload: dict[str, Value]) -> Message:
        return Message(self._terms.session, self.name, receiver, step, kind, payload)
