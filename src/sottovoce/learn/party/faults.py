"""What can go wrong between parties, on purpose and reproducibly."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sottovoce.learn.party.message import Message


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
            data = self._flipped(data)
        return [data, data] if self._happens(self._faults.duplicate) else [data]

    def delays(self) -> bool:
        """Whether a message waits for the next wave."""
        return self._happens(self._faults.reorder)

    def shuffled(self, wave: list[bytes]) -> list[bytes]:
        """The messages of a wave in the order of arrival."""
        if not self._faults.reorder:
            return wave
        return [wave[i] for i in self._chance.permutation(len(wave))]

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._chance.random() < chance

    def _flipped(self, data: bytes) -> bytes:
        damaged = bytearray(data)
        bit = int(self._chance.integers(8 * len(data)))
        damaged[bit // 8] ^= 1 << (bit % 8)
        return bytes(damaged)
