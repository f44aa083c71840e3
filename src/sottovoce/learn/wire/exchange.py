"""Runs parties in one process: delivers and counts messages, and can do it badly.

What goes wrong between the parties is said by `Faults`, on purpose and reproducibly.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sottovoce.errors import (
    DamagedMessageError,
    EarlyMessageError,
    LateMessageError,
    ParameterError,
    ReplayedMessageError,
    StalledError,
)
from sottovoce.learn.wire.message import Message, Party


@dataclass(frozen=True)
class Faults:
    """Chances per message, from a seed; and parties that fall silent from a step on.

    Attributes:
        drop: the message vanishes.
        duplicate: it arrives twice.
        reorder: it arrives after those of the next wave.
        flip: one of its bits is turned over on the way.
        silent_from: the first step at which a party's messages vanish, by its name.
        seed: of the chances; 0 by default.
    """

    drop: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    flip: float = 0.0
    silent_from: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0


class FaultyWire:
    """Carries messages as bytes, with faults."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._chance = np.random.default_rng(faults.seed)

    def copies(self, message: Message, data: bytes) -> list[bytes]:
        """What arrives of a message: nothing, one copy or two, damaged or not."""
        silent = self._faults.silent_from.get(message.sender)
        if (silent is not None and message.step >= silent) or self._happens(self._faults.drop):
            return []
        if self._happens(self._faults.flip):
            data = self._flip_bit(data)
        return [data, data] if self._happens(self._faults.duplicate) else [data]

    def delays(self) -> bool:
        """Whether a message waits for the next wave."""
        return self._happens(self._faults.reorder)

    def shuffle(self, wave: list[bytes]) -> list[bytes]:
        """The messages of a wave in the order of arrival."""
        if not self._faults.reorder:
            return wave
        return [wave[i] for i in self._chance.permutation(len(wave))]

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._chance.random() < chance

    def _flip_bit(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        bit = int(self._chance.integers(8 * len(data)))
        damaged[bit // 8] ^= 1 << (bit % 8)
        return bytes(damaged)


PATIENCE = 1000  # waves; only protocols that iterate have as many rounds


@dataclass
class Traffic:
    """What a run cost on the wire."""

    rounds: int = 0
    messages: int = 0
    sent_bytes: Counter[str] = field(default_factory=Counter)

    @property
    def bytes(self) -> int:
        """All bytes sent by all parties."""
        return sum(self.sent_bytes.values())


class Said(NamedTuple):
    """One message that was sent, without what it says."""

    sender: str
    receiver: str
    step: int
    kind: str
    bytes: int


class Exchange:
    """Delivers messages in waves until every party has finished; a wave is a round.

    Like a real transport it drops what is damaged, late or already there, and delivers again what
    came too early. Every other refusal ends the run. ``views`` holds what each party received, and
    ``transcript`` lists every message sent.
    """

    def __init__(
        self, parties: Iterable[Party], *, faults: Faults | None = None, patience: int = PATIENCE
    ) -> None:
        listed = list(parties)
        self.parties = {party.name: party for party in listed}
        if len(self.parties) != len(listed):
            raise ParameterError("every party of an exchange must have a name of its own.")
        self.traffic = Traffic()
        self.transcript: list[Said] = []
        self.refused: Counter[str] = Counter()
        self.views: dict[str, list[Message]] = {name: [] for name in self.parties}
        self._patience = patience
        self._faults = faults or Faults()
        self._wire = FaultyWire(self._faults)
        self._next: list[bytes] = []
        self._replace_grid = True

    def run(self) -> Traffic:
        """Run to the end; StalledError when somebody waits for what will never come."""
        for party in self.parties.values():
            self._send(party.start())
        while not self._everyone_finished() or self._next:
            if not self._next or not self._replace_grid:
                self._time_out()
            self._deliver_wave()
        return self.traffic

    def _deliver_wave(self) -> None:
        wave, self._next, self._replace_grid = self._wire.shuffle(self._next), [], False
        self.traffic.rounds += 1
        if self.traffic.rounds > self._patience:
            raise StalledError(f"no end after {self._patience} rounds.")
        for data in wave:
            if self._wire.delays():
                self._next.append(data)
                self._replace_grid = True
            else:
                self._deliver(data)

    def _deliver(self, data: bytes) -> None:
        try:
            message = Message.from_bytes(data)
            replies = self._receiver(message).receive(message)
        except EarlyMessageError:
            self._send_again(data)
        except (DamagedMessageError, LateMessageError, ReplayedMessageError) as refusal:
            self.refused[type(refusal).__name__] += 1
        else:
            self._replace_grid = True
            self.views[message.receiver].append(message)
            self._send(replies)

    def _send_again(self, data: bytes) -> None:
        self.refused["EarlyMessageError"] += 1
        self._next.append(data)

    def _send(self, messages: Iterable[Message]) -> None:
        for message in messages:
            data = message.to_bytes()
            self.traffic.messages += 1
            self.traffic.sent_bytes[message.sender] += len(data)
            said = Said(message.sender, message.receiver, message.step, message.kind, len(data))
            self.transcript.append(said)
            self._next += self._wire.copies(message, data)

    def _receiver(self, message: Message) -> Party:
        if message.receiver not in self.parties:
            raise ParameterError(f"nobody here is called {message.receiver}.")
        return self.parties[message.receiver]

    def _everyone_finished(self) -> bool:
        return not self._waiting()

    def _waiting(self) -> list[Party]:
        # Nobody waits for a party that has crashed.
        return [
            party
            for party in self.parties.values()
            if not party.has_finished and party.name not in self._faults.silent_from
        ]

    def _time_out(self) -> None:
        waiting, before = self._waiting(), self.traffic.messages
        for party in waiting:
            self._send(party.time_out())
        if self.traffic.messages == before and not self._everyone_finished():
            names = ", ".join(party.name for party in waiting)
            raise StalledError(f"{names} still wait, and nothing is under way.")
