"""SM.ADD under packed Paillier: the coordinator adds ciphertexts, the key holder opens the sum.

The SM.ADD of Private Text Classification, with its coordinator's role split in two: who holds
ciphertexts of single summands does not hold the key. Summands are masked besides, and the peers
tell the masks to the key holder alone: it opens nothing but a sum that has each summand once (see
`summand_masks`). `PackedSum` is what everybody knows about one sum, and what its messages are
checked against.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    InputError,
    ParameterError,
    TooFewPartiesError,
)
from sottovoce.learn._opened_among import Among, lost_after_opening
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import (
    proven_key_to_text,
    public_key_from_text,
    public_key_to_text,
)
from sottovoce.learn.paillier.key_proof import KnownKeys
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import Program, SlotPlan, SlotStage, plan_slots
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
)
from sottovoce.learn.sums.fixed import AllowTwo, FixedPoint, Ring, checked_parties, fewest
from sottovoce.learn.sums.masked_sum import told_part
from sottovoce.learn.sums.summand_masks import SummandMasks, checked_seed, new_mask_seed
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.message import Inbox, Message


@dataclass(frozen=True)
class PackedSum:
    """What everybody knows about one sum under Paillier.

    Attributes:
        session: the run's name.
        coordinator: the party that adds ciphertexts and has no key.
        key_holder: the party that opens the sum and sees no other ciphertext.
        peers: who gives a summand.
        size: how many values a summand has.
        numbers: how large they are; the slots are planned from it.
        allow_two: the name of what two peers accept.
        threshold: how many peers must stay; three by default, two where ``allow_two`` says so.
        told: whether the peers are told the sum; if not, only that it is there.
    """

    session: bytes
    coordinator: str
    key_holder: str
    peers: Sequence[str]
    size: int
    numbers: FixedPoint
    allow_two: AllowTwo | None = None
    threshold: int = 0
    told: bool = True

    def __post_init__(self) -> None:
        peers = checked_parties(self.peers, allow_two=self.allow_two)
        if len({self.coordinator, self.key_holder, *peers}) != len(peers) + 2:
            raise ParameterError(
                "the coordinator, the key holder and the peers must be different parties: who "
                "holds key and ciphertexts reads the summands."
            )
        if self.numbers.parties < len(peers):
            raise ParameterError(
                f"the numbers are planned for {self.numbers.parties} summands, got {len(peers)}."
            )
        least = fewest(self.allow_two)
        if self.threshold and not least <= self.threshold <= len(peers):
            raise ParameterError(
                f"threshold must be {least} to {len(peers)}, got {self.threshold}."
            )
        object.__setattr__(self, "peers", peers)
        object.__setattr__(self, "threshold", self.threshold or least)

    @property
    def masks(self) -> SummandMasks:
        """What hides a summand from whoever opens it without the others."""
        return SummandMasks(self.session, self.size, self.numbers, len(self.peers))

    def plan(self, key_bits: int) -> SlotPlan:
        """Slots that no sum of this many masked summands can overflow."""
        program = Program((SlotStage(self.masks.bound, self.numbers.fraction_bits),))
        return plan_slots(program.summed(len(self.peers)), key_bits=key_bits)


def told_key(message: Message, known: KnownKeys) -> PublicKey:
    """The public key of a message, which must be proven, or known from a proof before."""
    return public_key_from_text(message.item("key", str), needs_proof=True, known=known)


def told_sum(
    message: Message, terms: PackedSum, *, told: bool = True
) -> tuple[Ring, tuple[str, ...]]:
    """The sum of a message, and over whom it runs."""
    vector: Ring = message.array("vector", "<u8")
    size = terms.size if told else 0
    if vector.size != size:
        raise DamagedMessageError(f"a sum must have {size} values, got {vector.size}.")
    return vector, _names(message, terms)


def received_array(message: Message, public: PublicKey, terms: PackedSum) -> EncryptedArray:
    """The ciphertexts of a message, checked against the key and the plan."""
    array = array_from_bytes(message.item("array", bytes), public, plan=terms.plan(public.bits))
    if array.shape != (terms.size,):
        raise InputError(f"encrypted summands must have {terms.size} values, got {array.shape}.")
    return array


def check_summand(array: EncryptedArray) -> None:
    """Refuse one whose stated size or scale would keep the others from being added."""
    plan = array.plan
    if array.bound > plan.value_bound or array.fraction_bits != plan.fraction_bits:
        raise InputError("a summand must have the size and the scale of the plan's first step.")


def _names(message: Message, terms: PackedSum) -> tuple[str, ...]:
    names = tuple(str(name) for name in message.item("names", tuple))
    once = len(set(names)) == len(names)
    if not once or not set(names) <= set(terms.peers) or len(names) < terms.threshold:
        raise TooFewPartiesError(
            f"a sum must be over at least {terms.threshold} of its peers, each once."
        )
    return names


LEAKAGE = Leakage(
    "secure sum by packed Paillier",
    (
        Learns("coordinator", "who took part, ciphertexts, and the sum"),
        Learns(
            "key holder",
            "who took part, seeds of the peers' masks, whether a peer wants all of them in the "
            "sum, and the sum",
        ),
        Learns("every peer", "who took part, and the sum; with told=False nothing of the sum"),
    ),
    collusion="the coordinator and the key holder together learn every summand: keep them apart",
)

KEY, SUMMAND, ADDED, SUM = range(1, 5)


class PackedPeer:
    """Encrypts its summand for the coordinator.

    ``among`` is what it makes of who is left: the key holder is told whether that must be all.
    """

    def __init__(
        self,
        name: str,
        terms: PackedSum,
        summand: Ring,
        *,
        known: KnownKeys | None = None,
        among: Among | None = None,
    ) -> None:
        if name not in terms.peers:
            raise ParameterError(f"{name} must be one of the sum's peers.")
        if summand.shape != (terms.size,):
            raise ParameterError(f"a summand must have {terms.size} values, got {summand.size}.")
        self.name = name
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms, self._summand = terms, summand
        self._among = among or Among()
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
            self._among.settle(survivors, tuple(self._terms.peers))
            self.total, self.survivors = total, survivors
            self._inbox.close()
            return []
        public = told_key(message, self._known)
        self._inbox.take(message)
        self._inbox.expect(SUM, "sum", [self._terms.key_holder])
        return self._given(public)

    def time_out(self) -> list[Message]:
        """Only the coordinator goes on without others."""
        return []

    def _given(self, public: PublicKey) -> list[Message]:
        """The masked summand for the coordinator, and what its mask is made from for the other."""
        terms, seed = self._terms, new_mask_seed()
        masked = terms.masks.masked(self._summand, seed)
        array = encrypt_integers(masked, terms.plan(public.bits), public)
        return [
            self._said(terms.coordinator, "summand", {"array": array_to_bytes(array)}),
            self._said(terms.key_holder, "mask", {"seed": seed, "whole": int(self._among.whole)}),
        ]

    def _said(self, receiver: str, kind: str, payload: dict[str, Value]) -> Message:
        return Message(self._terms.session, self.name, receiver, SUMMAND, kind, payload)


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
            lost = ", ".join(sorted(set(self._terms.peers) - set(heard)))
            raise TooFewPartiesError(
                f"{len(heard)} peers are left, at least {needed} must be, and {lost} did not "
                "answer; run the sum again."
            )
        self.survivors = heard
        self._inbox.expect(SUM, "sum", [self._terms.key_holder])
        payload: dict[str, Value] = {"array": array_to_bytes(self._added), "names": heard}
        receiver = self._terms.key_holder
        return [Message(self._terms.session, self.name, receiver, ADDED, "added", payload)]


class PackedKeyHolder:
    """Hands out its public key and opens the sum, the only ciphertext that it sees.

    ``proven`` says that everybody has had this key's proof before.
    """

    def __init__(self, terms: PackedSum, key: PrivateKey, *, proven: bool = False) -> None:
        self.name = terms.key_holder
        self.total: Ring | None = None
        self.survivors: tuple[str, ...] = ()
        self._terms, self._key, self._proven = terms, key, proven
        self._inbox = Inbox(terms.session, self.name)
        self._masks = Inbox(terms.session, self.name)
        self._added: EncryptedArray | None = None

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
        self._masks.expect(SUMMAND, "mask", self._terms.peers)
        key = self._key
        text = public_key_to_text(key.public) if self._proven else proven_key_to_text(key)
        return self._to_everybody(KEY, "key", {"key": text})

    def receive(self, message: Message) -> list[Message]:
        """Note a peer's mask or the added ciphertext; open the sum and tell it."""
        if message.kind == "mask":
            checked_seed(message.item("seed", bytes))
            message.item("whole", int)
            self._masks.take(message)
        else:
            array = received_array(message, self._key.public, self._terms)
            names = _names(message, self._terms)
            self._inbox.take(message)
            self._added, self.survivors = array, names
        if self._added is None or not set(self.survivors) <= set(self._masks.taken):
            self._await_masks()
            return []
        return self._opened(self._added, self.survivors)

    def _await_masks(self) -> None:
        """Whoever asks whom this party waits for looks at its inbox."""
        if self._added is not None:
            self._inbox = self._masks

    def _opened(self, array: EncryptedArray, names: tuple[str, ...]) -> list[Message]:
        self._check_whole(names)
        seeds = [self._masks.taken[name].item("seed", bytes) for name in names]
        opened = decrypt_integers(array, self._key)
        self.total = self._terms.masks.unmasked(opened.tolist(), seeds)
        self._inbox.close()
        everything: dict[str, Value] = {"vector": self.total, "names": names}
        vector = told_part(self.total, told=self._terms.told)
        to_peers: dict[str, Value] = {"vector": vector, "names": names}
        return [
            self._said(self._terms.coordinator, SUM, "sum", everything),
            *(self._said(peer, SUM, "sum", to_peers) for peer in self._terms.peers),
        ]

    def _check_whole(self, names: tuple[str, ...]) -> None:
        """Refuse a sum over some peers, if one of them gave its summand for one over all."""
        lost = sorted(set(self._terms.peers) - set(names))
        if lost and any(self._masks.taken[name].item("whole", int) for name in names):
            raise lost_after_opening(lost)

    def time_out(self) -> list[Message]:
        """Only the coordinator goes on without others."""
        return []

    def _to_everybody(self, step: int, kind: str, payload: dict[str, Value]) -> list[Message]:
        return [self._said(one, step, kind, payload) for one in self._everybody]

    def _said(self, receiver: str, step: int, kind: str, payload: dict[str, Value]) -> Message:
        return Message(self._terms.session, self.name, receiver, step, kind, payload)
