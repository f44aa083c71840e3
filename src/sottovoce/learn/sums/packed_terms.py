"""What everybody knows about one sum under packed Paillier, and what its messages must be."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier import (
    EncryptedArray,
    Program,
    PublicKey,
    SlotPlan,
    array_from_bytes,
    plan_slots,
    public_key_from_text,
)
from sottovoce.learn.party import (
    Message,
    TooFewPartiesError,
)
from sottovoce.learn.party.refusals import DamagedMessageError
from sottovoce.learn.sums.fixed import FixedPoint, Ring
from sottovoce.learn.sums.rules import AllowTwo, checked_parties, fewest

# What a party remembers from one sum to the next: keys that it has checked, with their tables.
KnownKeys: TypeAlias = dict[str, PublicKey]


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

    def plan(self, key_bits: int) -> SlotPlan:
        """Slots that no sum of this many summands can overflow."""
        program = Program.of(self.numbers.bound, self.numbers.fraction_bits)
        return plan_slots(program.summed(len(self.peers)), key_bits=key_bits)


def told_key(message: Message, known: KnownKeys) -> PublicKey:
    """The public key of a message, checked as every key from outside is, the first time."""
    text = message.item("key", str)
    if text not in known:
        known[text] = public_key_from_text(text)
    return known[text]


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
    if not set(names) <= set(terms.peers) or len(set(names)) < terms.threshold:
        raise TooFewPartiesError(f"a sum must be over at least {terms.threshold} of its peers.")
    return names
