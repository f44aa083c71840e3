"""What a party awaits: one message of one kind and step from each of some senders."""

from collections.abc import Iterable

from sottovoce.learn.party.message import Message
from sottovoce.learn.party.refusals import (
    EarlyMessageError,
    ForeignMessageError,
    LateMessageError,
    ReplayedMessageError,
    UnexpectedMessageError,
)


class Inbox:
    """Takes each awaited message once and refuses every other by name.

    A party calls `expect` when it enters a step and `take` with each message it is handed; a
    refusal leaves the inbox as it was.
    """

    def __init__(self, session: bytes, owner: str) -> None:
        self.session = session
        self.owner = owner
        self.step = 0
        self._kind = ""
        self._awaited: frozenset[str] = frozenset()
        self._taken: dict[str, Message] = {}
        self._seen: set[tuple[str, int]] = set()

    def expect(self, step: int, kind: str, senders: Iterable[str]) -> None:
        """Enter ``step``: await one message of this kind from each of ``senders``."""
        if step <= self.step:
            raise ValueError(f"steps only go up: {step} after {self.step}")
        self.step, self._kind = step, kind
        self._awaited, self._taken = frozenset(senders), {}

    def close(self) -> None:
        """Await nothing more: what still comes is late."""
        self.step += 1
        self._awaited, self._taken = frozenset(), {}

    def take(self, message: Message) -> bool:
        """Take an awaited message; whether it was the last one of the step."""
        self._check_address(message)
        self._check_step(message)
        if message.sender not in self._awaited or message.kind != self._kind:
            raise UnexpectedMessageError(
                f"{self.owner} awaits {self._kind or 'nothing'} in step {self.step}, "
                f"got {message.kind} from {message.sender}."
            )
        self._seen.add((message.sender, message.step))
        self._taken[message.sender] = message
        return not self.missing

    @property
    def taken(self) -> dict[str, Message]:
        """The current step's messages by sender, in the order of the senders' names."""
        return dict(sorted(self._taken.items()))

    @property
    def missing(self) -> tuple[str, ...]:
        """Who has not been heard in this step."""
        return tuple(sorted(self._awaited - set(self._taken)))

    def _check_address(self, message: Message) -> None:
        if message.session != self.session:
            raise ForeignMessageError(f"{self.owner} got a message of another session.")
        if message.receiver != self.owner:
            raise ForeignMessageError(f"{self.owner} got a message for {message.receiver}.")

    def _check_step(self, message: Message) -> None:
        said = f"{message.kind} from {message.sender}"
        if (message.sender, message.step) in self._seen:
            raise ReplayedMessageError(f"{self.owner} already has step {message.step}, {said}.")
        if message.step > self.step:
            raise EarlyMessageError(f"{self.owner} is at step {self.step}, got {said}: too early.")
        if message.step < self.step:
            raise LateMessageError(f"{self.owner} is at step {self.step}, got {said}: too late.")
