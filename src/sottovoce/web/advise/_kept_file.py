"""A file whose columns were not understood: kept, so that they can be chosen from menus.

It lies in a private folder until it is read, another is brought, everything is deleted or the
program stops.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from pyarrow import ArrowException, parquet

from sottovoce.corpus.read import Format, ReadOptions
from sottovoce.corpus.read._bytes import format_by_name
from sottovoce.corpus.read._delimited import head
from sottovoce.errors import SottovoceError

ROWS_LOOKED_AT = 50
LONGEST_EXAMPLE = 60
MOST_COLUMNS = 1000
LIKELY: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text",
        "body",
        "content",
        "message",
        "post",
        "tweet",
        "comment",
        "selftext",
        "caption",
    ),
    "time": ("time", "date", "created", "timestamp", "posted", "published", "when", "day"),
    "user": ("user", "author", "account", "screen", "handle", "nick", "name", "from", "sender"),
}
"""Parts of names that columns of other programs have, the likeliest first."""


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
        for part in LIKELY[field]:
            for column in self.columns:
                if part in column.name.casefold():
                    return column.key
        return None

    def discard(self) -> None:
        """Delete it."""
        self.folder.cleanup()


def columns_of(path: Path) -> tuple[FileColumn, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    try:
        kind = format_by_name(path)
        if kind is Format.PARQUET:
            return _of_parquet(path)
        text = head(path, ReadOptions())
        if kind is Format.JSONL:
            return _of_objects(_objects(text))
        lines: Iterable[list[str]] = csv.reader(io.StringIO(text))
        if kind is Format.TSV:
            lines = (line.rstrip("\r").split("\t") for line in text.split("\n") if line.strip())
        return _of_rows(list(islice((row for row in lines if row), ROWS_LOOKED_AT)))
    except (SottovoceError, ArrowException, OSError, csv.Error):
        return ()


def _of_parquet(path: Path) -> tuple[FileColumn, ...]:
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
    return tuple(FileColumn(name, name, "") for name in names[:MOST_COLUMNS])


def _objects(text: str) -> Iterator[dict[str, object]]:
    for line in islice(text.split("\n"), ROWS_LOOKED_AT):
        try:
            item = json.loads(line)
        except ValueError:
            continue
        if isinstance(item, dict):
            yield item


def _of_objects(items: Iterable[dict[str, object]]) -> tuple[FileColumn, ...]:
    examples: dict[str, str] = {}
    for item in items:
        for name, value in item.items():
            if not examples.get(name):
                examples[name] = _example(value)
    return tuple(
        FileColumn(name, name, each) for name, each in islice(examples.items(), MOST_COLUMNS)
    )


def _of_rows(rows: Sequence[Sequence[str]]) -> tuple[FileColumn, ...]:
    if not rows or any("\0" in value for value in rows[0]):
        return ()
    found = []
    for place, name in enumerate(rows[0][:MOST_COLUMNS]):
        values = (_example(row[place]) for row in rows[1:] if len(row) > place)
        found.append(FileColumn(str(place), _example(name), next(filter(None, values), "")))
    return tuple(found)


def _example(value: object) -> str:
    text = " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
    return f"{text[:LONGEST_EXAMPLE]}…" if len(text) > LONGEST_EXAMPLE else text
