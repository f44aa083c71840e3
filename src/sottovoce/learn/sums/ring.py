"""SM.ADD as the paper has it: a vector goes round a ring under a random offset.

Clifton et al., Tools for privacy preserving distributed data mining, SIGKDD Explorations 4(2),
2002, section 3.1; the SM.ADD of Private Text Classification.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce.errors import DamagedMessageError, ParameterError, StalledError
from sottovoce.learn.sums.fixed import AllowTwo, Ring, checked_parties, uniform
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.message import Inbox, Message

LEAKAGE = Leakage(
    "secure sum by a ring with random offset",
    (
        Learns("first peer in the order of names", "the sum"),
        Learns("every other peer", "the sum; what it passes on looks uniform to it"),
    ),
    collusion="the two neighbours of a peer learn its summand: the threshold is 1 curious peer",
)


class RingPeer:
    """One peer of the ring; the first in the order of names adds and removes the offset.

    Steps 1 to P pass the running total on, P being the number of peers; step P + 1 tells the sum.
    A peer that falls silent stalls the ring: use masks where peers may drop out.
    """

    def __init__(
        self,
        name: str,
        session: bytes,
        peers: Sequence[str],
        summand: Ring,
        *,
        allow_two: AllowTwo | None = None,
    ) -> None:
        self.name = name
        self._ring = checked_parties(peers, allow_two=allow_two)
        if name not in self._ring:
            raise ParameterError(f"{name} must be one of the ring's peers.")
        self._place = self._ring.index(name)
        self._summand = np.asarray(summand, np.uint64)
        self._inbox = Inbox(session, name)
        self._offset: Ring | None = None
        self.total: Ring | None = None

    @property
    def finished(self) -> bool:
        """Whether the sum is known."""
        return self.total is not None

    def start(self) -> list[Message]:
        """The first peer sends its summand under the offset; the others wait."""
        before = self._ring[self._place - 1]
        if self._place:
            self._inbox.expect(self._place, "running total", [before])
            return []
        self._inbox.expect(len(self._ring), "running total", [before])
        self._offset = uniform(self._summand.size)
        return [self._passed_on(1, self._summand + self._offset)]

    def receive(self, message: Message) -> list[Message]:
        """Add and pass on, remove the offset and tell, or note the sum."""
        vector = self._vector(message)
        self._inbox.take(message)
        if message.kind == "sum":
            return self._note(vector)
        if self._offset is not None:
            return self._tell(vector - self._offset)
        self._inbox.expect(len(self._ring) + 1, "sum", [self._ring[0]])
        return [self._passed_on(message.step + 1, vector + self._summand)]

    def time_out(self) -> list[Message]:
        """A ring cannot go on without one of its peers."""
        missing = ", ".join(self._inbox.missing)
        raise StalledError(f"{self.name} still waits for {missing}; a ring needs every peer.")

    def _tell(self, total: Ring) -> list[Message]:
        self._note(total)
        step = len(self._ring) + 1
        return [self._message(step, other, "sum", total) for other in self._ring[1:]]

    def _note(self, total: Ring) -> list[Message]:
        self.total, self._offset = total, None
        self._inbox.close()
        return []

    def _passed_on(self, step: int, vector: Ring) -> Message:
        following = self._ring[(self._place + 1) % len(self._ring)]
        return self._message(step, following, "running total", vector)

    def _message(self, step: int, receiver: str, kind: str, vector: Ring) -> Message:
        return Message(self._inbox.session, self.name, receiver, step, kind, {"vector": vector})

    def _vector(self, message: Message) -> Ring:
        vector: Ring = message.array("vector", "<u8")
        if vector.size != self._summand.size:
            raise DamagedMessageError(
                f"{self.name} sums {self._summand.size} values, got {vector.size}."
            )
        return vector
