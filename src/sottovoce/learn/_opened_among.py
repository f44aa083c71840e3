"""Among whom a peer lets sums be opened: over the same peers every time, or the difference tells.

A sum goes on without peers that fall silent, and whether one has is what the coordinator says. Two
sums of the same data, one of them without a peer, show that peer's own by their difference, however
alike the terms of the two runs are. So a peer notes among whom each of its sums was opened, before
it helps to open it. Once there is an earlier one it helps with none that lacks a peer of its run;
whether a run may be among other peers than an earlier one is for its policy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sottovoce.errors import TooFewPartiesError

TRAINED = b"trained"


class AmongMemory(Protocol):
    """Where a peer keeps among whom its sums were opened, from run to run."""

    def among(self, session: bytes, what: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom other runs than this one have opened sums of ``what``."""

    def note_among(self, session: bytes, what: bytes, peers: tuple[str, ...]) -> None:
        """Keep among whom this run opens a sum; once, however often it is begun again."""


def _forget(peers: tuple[str, ...]) -> None:
    """Where nothing is kept from run to run."""
    del peers


@dataclass(frozen=True, repr=False)
class Among:
    """What one peer makes of who is left, in one run.

    Attributes:
        whole: whether nobody may be lost, since the same was opened before.
        note: keeps among whom a sum is opened.
    """

    whole: bool = False
    note: Callable[[tuple[str, ...]], None] = _forget

    @classmethod
    def of(cls, memory: AmongMemory | None, session: bytes, what: bytes) -> "Among":
        """By what a peer remembers of other runs."""
        if memory is None:
            return cls()
        return cls(bool(memory.among(session, what)), partial(memory.note_among, session, what))

    def settle(self, left: tuple[str, ...], everybody: tuple[str, ...]) -> None:
        """Note who is left, before the sum is opened, or refuse it."""
        if self.whole and set(left) != set(everybody):
            raise lost_after_opening(sorted(set(everybody) - set(left)))
        self.note(tuple(sorted(left)))


def lost_after_opening(lost: list[str]) -> TooFewPartiesError:
    """Why no sum is opened without some peers."""
    return TooFewPartiesError(
        f"a sum must be over all peers of its run where sums were opened before, got one without "
        f"{', '.join(lost)}: the difference would be theirs; run it again when they are back."
    )
