"""Options that several commands share, and what is made of them.

What was read and left out, then how people are scored, then what is kept of a command that stops,
then how files are read as people write them, with what is guessed and said.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sottovoce.cli._groups import OptionGroup
from sottovoce.corpus.read.tally import (
    DEFAULT_LINE_BYTES,
    DateOrder,
    Format,
    ReadOptions,
    Skip,
    Tallied,
    Tally,
)
from sottovoce.errors import MissingExtraError, ParameterError, Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sottovoce.topics.catalogue import Catalogue
    from sottovoce.topics.space import Space


def check_precision(*given: int) -> None:
    """The option --precision, by the name under which it was typed."""
    for precision in given:
        if precision < 1:
            raise ParameterError(f"--precision must be > 0, got {precision}.")


def skipped_rows(corpus: Tallied) -> dict[str, int]:
    """What the last pass over ``corpus`` left out, by reason."""
    return {str(reason): rows for reason, rows in corpus.tally.skipped.items()}


def warn_about_rows(corpus: Tallied) -> None:
    """Say on standard error what the last pass left out or repaired."""
    tally = corpus.tally
    for reason, rows in skipped_rows(corpus).items():
        typer.echo(f"skipped {rows} of {tally.rows_read} rows: {reason}", err=True)
    if tally.repaired:
        typer.echo(f"repaired {tally.repaired} texts whose bytes were not valid", err=True)
    if 2 * tally.skipped.total() > tally.rows_read:
        typer.echo(_most_left_out(tally), err=True)


def _most_left_out(tally: Tally) -> str:
    """What nobody should overlook, and what mends it."""
    left_out, rows = tally.skipped.total(), tally.rows_read
    reason, _ = tally.skipped.most_common(1)[0]
    return (
        f"WARNING: MOST ROWS WERE LEFT OUT, {left_out:,} of {rows:,}. What follows is about the "
        f"other {tally.rows_kept:,} only.{_REMEDIES.get(reason, '')}"
    )


_REMEDIES = {
    Skip.TIME: " Do its times put days or months first, or is another column the time?",
    Skip.USER: " Is another column the user?",
    Skip.TEXT: " Is another column the text?",
    Skip.FIELDS: " Are its values separated by something else?",
}


ModelOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--model",
        help="A model made by 'topics train'; lda and w2v measures need one, voice works best "
        "with one.",
    ),
]
TopicsOption = Annotated[
    Path | None, typer.Option("--topics", help="The catalogue of topics, in TOML; default: ours.")
]
KOption = Annotated[
    float, typer.Option("-k", help="Share of a domain that a broad interest covers.")
]
MOption = Annotated[
    int, typer.Option("-m", help="Number of time buckets that a lasting interest covers.")
]
ConcernedOption = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="If a topic concerns this share of the community (at most 10%), how many in 100 of "
        "each band would it concern?",
    ),
]
BucketOption = Annotated[
    str | None, typer.Option("--bucket", help="Days, weeks or months: 1d, 1w (default), 1mo.")
]


@dataclass(frozen=True)
class ScoreOptions(OptionGroup):
    """How people are scored, and by what background.

    Args:
        mode: 'corrected' (default), or 'paper'; a state keeps its own.
    """

    panel = "How people are scored"

    model: ModelOption = None
    topics: TopicsOption = None
    k: KOption = 0.3
    m: MOption = 3
    bucket: BucketOption = None
    mode: str | None = None


def parse_share(written: str | None) -> float | None:
    """The share given with --concerned, checked."""
    if written is None:
        return None
    from sottovoce.assess.measures.catalogue import check_concerned  # noqa: PLC0415 - fast --help

    number, percent = written.strip().removesuffix("%"), written.strip().endswith("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        raise ParameterError("--concerned must look like 2% or 0.02.") from None
    return check_concerned(share)


def load_catalogue(path: Path | None) -> "Catalogue | None":
    """The catalogue given with --topics; None if there is none."""
    from sottovoce.topics.catalogue import Catalogue  # noqa: PLC0415 - keeps --help fast

    return None if path is None else Catalogue.load(path)


def load_shipped_catalogue() -> "Catalogue":
    """What stands for --topics where it is not given."""
    from sottovoce.topics.shipped.rules import shipped_catalogue  # noqa: PLC0415 - keeps --help fast

    return shipped_catalogue()


def load_models(paths: "Sequence[Path] | None") -> "tuple[Space, ...]":
    """The models given with --model."""
    if not paths:
        return ()
    with needs_extra("topics"):
        from sottovoce.topics import load_model  # noqa: PLC0415 - keeps --help fast

        return tuple(load_model(path) for path in paths)


@contextmanager
def mention_resume(folder: Path | None) -> Iterator[None]:
    """Say on the way out of a stopped command that it can go on."""
    try:
        yield
    except Stopped:
        if folder is not None and any(folder.glob("state-*")):
            typer.echo(
                "The same command with --resume continues from the last checkpoint.", err=True
            )
        raise


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn a failed import of somebody else's module into what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError.of_import(error, extra) from None


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


@dataclass(frozen=True)
class ReadingOptions(OptionGroup):
    """How a file is read, as far as the command says.

    Args:
        fields: Which column is which: user=author,text=body.
        header: Column names, if the file has no header: label,text.
        delimiter: What separates the values of CSV: ';', tab; default: a guess.
        day_first: Times are written like 31/12/2024.
        month_first: Times are written like 12/31/2024.
        timezone: Time zone of times without one, such as Europe/Rome.
        encoding: Encoding of a text file; auto: UTF-8, or a guess from its bytes.
        longest: The longest line or text to accept, in bytes.
    """

    panel = "Reading the file"

    file_format: Annotated[
        str | None,
        typer.Option("--format", help=f"{', '.join(Format)}; default: from the file's name."),
    ] = None
    fields: str | None = None
    header: str | None = None
    delimiter: str | None = None
    day_first: bool = False
    month_first: bool = False
    timezone: str = "UTC"
    encoding: str = AUTO
    longest: Annotated[int, typer.Option("--max-line-bytes")] = LONGEST

    def to_read_options(self) -> ReadOptions:
        """What was given, for a reader that guesses nothing: encoding auto is UTF-8."""
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

        told = self.to_read_options() if told is None else told
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
        raise ParameterError("--day-first and --month-first contradict each other; give one.")
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
