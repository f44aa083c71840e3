"""The rows of a journal as values: frames to send, steps, and runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sottovoce.federation.transport.frames import Kind


class OutgoingFrame(NamedTuple):
    """One frame to send: to whom, its place, what it is, what may be shown of it, and its body."""

    receiver: str
    sequence: int
    frame: Kind
    shown: Mapping[str, Any]
    body: bytes


class Event(NamedTuple):
    """One step that the party took: what moved it, and whom it then told what.

    The first step also has a digest of the data that the party brought, under the run's seed.
    """

    position: int
    what: str
    sender: str
    sequence: int
    said: tuple[str, ...]
    data: bytes = b""


@dataclass(frozen=True)
class JournalRun:
    """A run as the journal has it."""

    session: bytes
    participants: tuple[str, ...]
    status: str
    terms: bytes = field(repr=False)
    seed: bytes = field(repr=False)
    ended: dict[str, Any]
    followed_by: bytes | None
    begun: float
