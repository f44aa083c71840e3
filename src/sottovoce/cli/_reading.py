"""Reading as people write files: the options for it, and what a command guesses and says."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.corpus.read.tally import DEFAULT_LINE_BYTES, DateOrder, Format, ReadOptions
from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa


AUTO = "auto"
LONGEST = DEFAULT_LINE_BYTES

CleanOption = Annotated[
    bool | None,
    typer.Option(
        "--clean/--no-clean",
        help="Score posts without quotes, HTML, URLs, signatures; leave out [deleted] and bots.",
        rich_help_panel="Reading the file",
    ),
]


HeaderOption = Annotated[
    str | None,
    typer.Option("--header", help="Names of the columns of a file without a header: label,text."),
]


@dataclass(frozen=True)
class ReadingOptions(OptionGroup):
    """How a file is read, as far as that is told.

    Args:
        fields: Our names for the file's columns: user=author,text=body.
        delimiter: Between values of CSV: ';', tab; default: found.
        day_first: Times are written like 31/12/2024.
        month_first: Times are written like 12/31/2024.
        timezone: Zone of times that carry none, such as Europe/Rome.
        encoding: Of a text file; auto: UTF-8, or what its bytes tell.
        longest: The longest line, or single text, that is read.
    """

    panel = "Reading the file"

    file_format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(Format)}; default: from the file's name."),
    ] = None
    fields: str | None = None
    header: HeaderOption = None
    delimiter: str | None = None
    day_first: bool = False
    month_first: bool = False
    timezone: str = "UTC"
    encoding: str = AUTO
    longest: Annotated[int, typer.Option("--max-line-bytes")] = LONGEST

    def as_told(self) -> ReadOptions:
        """For a reader, which guesses no encoding."""
        return ReadOptions(
            format=cast("Format | None", self.file_format),
            columns=_column_map(self.fields),
            header=True if self.header is None else tuple(self.header.split(",")),
            timezone=self.timezone,
            encoding="utf-8" if self.encoding == AUTO else self.encoding,
            max_line_bytes=self.longest,
            delimiter="\t" if self.delimiter in {"tab", "\\t"} else self.delimiter,
            dates=_dates(self.day_first, self.month_first),
        )

    def choose(
        self,
        posts: Path,
        schema: "pa.Schema",
        beside: Path | None = None,
        told: ReadOptions | None = None,
    ) -> ReadOptions:
        """How to read ``posts``: as told, as kept ``beside``, or as guessed, which is said."""
        from sottovoce.corpus.read.guessed import chosen_reading  # noqa: PLC0415 - fast --help

        told = self.as_told() if told is None else told
        found = chosen_reading(posts, schema, told, encoding=self.encoding, beside=beside)
        for line in found.said:
            typer.echo(line, err=True)
        return found.options


@dataclass(frozen=True)
class PlainReadingOptions(ReadingOptions):
    """The same where no encoding is guessed.

    Args:
        encoding: Of a text file.
    """

    encoding: str = "utf-8"


def _dates(day_first: bool, month_first: bool) -> DateOrder:
    if day_first and month_first:
        raise ParameterError("--day-first and --month-first contradict one another; give one.")
    if day_first:
        return "day-first"
    return "month-first" if month_first else "iso"


def _column_map(fields: str | None) -> dict[str, str | int]:
    pairs = [pair.partition("=") for pair in fields.split(",")] if fields else []
    if not all(name and sign and file_name for name, sign, file_name in pairs):
        raise ParameterError("--fields must look like user=author,text=body.")
    return {
        name: int(file_name) if file_name.isdecimal() else file_name for name, _, file_name in pairs
    }
