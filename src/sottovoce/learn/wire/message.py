"""What parties are, what they say to each other, and what a party awaits.

A `Party` is a state machine that never opens a socket; beside each protocol stands its `Leakage`,
who learns what, as data. A `Message` is one step of one party to one receiver; an `Inbox` takes one
of one kind and step from each awaited sender, and refuses every other by name.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_table
from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    LateMessageError,
    ParameterError,
    ReplayedMessageError,
    UnexpectedMessageError,
)
from sottovoce.learn.wire.codec import Value, decode_value, encode_value
from sottovoce.privacy.randomness import random_bytes

MAGIC = b"SVOC\x01"  # the last byte is the version of the encoding
SESSION_BYTES = 16
_DIGEST_BYTES = 32
_Kind = TypeVar("_Kind", int, bytes, str, tuple)  # type: ignore[type-arg] # any tuple


def new_session() -> bytes:
    """A name for one run of one protocol that no other run has."""
    return random_bytes(SESSION_BYTES)


@dataclass(frozen=True, eq=False)
class Message:
    """One step of one party in one session, to one receiver.

    Attributes:
        session: which run of the protocol this belongs to.
        sender: the name of the party that says it.
        receiver: the name of the party it is for.
        step: where in the protocol it belongs, counted from 1.
        kind: what it is, as the protocol calls it.
        payload: its values by name; never printed, since they may be private.
    """

    session: bytes
    sender: str
    receiver: str
    step: int
    kind: str
    payload: Mapping[str, Value] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.session) != SESSION_BYTES:
            raise ParameterError(f"a session has {SESSION_BYTES} bytes, got {len(self.session)}.")
        if self.step < 1:
            raise ParameterError(f"a message's step must be >= 1, got {self.step}.")

    def to_bytes(self) -> bytes:
        """The message as it travels: a version, its fields, and their SHA-256.

        The digest finds accidents, not forgers: against those the transport authenticates.
        """
        head = (self.session, self.sender, self.receiver, self.step, self.kind, self.payload)
        content = MAGIC + encode_value(head)
        return content + hashlib.sha256(content).digest()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a message that travelled, or raise DamagedMessageError."""
        content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
        if not content.startswith(MAGIC):
            raise DamagedMessageError("a message must start with its format's name and version 1.")
        if hashlib.sha256(content).digest() != digest:
            raise DamagedMessageError("a message's bytes must match its digest; send it again.")
        return cls(*_fields(decode_value(content[len(MAGIC) :])))

    def item(self, name: str, kind: type[_Kind]) -> _Kind:
        """The value called ``name``, which must be of type ``kind``."""
        value = self.payload.get(name)
        if not isinstance(value, kind):
            raise DamagedMessageError(f"{self.kind}.{name} must be of type {kind.__name__}.")
        return value

    def array(self, name: str, dtype: str, *, ndim: int = 1) -> NDArray[Any]:
        """The array called ``name``, which must have this type and number of axes."""
        value = self.payload.get(name)
        if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != ndim:
            raise DamagedMessageError(
                f"{self.kind}.{name} must be an array of {dtype} with {ndim} axes."
            )
        return value


def _fields(value: Value) -> tuple[bytes, str, str, int, str, Mapping[str, Value]]:
    types = (bytes, str, str, int, str, dict)
    if not isinstance(value, tuple) or len(value) != len(types):
        raise DamagedMessageError(f"a message must have {len(types)} fields.")
    if not all(isinstance(item, kind) for item, kind in zip(value, types, strict=True)):
        raise DamagedMessageError("a message's fields must have the types of its format.")
    if len(value[0]) != SESSION_BYTES or value[3] < 1:  # type: ignore[arg-type, operator] # checked above
        raise DamagedMessageError("a message must name a session and a step from 1.")
    return value  # type: ignore[return-value] # checked above


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
    def messages(self) -> dict[str, Message]:
        """The current step's messages by sender, in the order of the senders' names."""
        return dict(sorted(self._taken.items()))

    @property
    def missing(self) -> tuple[str, ...]:
        """Who has not been heard in this step."""
        return tuple(sorted(self._awaited - set(self._taken)))

    def _check_address(self, message: Message) -> None:
        if message.session != self.session:
            raise UnexpectedMessageError(f"{self.owner} got a message of another session.")
        if message.receiver != self.owner:
            raise UnexpectedMessageError(f"{self.owner} got a message for {message.receiver}.")

    def _check_step(self, message: Message) -> None:
        said = f"{message.kind} from {message.sender}"
        if (message.sender, message.step) in self._seen:
            raise ReplayedMessageError(f"{self.owner} already has step {message.step}, {said}.")
        if message.step > self.step:
            raise EarlyMessageError(f"{self.owner} is at step {self.step}, got {said}: too early.")
        if message.step < self.step:
            raise LateMessageError(f"{self.owner} is at step {self.step}, got {said}: too late.")


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
    def has_finished(self) -> bool:
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


def list_awaited(party: Party) -> tuple[str, ...]:
    """The senders that a party has not heard in its present step; empty where it does not say."""
    inner = getattr(party, "_party", None)
    if inner is not None:
        return list_awaited(inner)
    inbox = getattr(party, "_inbox", None)
    return inbox.missing if isinstance(inbox, Inbox) else ()
