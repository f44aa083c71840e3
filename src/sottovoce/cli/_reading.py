"""Reading as people write files: what a command guesses about a file and says."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sottovoce.corpus.read import ReadOptions

AUTO = "auto"

AnyEncodingOption = Annotated[
    str, typer.Option("--encoding", help="Of a text file; auto: UTF-8, or what its bytes tell.")
]
DelimiterOption = Annotated[
    str | None,
    typer.Option("--delimiter", help="Between values of CSV: ';', tab; default: found."),
]
DayFirstOption = Annotated[
    bool, typer.Option("--day-first", help="Times are written like 31/12/2024.")
]
MonthFirstOption = Annotated[
    bool, typer.Option("--month-first", help="Times are written like 12/31/2024.")
]
CleanOption = Annotated[
    bool | None,
    typer.Option(
        "--clean/--no-clean",
        help="Score posts without quotes, HTML, URLs, signatures; leave out [deleted] and bots.",
    ),
]


def dates_told(day_first: bool, month_first: bool) -> str:
    """The options --day-first and --month-first."""
    if day_first and month_first:
        raise ParameterError("--day-first and --month-first contradict one another; give one.")
    if day_first:
        return "day-first"
    return "month-first" if month_first else "iso"


def delimiter_told(written: str | None) -> str | None:
    """The option --delimiter; a tab has a name."""
    return "\t" if written in {"tab", "\\t"} else written


def plain_encoding(written: str) -> str:
    """The encoding where nothing is guessed."""
    return "utf-8" if written == AUTO else written


def reading_of(
    posts: Path,
    schema: "pa.Schema",
    told: "ReadOptions",
    encoding: str,
    *,
    beside: Path | None = None,
) -> "ReadOptions":
    """How to read ``posts``: as told, as kept ``beside``, or as guessed, which is said."""
    from sottovoce.corpus.read._kept_reading import chosen_reading  # noqa: PLC0415 - fast --help

    found = chosen_reading(posts, schema, told, encoding=encoding, beside=beside)
    for line in found.said:
        typer.echo(line, err=True)
    return found.options


def group_column(corpus: Path, asked: str, reading: "ReadOptions") -> str:
    """The column that --by names, said where it is called otherwise."""
    from sottovoce.corpus.read._guess import grouping_column  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read._sample import sample_columns  # noqa: PLC0415 - keeps --help fast

    found = grouping_column(sample_columns(corpus, reading), asked)
    if found != asked:
        typer.echo(f"grouped by the column {found}; --by NAME says otherwise", err=True)
    return found


def person_column_of(corpus: Path, reading: "ReadOptions") -> str | None:
    """The column that says whose each document is, where its name tells."""
    from sottovoce.corpus.read._guess import person_column  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read._sample import sample_columns  # noqa: PLC0415 - keeps --help fast

    return person_column(sample_columns(corpus, reading))
