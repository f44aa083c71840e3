"""The smallest stages: one says something to several, several say something to one."""

from collections.abc import Iterable, Mapping

from sottovoce.learn.party import Inbox, Message, Value


class Teller:
    """Says its piece to each receiver, and has finished."""

    finished = True

    def __init__(
        self, name: str, session: bytes, kind: str, pieces: Mapping[str, Mapping[str, Value]]
    ) -> None:
        self.name = name
        self._session, self._kind, self._pieces = session, kind, pieces

    def start(self) -> list[Message]:
        """Say all of it."""
        return [
            Message(self._session, self.name, receiver, 1, self._kind, piece)
            for receiver, piece in self._pieces.items()
        ]

    def receive(self, message: Message) -> list[Message]:
        """Nobody answers a teller."""
        Inbox(self._session, self.name).take(message)
        return []

    def time_out(self) -> list[Message]:
        """It waits for nobody."""
        return []


class Listener:
    """Hears one message of a kind from each sender; ``heard`` holds them by sender."""

    def __init__(self, name: str, session: bytes, kind: str, senders: Iterable[str]) -> None:
        self.name = name
        self.heard: dict[str, Message] = {}
        self._kind, self._senders = kind, tuple(senders)
        self._inbox = Inbox(session, name)

    @property
    def finished(self) -> bool:
        """Whether everybody has been heard."""
        return len(self.heard) == len(self._senders)

    def start(self) -> list[Message]:
        """Wait."""
        self._inbox.expect(1, self._kind, self._senders)
        return []

    def receive(self, message: Message) -> list[Message]:
        """Note what somebody says."""
        if self._inbox.take(message):
            self.heard = self._inbox.taken
            self._inbox.close()
        return []

    def time_out(self) -> list[Message]:
        """It goes on with everybody or not at all."""
        return []
