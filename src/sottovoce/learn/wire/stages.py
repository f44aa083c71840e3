"""Protocols one after the other: each stage in a session of its own, so that none is mixed up.

The smallest stages are here too: one says something to several (`Teller`), several say something to
one (`Listener`); and protocols between two parties, written as scripts of what to `Say` and `Hear`.
Scripts call scripts with ``yield from``, so that an inverse is made of products.
"""

import hashlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

from sottovoce.errors import (
    AbortedError,
    DamagedMessageError,
    EarlyMessageError,
    LateMessageError,
    OutOfOrderError,
    ParameterError,
    ProtocolError,
    ReplayedMessageError,
    UnexpectedMessageError,
)
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Exchange, Traffic
from sottovoce.learn.wire.message import SESSION_BYTES, Inbox, Message, Party, new_session

PartyMaker: TypeAlias = Callable[[bytes], Party]
# An audit's ear: hears, of parties of this process, who has finished a stage, and with what.
ENDED_STAGES: ContextVar[Callable[[str, str, Party], None] | None] = ContextVar(
    "ENDED_STAGES", default=None
)
# What a stage refuses of a single message, and waits on.
REFUSALS = (DamagedMessageError, UnexpectedMessageError, ReplayedMessageError, OutOfOrderError)


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
        self, work: Callable[[], list[Message]], *, spared: tuple[type[ProtocolError], ...] = ()
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


Result = TypeVar("Result")


class Say(NamedTuple):
    """A message to the other party."""

    kind: str
    payload: Mapping[str, Value]


class Hear(NamedTuple):
    """Wait for a message of this kind; ``read`` checks it and takes out what the script needs.

    A ``read`` that raises leaves the party waiting as before, for the true message. Where both say
    something in one step, they hear each other ``together``.
    """

    kind: str
    read: Callable[[Message], Any]
    together: bool = False


PairScript: TypeAlias = Generator[Say | Hear, Any, Result]


class ScriptedParty(Generic[Result]):
    """A party that plays a script with one other party.

    Every message of either party is one step, so that both count alike as long as one says what
    the other hears.
    """

    def __init__(self, name: str, other: str, session: bytes, script: PairScript[Result]) -> None:
        self.name = name
        self.has_finished = False
        self._other, self._script = other, script
        self._inbox = Inbox(session, name)
        self._step = 0
        self._awaited: Hear | None = None
        self._result: Result | None = None

    @property
    def result(self) -> Result:
        """What the script returned, once it has ended."""
        if not self.has_finished:
            raise ValueError(f"{self.name} has not finished.")
        return self._result  # type: ignore[return-value] # set when it finished

    def start(self) -> list[Message]:
        """Say what comes before the first thing to hear."""
        return self._play(None)

    def receive(self, message: Message) -> list[Message]:
        """Hear one message, and say what follows it."""
        heard = self._read(message)
        self._inbox.take(message)
        return self._play(heard)

    def time_out(self) -> list[Message]:
        """Neither of two parties can go on alone."""
        return []

    def _read(self, message: Message) -> Any:  # noqa: ANN401 - what the script asked for
        awaited, inbox = self._awaited, self._inbox
        due = (inbox.session, inbox.step, self._other)
        # What is not due is refused by the inbox, by its right name, and not by how it reads.
        if awaited is None or (message.session, message.step, message.sender) != due:
            return None
        return awaited.read(message) if message.kind == awaited.kind else None

    def _play(self, heard: object) -> list[Message]:
        said: list[Message] = []
        try:
            turn = self._script.send(heard)
            while isinstance(turn, Say):
                said.append(self._message(turn))
                turn = next(self._script)
        except StopIteration as end:
            self.has_finished, self._result = True, end.value
            self._inbox.close()
            return said
        except BaseException:
            self._inbox.close()
            raise
        self._await(turn)
        return said

    def _await(self, turn: Hear) -> None:
        self._step += not turn.together
        self._awaited = turn
        self._inbox.expect(self._step, turn.kind, [self._other])

    def _message(self, turn: Say) -> Message:
        self._step += 1
        return Message(
            self._inbox.session, self.name, self._other, self._step, turn.kind, turn.payload
        )


_PATIENCE = 100_000  # rounds: descents take dozens a step

Asked = TypeVar("Asked")
Answered = TypeVar("Answered")


@dataclass(frozen=True)
class Pairing:
    """Who takes part in one run.

    Attributes:
        session: the run's name.
        ciphertext_holder: who has the ciphertexts, and no key.
        key_holder: who has the key, and sees masked numbers only.
    """

    session: bytes = field(default_factory=new_session)
    ciphertext_holder: str = "ciphertext holder"
    key_holder: str = "key holder"

    def __post_init__(self) -> None:
        if self.ciphertext_holder == self.key_holder:
            raise ParameterError(
                "the ciphertext holder and the key holder must be two parties: one alone opens "
                "everything."
            )

    def asking(self, script: PairScript[Asked]) -> ScriptedParty[Asked]:
        """The ciphertext holder, who plays this script."""
        return ScriptedParty(self.ciphertext_holder, self.key_holder, self.session, script)

    def answering(self, script: PairScript[Answered]) -> ScriptedParty[Answered]:
        """The key holder, who plays this script."""
        return ScriptedParty(self.key_holder, self.ciphertext_holder, self.session, script)


class PairRun(NamedTuple, Generic[Asked, Answered]):
    """What both parties got, what it cost, and what the key holder was shown."""

    asked: Asked
    answered: Answered
    traffic: Traffic
    shown: list[Message]


def run_together(
    asking: PairScript[Asked], answering: PairScript[Answered], pairing: Pairing | None = None
) -> PairRun[Asked, Answered]:
    """Play both parts in one process: for tests, studies and benches."""
    pair = pairing or Pairing()
    asker, answerer = pair.asking(asking), pair.answering(answering)
    exchange = Exchange([asker, answerer], patience=_PATIENCE)
    traffic = exchange.run()
    return PairRun(asker.result, answerer.result, traffic, exchange.views[pair.key_holder])
