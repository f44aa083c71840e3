"""Protocols one after the other: each stage in a session of its own, so that none is mixed up.

The smallest stages are here too: one says something to several (`Teller`), several say something to
one (`Listener`).
"""

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple, Self, TypeAlias

from sottovoce.errors import (
    AbortedError,
    DamagedMessageError,
    EarlyMessageError,
    LateMessageError,
    OutOfOrderError,
    ProtocolError,
    ReplayedMessageError,
    UnexpectedMessageError,
)
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import SESSION_BYTES, Inbox, Message, Party

PartyMaker: TypeAlias = Callable[[bytes], Party]
# An audit's ear: hears, of parties of this process, who has finished a stage, and with what.
ENDED_STAGES: ContextVar[Callable[[str, str, Party], None] | None] = ContextVar(
    "ENDED_STAGES", default=None
)
# What a stage refuses of a single message, and waits on.
REFUSALS = (
    DamagedMessageError,
    UnexpectedMessageError,
    ReplayedMessageError,
    OutOfOrderError,
)


class Stage(NamedTuple):
    """One protocol of a run: its name, and what makes this party's state machine for a session."""

    name: str
    made: PartyMaker


# A script yields its next stage and is sent that stage's party when it has finished.
Script: TypeAlias = Generator[Stage, Any, None]


def stage_session(session: bytes, name: str) -> bytes:
    """The session of one stage: everybody derives the same, and no two stages share one."""
    return hashlib.sha256(session + name.encode()).digest()[:SESSION_BYTES]


class Staged:
    """A party that runs a script of stages; the plan of all stages is public.

    A message of a stage that is yet to come is early, one of a stage that is over is late. One that
    a stage refuses leaves it waiting for the true one; any other error ends this party's run for
    good.
    """

    def __init__(self, name: str, session: bytes, plan: Sequence[str], script: Script) -> None:
        self.name = name
        self.has_finished = False
        self._sessions = {stage_session(session, stage): at for at, stage in enumerate(plan)}
        self._plan, self._session, self._running = tuple(plan), session, script
        self._at = -1
        self._party: Party | None = None
        self._aborted = False

    @property
    def stage(self) -> str:
        """The name of the stage that it is in; empty before the first and after the last."""
        return "" if self._party is None else self._plan[self._at]

    def nest(self, prefix: str) -> Generator[Stage, Any, Self]:
        """Its stages as part of a longer script, each under a longer name; gives back itself.

        For a party that has not started, and never will by itself.
        """
        done: Party | None = None
        while True:
            try:
                stage = next(self._running) if done is None else self._running.send(done)
            except StopIteration:
                self.has_finished = True
                return self
            done = yield Stage(prefix + stage.name, stage.made)

    def start(self) -> list[Message]:
        """Enter the first stage."""
        return self._guard(lambda: self._enter(None))

    def receive(self, message: Message) -> list[Message]:
        """Hand a message to the current stage; go on when that has finished."""
        party = self._find_party(message)
        replies = self._guard(lambda: party.receive(message), spared=REFUSALS)
        return [*replies, *self._guard(self._advance)]

    def time_out(self) -> list[Message]:
        """As the current stage does."""
        party = self._party
        if party is None:
            return []
        said = self._guard(party.time_out)
        return [*said, *self._guard(self._advance)]

    def _find_party(self, message: Message) -> Party:
        if self._aborted:
            raise AbortedError(f"{self.name} has ended this run with an error; start another.")
        at = self._sessions.get(message.session)
        if at is None:
            raise UnexpectedMessageError(f"{self.name} got a message of another run.")
        if self._party is None or at < self._at:
            raise LateMessageError(f"{self.name} is beyond the stage {self._plan[at]}.")
        if at > self._at:
            raise EarlyMessageError(f"{self.name} is not yet at the stage {self._plan[at]}.")
        return self._party

    def _advance(self) -> list[Message]:
        said: list[Message] = []
        hear = ENDED_STAGES.get()
        while self._party is not None and self._party.has_finished:
            if hear is not None:
                hear(self.name, self.stage, self._party)
            said += self._enter(self._party)
        return said

    def _enter(self, done: Party | None) -> list[Message]:
        try:
            stage = next(self._running) if done is None else self._running.send(done)
        except StopIteration:
            self._party, self.has_finished = None, True
            return []
        self._at = self._plan.index(stage.name)
        self._party = stage.made(stage_session(self._session, stage.name))
        said = self._party.start()
        # Who only has something to say has finished at once.
        return said if not self._party.has_finished else [*said, *self._enter(self._party)]

    def _guard(
        self,
        work: Callable[[], list[Message]],
        *,
        spared: tuple[type[ProtocolError], ...] = (),
    ) -> list[Message]:
        try:
            return work()
        except spared:
            raise
        except REFUSALS as error:
            # The message was taken: whoever carries messages must not wait for a better one.
            self._aborted, self._party = True, None
            raise AbortedError(f"{self.name} has ended this run: {error}") from error
        except BaseException:
            self._aborted, self._party = True, None
            raise


class Teller:
    """Says its piece to each receiver, and has finished."""

    has_finished = True

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
    def has_finished(self) -> bool:
        """Whether everybody has been heard."""
        return len(self.heard) == len(self._senders)

    def start(self) -> list[Message]:
        """Wait."""
        self._inbox.expect(1, self._kind, self._senders)
        return []

    def receive(self, message: Message) -> list[Message]:
        """Note what somebody says."""
        if self._inbox.take(message):
            self.heard = self._inbox.messages
            self._inbox.close()
        return []

    def time_out(self) -> list[Message]:
        """It goes on with everybody or not at all."""
        return []
