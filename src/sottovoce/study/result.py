"""What a study gives back."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Value: TypeAlias = str | int | float | list[str] | None
Row: TypeAlias = dict[str, Value]


@dataclass(frozen=True)
class StudyResult:
    """A table or figure of a paper, made anew: rows for machines, figures and notes for people."""

    name: str
    rows: tuple[Row, ...]
    figures: "tuple[Figure, ...]"
    notes: tuple[str, ...] = ()
