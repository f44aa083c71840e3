"""The node state that a node's parts share, and one run of it: its machine, moved or rebuilt.

A run's state machine is moved step by step, and after a crash rebuilt from its steps. Each step
draws from a stream of its own: a message that the party refuses may have drawn something, and must
not shift what is drawn later. The stream is derived from the run's seed, the step's place and a
digest of all that the party brought and heard up to this step (`bound`). A copy of a journal that
goes on with other data, or hears something else, so draws other numbers, and no mask hides two
different things.
"""

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from sottovoce.errors import (
    AbortedError,
    DefectError,
    ReplayMismatchError,
    SottovoceError,
    UnexpectedMessageError,
)
from sottovoce.federation._journal import Event, Journal, JournalRun
from sottovoce.federation.roster import Roster
from sottovoce.federation.transport.frames import Log, OutgoingFrame, Settings, State, to_logger
from sottovoce.learn.wire.codec import Value, encode_value
from sottovoce.learn.wire.message import Message, Party, list_awaited
from sottovoce.privacy.randomness import drawing_from

# From the agreed terms and this party's own name to its state machine.
PartyMaker: TypeAlias = Callable[[bytes, str], Party]
ResultOf: TypeAlias = Callable[[Party], bytes]


@dataclass
class Link:
    """What goes to one receiver: the places that wait, the first of them possibly under way."""

    waiting: list[int] = field(default_factory=list)
    last: int = 0
    under_way: bool = False
    failures: int = 0
    due: float = 0.0
    since: float = 0.0


@dataclass
class Run:
    """What is in memory of one run; all of it can be had again from the journal."""

    session: bytes
    participants: tuple[str, ...]
    terms: bytes = field(repr=False)
    seed: bytes = field(repr=False)
    status: str = "running"
    party: Party | None = field(default=None, repr=False)
    position: int = 0
    bound: bytes = field(default=b"", repr=False)
    waiting: list[tuple[str, int]] = field(default_factory=list)
    tried: set[tuple[str, int]] = field(default_factory=set)
    last_in: dict[str, int] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    heard: dict[str, float] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    begun: float = 0.0
    moved: float = 0.0
    busy_heard: float = 0.0
    working: bool = False
    wants_time_out: tuple[str, ...] = ()
    lost: set[str] = field(default_factory=set)
    rounds: int = 0
    ended: dict[str, Any] = field(default_factory=dict)
    followed_by: bytes | None = None
    drained: bool = False

    def others(self, own: str) -> tuple[str, ...]:
        """All other participants."""
        return tuple(name for name in self.participants if name != own)

    def find_awaited(self) -> tuple[str, ...]:
        """Whom its party waits for, as far as it says."""
        return () if self.party is None or self.party.has_finished else list_awaited(self.party)

    def unsent(self) -> bool:
        """Whether something was not acknowledged yet."""
        return any(link.waiting for link in self.links.values())

    def ready(self) -> tuple[str, int] | None:
        """The first frame that the party has not refused as early since it last moved."""
        return next((place for place in self.waiting if place not in self.tried), None)


def ignore_point(point: str, /) -> None:
    """Tests crash a party at named points; nobody else does."""
    del point


@dataclass
class NodeState:
    """A node's state; whoever holds its lock may change it."""

    name: str
    roster: Roster
    journal: Journal
    settings: Settings
    log: Log = to_logger
    hook: Callable[[str], None] = ignore_point
    runs: dict[bytes, Run] = field(default_factory=dict)

    @property
    def coordinates(self) -> bool:
        """Whether this party is the coordinator."""
        return self.roster[self.name].role == "coordinator"

    def load(self, now: float) -> None:
        """All runs of the journal; those under way are rebuilt by the next work."""
        for kept in self.journal.runs():
            self.runs[kept.session] = self._load_run(kept, now)

    def _load_run(self, kept: JournalRun, now: float) -> Run:
        run = new_run(kept.session, kept.participants, kept.terms, kept.seed, self.name, now)
        run.status, run.ended, run.followed_by = kept.status, kept.ended, kept.followed_by
        run.last_in = self.journal.last_places(kept.session, "in")
        if kept.status == "running":
            run.waiting = self.journal.list_frames(kept.session, "held")
        for receiver, last in self.journal.last_places(kept.session, "out").items():
            run.links[receiver].last = last
        for receiver, sequence in self.journal.list_frames(kept.session, "unsent"):
            run.links[receiver].waiting.append(sequence)
        run.drained = run.status != "running" and not run.unsent()
        return run

    def queue(self, run: Run, outputs: Iterable[OutgoingFrame], now: float) -> None:
        """Let what is journalled be sent."""
        for receiver, sequence, *_ in outputs:
            link = run.links[receiver]
            if not link.waiting:
                link.since = link.due = now
                link.failures = 0
            link.waiting.append(sequence)
            link.last = max(link.last, sequence)


def new_run(
    session: bytes, participants: Iterable[str], terms: bytes, seed: bytes, own: str, now: float
) -> Run:
    """A run of which nothing has happened yet."""
    run = Run(session, tuple(participants), terms, seed, begun=now, moved=now, busy_heard=now)
    for other in run.others(own):
        run.links[other] = Link(since=now, due=now)
        run.heard[other] = now
    return run


def ended_as(error: SottovoceError, by: str, missing: Iterable[str] = ()) -> dict[str, Any]:
    """How a run ended, as it is kept and told."""
    return {
        "by": by,
        "error": type(error).__name__,
        "sentence": str(error),
        "missing": sorted(missing),
    }


def abort_error(run: Run) -> AbortedError:
    """The error of an aborted run."""
    ended = run.ended
    return AbortedError(
        f"{ended['by']} has ended the run: {ended['error']}: {ended['sentence']}",
        by=ended["by"],
        error=ended["error"],
        missing=ended["missing"],
    )


def step_seed(seed: bytes, position: int, bound: bytes = b"") -> bytes:
    """What one step draws from."""
    place = b"sottovoce step" + position.to_bytes(8, "big")
    return hmac.digest(seed, place + bound, "sha256")


def first_bound(party: Party, terms: bytes, seed: bytes) -> bytes:
    """A digest of the terms and of what the party brings, under the run's seed."""
    return hmac.digest(seed, encode_value(("begin", terms, brought_digest(party, seed))), "sha256")


def brought_digest(party: Party, seed: bytes) -> bytes:
    """What the party brings, as it says; empty where it brings nothing or does not say."""
    brought = getattr(party, "digest_holdings", None)
    return b"" if brought is None else brought(hmac.digest(seed, b"sottovoce data", "sha256"))


def bound_after(bound: bytes, what: str, who: str, body: bytes = b"") -> bytes:
    """The digest of all that a party brought and heard, with one thing more."""
    return hashlib.sha256(encode_value((bound, what, who, body))).digest()


def begin_party(
    make: PartyMaker, terms: bytes, name: str, seed: bytes, data: bytes = b""
) -> tuple[Party, list[Message]]:
    """A new party, and what it says first; ``data``, if any, is the digest that it must bring."""
    with drawing_from(step_seed(seed, 0)):
        party = make(terms, name)
    if data and data != brought_digest(party, seed):
        raise ReplayMismatchError(
            f"{name} must go on with the data that it began this run with, and they have changed "
            "since; nothing more is said in it. Train again."
        )
    with drawing_from(step_seed(seed, 0, first_bound(party, terms, seed))):
        return party, party.start()


def receive_message(
    party: Party, message: Message, seed: bytes, position: int, bound: bytes = b""
) -> list[Message]:
    """What a party says to a message, as its ``position``-th step."""
    with drawing_from(step_seed(seed, position, bound)):
        return party.receive(message)


def timed_out(party: Party, seed: bytes, position: int, bound: bytes = b"") -> list[Message]:
    """What a party says when nothing more will come, as its ``position``-th step."""
    with drawing_from(step_seed(seed, position, bound)):
        return party.time_out()


def rebuilt(
    make: PartyMaker,
    run: Run,
    name: str,
    events: Iterable[Event],
    body: Callable[[str, int], bytes],
) -> tuple[Party | None, bytes]:
    """The party as it was after ``events``, None if it had not begun, and what it is bound to."""
    party: Party | None = None
    bound = b""
    for event in events:
        if event.what == "start":
            party, said = begin_party(make, run.terms, name, run.seed, event.data)
            bound = first_bound(party, run.terms, run.seed)
        elif party is None:
            raise ReplayMismatchError("a journal's first step must be the start.")
        else:
            said, bound = _repeat_step(party, run, name, event, bound, body)
        if outline(said) != event.said:
            raise ReplayMismatchError(
                f"{name} must say in step {event.position} what it said before the crash; "
                "are its data and options the same?"
            )
    return party, bound


def _repeat_step(
    party: Party, run: Run, name: str, event: Event, bound: bytes, body: Callable[[str, int], bytes]
) -> tuple[list[Message], bytes]:
    if event.what == "time out":
        bound = bound_after(bound, event.what, event.sender)
        return timed_out(party, run.seed, event.position, bound), bound
    content = body(event.sender, event.sequence)
    bound = bound_after(bound, event.what, event.sender, content)
    message = read_message(content, event.sender, name)
    return receive_message(party, message, run.seed, event.position, bound), bound


def outline(messages: Iterable[Message]) -> tuple[str, ...]:
    """To whom what was said, without its values: what must come out again after a crash."""
    return tuple(f"{m.receiver}|{m.session.hex()}|{m.step}|{m.kind}" for m in messages)


def read_message(body: bytes, sender: str, receiver: str) -> Message:
    """The message of a frame, which must be of the frame's sender and for its receiver."""
    message = Message.from_bytes(body)
    if message.sender != sender or message.receiver != receiver:
        raise UnexpectedMessageError(
            "a message must be of its frame's sender and for its receiver."
        )
    return message


def describe_message(message: Message) -> dict[str, Any]:
    """What a transcript may show: step, kind, and each field's name and shape, never values."""
    fields = {name: shape_of(value) for name, value in sorted(message.payload.items())}
    return {"step": message.step, "kind": message.kind, "fields": fields}


def shape_of(value: Value) -> str:
    """A value's type and size in words."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype.name} {' x '.join(map(str, value.shape))}"
    if isinstance(value, int):
        return "whole number"
    if value is None or isinstance(value, float):
        return "nothing" if value is None else "number"
    if isinstance(value, bytes | str):
        return f"{'bytes' if isinstance(value, bytes) else 'text'} {len(value)}"
    return f"{'record' if isinstance(value, dict) else 'list'} of {len(value)}"


def public_error(error: BaseException) -> SottovoceError:
    """An error as others may hear of it: one that nobody planned keeps its sentence to itself."""
    if isinstance(error, SottovoceError):
        return error
    return DefectError(f"a party failed with {type(error).__name__}; its log says where.")
