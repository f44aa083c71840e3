"""What every protocol party is: a state machine that never opens a socket."""

from typing import Protocol

from sottovoce.learn.party.message import Message


class Party(Protocol):
    """A state machine: messages in, messages out, no I/O, no clock.

    Whoever carries the messages calls `start` once, `receive` with each message for this party,
    and `time_out` when nothing more will come in the current step. A call that refuses (raises a
    ProtocolError from `party.refusals`) leaves the party as it was, or aborted for good.
    """

    @property
    def name(self) -> str:
        """Unique among the parties of a session."""

    @property
    def finished(self) -> bool:
        """Whether it awaits nothing more."""

    def start(self) -> list[Message]:
        """What it says before it has heard anything."""

    def receive(self, message: Message) -> list[Message]:
        """Take one message; what it says in return."""

    def time_out(self) -> list[Message]:
        """Go on without those who are missing, or raise TooFewPartiesError; [] to keep waiting."""
