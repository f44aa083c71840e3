"""Rados under encryption: the blind intermediary.

Private Text Classification, Protocol 1, in the form without a secure product: the owner encrypts
the rows x and the sum of y x, and the intermediary adds and subtracts ciphertexts as its sealed
signatures say. Protocol 1 multiplies by 1/2, which is no integer: here 2 pi is made, and halved
when it is opened.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import Program, SlotPlan, plan_slots
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt,
    encrypt_integers,
)
from sottovoce.learn.rados.rados import SealedSignatures
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Inbox, Leakage, Learns, Message

if TYPE_CHECKING:
    from sottovoce.arrays import Floats

LEAKAGE = Leakage(
    "encrypted rados by a blind intermediary",
    (
        Learns("owner of the examples", "nothing"),
        Learns("intermediary", "how many examples and features there are; its own signatures"),
        Learns("receiver", "the clear rados, which are sums of examples; no signature"),
    ),
    collusion="the intermediary and the receiver together hold signatures and clear rados and "
    "reconstruct the examples: keep them apart",
)

KEY, EXAMPLES, RADOS = range(1, 4)


@dataclass(frozen=True)
class RadoTerms:
    """What everybody knows about one making of rados.

    Attributes:
        session: the run's name.
        owner: who has the examples.
        intermediary: who has the signatures, and sees ciphertexts only.
        receiver: who has the key, and sees no signature.
        examples: m.
        features: d.
        rados: n.
        bound: the largest absolute value in the examples.
        fraction_bits: how many binary places of it are kept.
    """

    session: bytes
    owner: str
    intermediary: str
    receiver: str
    examples: int
    features: int
    rados: int
    bound: float
    fraction_bits: int = 30

    def __post_init__(self) -> None:
        if len({self.owner, self.intermediary, self.receiver}) != 3:  # noqa: PLR2004 - three roles
            raise LeakError(
                "owner, intermediary and receiver must be three parties: who has signatures and "
                "clear rados reconstructs the examples."
            )
        if min(self.examples, self.features, self.rados) < 1:
            raise ParameterError("examples, features and rados must be >= 1.")
        if self._program.bound >= 1 << 63:
            raise ParameterError(
                "twice the sum of all rows must stay below 2^63; lower fraction_bits or the bound."
            )

    @property
    def _program(self) -> Program:
        """A row, m rows with signs, and these with their labelled sum."""
        return Program.start(self.bound, self.fraction_bits).add_up(self.examples).add_up(2)

    def plan(self, key_bits: int, *, part: str = "rows") -> SlotPlan:
        """Slots for rows, or as wide ones for their labelled sum."""
        program = self._program if part == "rows" else Program(self._program.stages[1:])
        return plan_slots(program, key_bits=key_bits)

    def message(self, step: int, kind: str, way: tuple[str, str], **payload: Value) -> Message:
        """A message of this session."""
        sender, receiver = way
        return Message(self.session, sender, receiver, step, kind, payload)


class RadoOwner:
    """Encrypts its examples for the intermediary."""

    def __init__(self, terms: RadoTerms, rows: Rows, labels: ArrayLike) -> None:
        self.name = terms.owner
        self.has_finished = False
        self._terms = terms
        self._rows = checked_rows(rows)
        self._signs = checked_signs(labels, len(self._rows))
        if self._rows.shape != (terms.examples, terms.features):
            raise InputError(
                f"the examples must be {terms.examples} x {terms.features}, "
                f"got {self._rows.shape[0]} x {self._rows.shape[1]}."
            )
        if np.abs(self._rows).max() > terms.bound:
            raise InputError(
                f"the examples must lie within +-{terms.bound:g}; state a larger bound."
            )
        self._inbox = Inbox(terms.session, self.name)

    def start(self) -> list[Message]:
        """Wait for the key."""
        self._inbox.expect(KEY, "key", [self._terms.receiver])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Encrypt the rows, and the sum of y x, under the receiver's key."""
        public = public_key_from_text(message.item("key", str), needs_proof=True)
        self._inbox.take(message)
        self._inbox.close()
        self.has_finished = True
        # Rounded once, so that the labelled sum is that of the very rows that were encrypted.
        rows = np.rint(np.ldexp(self._rows, self._terms.fraction_bits)).astype(np.int64)
        labelled = self._signs.astype(np.int64) @ rows
        parts = {
            part: array_to_bytes(
                encrypt_integers(integers, self._terms.plan(public.bits, part=part), public)
            )
            for part, integers in zip(_PARTS, (rows, labelled), strict=True)
        }
        way = (self.name, self._terms.intermediary)
        return [self._terms.message(EXAMPLES, "examples", way, **parts)]

    def time_out(self) -> list[Message]:
        """It waits for the key only."""
        return []


class RadoIntermediary:
    """Knows the signatures, sees ciphertexts, and passes rados on without opening any."""

    def __init__(self, terms: RadoTerms) -> None:
        self.name = terms.intermediary
        self.has_finished = False
        self._terms = terms
        self._signatures = SealedSignatures(terms.rados, terms.examples)
        self._inbox = Inbox(terms.session, self.name)
        self._public: PublicKey | None = None

    def start(self) -> list[Message]:
        """Wait for the key."""
        self._inbox.expect(KEY, "key", [self._terms.receiver])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Note the key, or make rados of the encrypted examples."""
        if self._public is None:
            public = public_key_from_text(message.item("key", str), needs_proof=True)
            self._inbox.take(message)
            self._public = public
            self._inbox.expect(EXAMPLES, "examples", [self._terms.owner])
            return []
        rows, labelled = (self._array(message, part, self._public) for part in _PARTS)
        self._inbox.take(message)
        self._inbox.close()
        self.has_finished = True
        doubled = encrypted_rados(self._signatures, rows, labelled)
        way = (self.name, self._terms.receiver)
        return [self._terms.message(RADOS, "rados", way, doubled=array_to_bytes(doubled))]

    def time_out(self) -> list[Message]:
        """It cannot go on without key and examples."""
        return []

    def _array(self, message: Message, part: str, public: PublicKey) -> EncryptedArray:
        terms = self._terms
        plan = terms.plan(public.bits, part=part)
        array = array_from_bytes(message.item(part, bytes), public, plan=plan)
        wanted = (terms.examples, terms.features) if part == "rows" else (terms.features,)
        if array.shape != wanted:
            raise InputError(f"encrypted {part} must have shape {wanted}, got {array.shape}.")
        return array


class RadoReceiver:
    """Holds the key and opens rados, whose signatures it never learns."""

    def __init__(self, terms: RadoTerms, key: PrivateKey) -> None:
        self.name = terms.receiver
        self.rados: Floats | None = None
        self._terms, self._key = terms, key
        self._inbox = Inbox(terms.session, self.name)

    @property
    def has_finished(self) -> bool:
        """Whether the rados are there."""
        return self.rados is not None

    def start(self) -> list[Message]:
        """Hand out the public key."""
        self._inbox.expect(RADOS, "rados", [self._terms.intermediary])
        text = proven_key_to_text(self._key)
        receivers = (self._terms.owner, self._terms.intermediary)
        return [self._terms.message(KEY, "key", (self.name, one), key=text) for one in receivers]

    def receive(self, message: Message) -> list[Message]:
        """Open the rados and halve them."""
        public, terms = self._key.public, self._terms
        data = message.item("doubled", bytes)
        array = array_from_bytes(data, public, plan=terms.plan(public.bits))
        if array.shape != (terms.rados, terms.features):
            raise InputError(
                f"encrypted rados must be {terms.rados} x {terms.features}, got {array.shape}."
            )
        self._inbox.take(message)
        self.rados = decrypt(array, self._key) / 2
        self._inbox.close()
        return []

    def time_out(self) -> list[Message]:
        """It cannot go on without rados."""
        return []


_PARTS = ("rows", "labelled")


def encrypted_rados(signatures: SealedSignatures, rows: object, labelled: object) -> EncryptedArray:
    """2 pi = sum sigma x + sum y x for each sealed signature, under encryption.

    Private Text Classification, Protocol 1 (eq. 6), without its secure product. Clear rows are
    refused: signatures only meet ciphertexts.
    """
    if not isinstance(rows, EncryptedArray) or not isinstance(labelled, EncryptedArray):
        raise LeakError("an intermediary's signatures are applied to ciphertexts only.")
    if len(rows) != signatures.shape[1]:
        raise InputError(f"the signatures are of {signatures.shape[1]} examples, got {len(rows)}.")
    return signatures.combine(rows) + labelled
