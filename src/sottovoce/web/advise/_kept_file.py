"""A file whose columns are asked for, or were guessed: kept, so that they can be chosen from menus.

It lies in a private folder until it is read and they have said who they are, another is brought,
everything is deleted or the program stops.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from sottovoce.corpus.read.formats import format_by_name, sample_columns
from sottovoce.corpus.read.guess import likely_column
from sottovoce.corpus.read.reader import ColumnSample
from sottovoce.corpus.read.tally import Format

LONGEST_EXAMPLE = 60


@dataclass(frozen=True)
class FileColumn:
    """One column: how the reader is to be told of it, its name, and what stands in it first."""

    key: str
    name: str
    example: str


@dataclass(frozen=True, eq=False)
class KeptFile:
    """A file in a folder of its own."""

    folder: TemporaryDirectory[str]
    path: Path
    columns: tuple[FileColumn, ...]

    @property
    def by_position(self) -> bool:
        """Whether its columns are told by position, so that it need have no header row."""
        return format_by_name(self.path) in {Format.CSV, Format.TSV}

    def mapping(self, chosen: Mapping[str, str]) -> dict[str, str | int]:
        """The columns that were chosen, as the reader takes them."""
        known = {column.key for column in self.columns}
        found = {field: key for field, key in chosen.items() if key in known}
        if self.by_position:
            return {field: int(key) for field, key in found.items()}
        return dict(found)

    def likely(self, field: str) -> str | None:
        """The key of the column that is probably meant."""
        samples = [ColumnSample(column.key, column.name, ()) for column in self.columns]
        found = likely_column(samples, field)
        return None if found is None else str(found.key)

    def discard(self) -> None:
        """Delete it."""
        self.folder.cleanup()


def columns_of(path: Path) -> tuple[FileColumn, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    return tuple(
        FileColumn(
            str(column.key),
            _example(column.name),
            next(filter(None, map(_example, column.values)), ""),
        )
        for column in sample_columns(path)
    )


def _example(value: str) -> str:
    text = " ".join(value.split())
    return f"{text[:LONGEST_EXAMPLE]}…" if len(text) > LONGEST_EXAMPLE else text
