"""The two parties of secure arithmetic, and a way to run them in one process."""

from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.script import Script, ScriptedParty
from sottovoce.learn.party import Exchange, Message, Traffic, new_session

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

    def asking(self, script: Script[Asked]) -> ScriptedParty[Asked]:
        """The ciphertext holder, who plays this script."""
        return ScriptedParty(self.ciphertext_holder, self.key_holder, self.session, script)

    def answering(self, script: Script[Answered]) -> ScriptedParty[Answered]:
        """The key holder, who plays this script."""
        return ScriptedParty(self.key_holder, self.ciphertext_holder, self.session, script)


class Run(NamedTuple, Generic[Asked, Answered]):
    """What both parties got, what it cost, and what the key holder was shown."""

    asked: Asked
    answered: Answered
    traffic: Traffic
    shown: list[Message]


def run_together(
    asking: Script[Asked], answering: Script[Answered], pairing: Pairing | None = None
) -> Run[Asked, Answered]:
    """Play both parts in one process: for tests, studies and benches."""
    pair = pairing or Pairing()
    asker, answerer = pair.asking(asking), pair.answering(answering)
    exchange = Exchange([asker, answerer], patience=_PATIENCE)
    traffic = exchange.run()
    return Run(asker.result, answerer.result, traffic, exchange.views[pair.key_holder])
