"""Reading as people write files: what a command guesses about a file, says and keeps.

The guess is kept beside the state, or beside the ranks where there is no state, in a file that ends
in .reading.json; never in the working directory. The next run with that state reads alike.
"""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from sottovoce.corpus.read import ReadOptions

AUTO = "auto"
_LARGEST = 1 << 16

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


def kept_reading(path: Path) -> Path:
    """Where what was guessed about the posts of a state, or of ranks, is kept."""
    return path.with_name(f"{path.name}.reading.json")


def reading_of(
    posts: Path,
    schema: "pa.Schema",
    told: "ReadOptions",
    encoding: str,
    *,
    beside: Path | None = None,
) -> "ReadOptions":
    """How to read ``posts``: as told, as kept ``beside``, or as guessed, which is said."""
    from sottovoce.corpus.read._guessed import guessed_reading  # noqa: PLC0415 - keeps --help fast

    known = None if beside is None or told.columns else _kept(kept_reading(beside))
    if known is not None:
        try:
            return guessed_reading(posts, schema, _as_kept(told, known), encoding=encoding).options
        except CorpusError:
            pass  # these posts have other columns than those before
    found = guessed_reading(posts, schema, told, encoding=encoding)
    for line in found.said:
        typer.echo(line, err=True)
    return found.options


def say_if_not_english(posts: Path, reading: "ReadOptions") -> None:
    """Say that the shipped topics are in English where the first posts are not."""
    from sottovoce.corpus._everyday import NOT_ENGLISH, seems_english  # noqa: PLC0415 - keeps --help fast
    from sottovoce.corpus.read._sample import sample_columns  # noqa: PLC0415 - keeps --help fast

    wanted = str(reading.columns.get("text", "text")).casefold()
    texts = [
        value
        for column in sample_columns(posts, reading)
        if wanted in {column.name.strip().casefold(), str(column.key)}
        for value in column.values
    ]
    if not seems_english(texts):
        typer.echo(f"WARNING: {NOT_ENGLISH}", err=True)


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


def keep_reading(beside: Path, options: "ReadOptions", told: "ReadOptions") -> None:
    """Keep what was guessed, for its owner only; nothing where nothing was."""
    from sottovoce._files import whole_file  # noqa: PLC0415 - keeps --help fast

    by_name = all(isinstance(each, str) for each in options.columns.values())
    if options == told or not by_name:
        return
    record = {"columns": dict(options.columns), "dates": options.dates}
    path = kept_reading(beside)
    is_new = not path.exists()
    with whole_file(path, private=True) as temporary:
        temporary.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    if is_new:
        typer.echo(f"kept which columns were read, for the next run: {path}", err=True)


def _kept(path: Path) -> dict[str, Any] | None:
    """What is kept; what is no such file is as if it were not there."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        columns = record["columns"]
        sound = all(isinstance(each, str | int) for each in columns.values())
        return record if sound and set(columns) <= {"user", "time", "text", "label"} else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _as_kept(told: "ReadOptions", known: dict[str, Any]) -> "ReadOptions":
    columns = MappingProxyType(dict(known["columns"]))
    dates = known.get("dates") if told.dates == "iso" else told.dates
    return replace(told, columns=columns, dates=dates or "iso")
