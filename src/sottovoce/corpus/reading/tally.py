"""What became of every row that was read: kept, or skipped for one named reason."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Skip(StrEnum):
    """Why a row was not kept."""

    TIME = "unreadable time"
    USER = "missing user"
    USER_BYTES = "user not in the file's encoding"
    TEXT = "missing text"
    FIELDS = "wrong number of fields"
    JSON = "malformed JSON line"
    TYPE = "value of the wrong type"
    LONG = "too long"
    BLANK = "blank line"
    REPEAT = "repeated click on one query"


@dataclass
class Tally:
    """Counts of one pass over a corpus. Every row is kept or skipped for exactly one reason."""

    rows_kept: int = 0
    repaired: int = 0
    skipped: Counter[Skip] = field(default_factory=Counter)

    @property
    def rows_read(self) -> int:
        return self.rows_kept + self.skipped.total()

    @property
    def left_out(self) -> str:
        """What was skipped, as "3 missing text, 1 too long"; empty where nothing was."""
        return ", ".join(f"{rows} {reason}" for reason, rows in self.skipped.most_common())

    def skip(self, reason: Skip, rows: int = 1) -> None:
        if rows:
            self.skipped[reason] += rows

    def __str__(self) -> str:
        kept = f"{self.rows_read} rows read, {self.rows_kept} kept"
        return f"{kept}; skipped: {self.left_out or 'none'}"


class Tallied(Protocol):
    """Whatever was read and knows what became of its rows."""

    @property
    def tally(self) -> Tally: ...
