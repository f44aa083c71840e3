"""Protocols between two parties, written as scripts: what to say, what to hear, in order.

A script is a generator that yields `Say` and `Hear`, and returns its result. Scripts call scripts
with ``yield from``, so that an inverse is made of products. `ScriptedParty` plays one as a state
machine: messages in, messages out. `Pairing` names the two parties of secure arithmetic, and
`run_together` plays both in one process.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from sottovoce.errors import ParameterError
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Exchange, Traffic
from sottovoce.learn.wire.message import Inbox, Message, new_session

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
