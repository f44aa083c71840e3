"""Options for reading a corpus, shared by all commands that take one."""

from typing import Annotated, cast

import typer

from sottovoce.corpus.reading import Format, ReadOptions
from sottovoce.corpus.reading.tally import Tallied
from sottovoce.errors import ParameterError

FormatOption = Annotated[
    str | None,
    typer.Option("--format", help=f"{', '.join(Format)}; default: from the file's name."),
]
FieldsOption = Annotated[
    str | None,
    typer.Option("--fields", help="Our names for the file's columns: user=author,text=body."),
]
HeaderOption = Annotated[
    str | None,
    typer.Option("--header", help="Names of the columns of a file without a header: label,text."),
]
TimezoneOption = Annotated[
    str, typer.Option("--timezone", help="Zone of times that carry none, such as Europe/Rome.")
]
LineLimitOption = Annotated[
    int, typer.Option("--max-line-bytes", help="The longest line, or single text, that is read.")
]
EncodingOption = Annotated[str, typer.Option("--encoding", help="Of a text file.")]


def read_options(
    file_format: str | None,
    fields: str | None,
    header: str | None,
    timezone: str,
    encoding: str,
    max_line_bytes: int,
) -> ReadOptions:
    """Turn the options of a command line into those of a reader."""
    return ReadOptions(
        format=cast("Format | None", file_format),
        columns=_column_map(fields),
        header=True if header is None else tuple(header.split(",")),
        timezone=timezone,
        encoding=encoding,
        max_line_bytes=max_line_bytes,
    )


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


def _column_map(fields: str | None) -> dict[str, str | int]:
    pairs = [pair.partition("=") for pair in fields.split(",")] if fields else []
    if not all(name and sign and file_name for name, sign, file_name in pairs):
        raise ParameterError("--fields must look like user=author,text=body.")
    return {
        name: int(file_name) if file_name.isdecimal() else file_name for name, _, file_name in pairs
    }
