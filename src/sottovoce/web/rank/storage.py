"""What a rank server keeps, and the one small interface to it, whatever the database.

A report is a topic, a period, a random token and bytes: noised entries or one share. There is no
column for who sent it, from where, or when. Once its period's histogram is published it is deleted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredReport:
    """One report as it is kept."""

    topic: str
    period: int
    token: str
    payload: bytes


class Outcome(Enum):
    """What became of a report."""

    STORED = "stored"
    """It is there now, durably; or it was there before, byte for byte."""
    OTHER = "other"
    """Another report goes by its token."""
    CLOSED = "closed"
    """The histogram of its period is published already."""


class Store(Protocol):
    """A durable store; one thread at a time uses it."""

    def bind(self, description: str) -> None:
        """Make this the store of that description, or refuse when it is another's."""

    def add(self, reports: Sequence[StoredReport]) -> list[Outcome]:
        """Keep ``reports`` in one transaction; when this returns they survive a power cut."""

    def payloads(self, topic: str, period: int) -> tuple[list[str], list[bytes]]:
        """The tokens and bytes of all reports about ``topic`` in ``period``, by token."""

    def due(self, topics: Sequence[str], before: int) -> list[tuple[str, int]]:
        """Of ``topics``: each with the periods before that one whose reports are still here."""

    def note(self, topic: str, period: int, record: str, *, forget: bool) -> str:
        """Keep the opening of a sum of shares, the first for ever; ``forget``: drop the shares."""

    def noted(self, topic: str, period: int) -> str | None:
        """The opening that was noted."""

    def publish(self, topic: str, period: int, record: str) -> str:
        """Publish a histogram, the first for ever, and delete its reports; what is published."""

    def published(self, topic: str, period: int) -> str | None:
        """The published histogram."""

    def published_periods(self, topic: str, most: int) -> list[int]:
        """The latest periods with a histogram, the latest first."""

    def close(self) -> None:
        """Close the store."""
