"""SM.ADD as the paper's coordinator has it: ciphertexts go round the peers, and end at the key.

Private Text Classification, Protocols 2 and 3: SM.ADD over encrypted summands. The coordinator
opens the total, and could open every message between peers too: the encryption protects the peers
from each other, not from the coordinator.
"""

from typing import TYPE_CHECKING

from sottovoce.errors import InputError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
)
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.message import Inbox, Message
from sottovoce.learn.wire.stages import Listener

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value


class CipherRingPeer:
    """Adds its encrypted summand to what it is handed, and hands it on."""

    def __init__(
        self,
        name: str,
        session: bytes,
        order: tuple[str, ...],
        receiver: str,
        summand: EncryptedArray,
    ) -> None:
        self.name = name
        self.finished = False
        self._order, self._receiver = order, receiver
        self._place = order.index(name)
        self._summand = summand
        self._inbox = Inbox(session, name)

    def start(self) -> list[Message]:
        """The first hands on its own summand; the others wait."""
        if self._place == 0:
            return self._handed_on(self._summand)
        self._inbox.expect(self._place, "running total", [self._order[self._place - 1]])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Add, and hand on."""
        own = self._summand
        data = message.item("array", bytes)
        array = array_from_bytes(data, own.public, plan=own.plan)
        if array.shape != own.shape:
            raise InputError(f"a running total must have shape {own.shape}, got {array.shape}.")
        self._inbox.take(message)
        return self._handed_on(array + own)

    def time_out(self) -> list[Message]:
        """A ring cannot go on without one of its peers."""
        return []

    def _handed_on(self, total: EncryptedArray) -> list[Message]:
        self._inbox.close()
        self.finished = True
        last = self._place + 1 == len(self._order)
        receiver = self._receiver if last else self._order[self._place + 1]
        payload: dict[str, Value] = {"array": array_to_bytes(total)}
        step = self._place + 1
        session = self._inbox.session
        return [Message(session, self.name, receiver, step, "running total", payload)]


class RingEnd(Listener):
    """Hears the last peer of a ring, at the step that is its place."""

    def __init__(self, session: bytes, last: str, step: int) -> None:
        super().__init__(COORDINATOR, session, "running total", [last])
        self._last_step = step

    def start(self) -> list[Message]:
        """Wait for the last peer."""
        self._inbox.expect(self._last_step, self._kind, self._senders)
        return []
