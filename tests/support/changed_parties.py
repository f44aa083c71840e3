"""Parties whose words are changed on their way out, for those who must find it out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sottovoce.learn.wire.message import Message, Party

Change = Callable[[Message], Message]


class Changing:
    """A party, and what becomes of all that it says; ``heard`` are the kinds of what it took."""

    def __init__(self, party: Party, change: Change) -> None:
        self._party, self._change = party, change
        self.heard: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the party has
        return getattr(self._party, name)

    def start(self) -> list[Message]:
        return [self._change(each) for each in self._party.start()]

    def receive(self, message: Message) -> list[Message]:
        self.heard.append(message.kind)
        return [self._change(each) for each in self._party.receive(message)]

    def time_out(self) -> list[Message]:
        return [self._change(each) for each in self._party.time_out()]


def change_payload(kind: str, change: Callable[[Message], dict[str, Any]]) -> Change:
    """Other values in messages of a kind."""

    def changed(message: Message) -> Message:
        if message.kind != kind:
            return message
        return replace(message, payload={**message.payload, **change(message)})

    return changed


def told_to(receiver: str, kind: str, field: str, change: Callable[[Any], Any]) -> Change:
    """What one party is told instead of what all others are."""

    def changed(message: Message) -> Message:
        if (message.receiver, message.kind) != (receiver, kind) or field not in message.payload:
            return message
        return replace(message, payload={**message.payload, field: change(message.payload[field])})

    return changed
