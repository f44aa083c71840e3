"""What every protocol party is: a state machine that never opens a socket.

Beside each protocol stands its `Leakage`, who learns what, as data. `awaited` says whom a party
waits for: no protocol needs it, but people who wait do.
"""

from dataclasses import dataclass
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import Protocol

from sottovoce._notebook import html_table
from sottovoce.learn.wire.message import Inbox, Message

_BETWEEN = "  "
_NARROWEST = 30


class Party(Protocol):
    """A state machine: messages in, messages out, no I/O, no clock.

    Whoever carries the messages calls `start` once, `receive` with each message for this party,
    and `time_out` when nothing more will come in the current step. A call that refuses (raises a
    ProtocolError of `sottovoce.errors`) leaves the party as it was, or aborted for good.
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


@dataclass(frozen=True)
class Learns:
    """What one party knows after a run that it did not know before."""

    who: str
    what: str


@dataclass(frozen=True)
class Leakage:
    """A protocol's leakage statement.

    Attributes:
        protocol: its name.
        learns: who learns what, everybody who takes part.
        collusion: which coalition learns more, and what.
        assumes: what must hold for the statement to be true.
        against: what those gain who do more than follow the protocol and remember: who join, lie,
            or come back from a backup.

    Example:
        >>> from sottovoce.learn import train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [0, 1] * 12)
        >>> leakage = train([holder] * 3, penalty=0.1).leakage
        >>> [row.who for row in leakage.learns]
        ['coordinator', 'every peer']
    """

    protocol: str
    learns: tuple[Learns, ...]
    collusion: str
    assumes: str = "honest but curious parties, authenticated private channels"
    against: tuple[Learns, ...] = ()

    @property
    def _rows(self) -> tuple[Learns, ...]:
        return (*self.learns, *self.against, Learns("together", self.collusion))

    def _repr_html_(self) -> str:
        rows = [{"who": row.who, "learns": row.what} for row in self._rows]
        return html_table(rows, f"Who learns what: {self.protocol}")

    def __str__(self) -> str:
        """The statement as a table for people, as wide as their terminal."""
        head = max(len(row.who) for row in self._rows)
        room = max(_NARROWEST, get_terminal_size().columns - head - len(_BETWEEN))
        lines = [
            f"{who:<{head}}{_BETWEEN}{line}"
            for row in self._rows
            for who, line in zip_longest([row.who], wrap(row.what, room), fillvalue="")
        ]
        return "\n".join([f"Who learns what: {self.protocol}", "", *lines])

    def table(self) -> str:
        """The statement as a Markdown table, for a page; `print` shows it to people."""
        rows = [f"| {row.who} | {row.what} |" for row in self._rows]
        return "\n".join(["| who | learns |", "|---|---|", *rows])


def awaited(party: Party) -> tuple[str, ...]:
    """The senders that a party has not heard in its present step; empty where it does not say."""
    inner = getattr(party, "_party", None)
    if inner is not None:
        return awaited(inner)
    inbox = getattr(party, "_inbox", None)
    return inbox.missing if isinstance(inbox, Inbox) else ()
