"""The formats of files that can be read: one module each, all of them listed here.

To add one, write a module with a `FileReader`, name it in `Format`, and list it in `FORMATS`.
"""

from os import PathLike
from pathlib import Path

import pyarrow as pa

from sottovoce.corpus.read._aol import AolReader
from sottovoce.corpus.read._csv import CommaReader
from sottovoce.corpus.read._frame import sample_frame
from sottovoce.corpus.read._jsonl import JsonLinesReader
from sottovoce.corpus.read._lines import LinesReader
from sottovoce.corpus.read._parquet import ParquetReader
from sottovoce.corpus.read._tsv import TabbedReader
from sottovoce.corpus.read.bytes import without_compression
from sottovoce.corpus.read.reader import ColumnSample, FileReader
from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.errors import CorpusError, SottovoceError

FORMATS: dict[Format, type[FileReader]] = {
    Format.CSV: CommaReader,
    Format.TSV: TabbedReader,
    Format.JSONL: JsonLinesReader,
    Format.PARQUET: ParquetReader,
    Format.AOL: AolReader,
    Format.LINES: LinesReader,
}
SUFFIXES = {suffix: kind for kind, reader in FORMATS.items() for suffix in reader.suffixes}


def format_by_name(path: Path) -> Format | None:
    """What the name says, with or without a compression's after it; None: it does not say."""
    return SUFFIXES.get(without_compression(path).suffix.lower())


def find_format(path: Path, options: ReadOptions) -> Format | None:
    """The format that was asked for, or that the name or the first rows say; None: none of them."""
    named = options.format or format_by_name(path)
    if options.format is not None or named is None:
        return named
    found = (kind for kind, each in FORMATS.items() if each.recognises(path, named, options))
    return next(found, named)


def require_format(path: Path, options: ReadOptions) -> Format:
    """The format of a file; where nothing says it, an error that says what to do."""
    if (found := find_format(path, options)) is not None:
        return found
    if path.suffix.lower() == ".json":
        raise CorpusError(
            f"{path}: this looks like a JSON document; only JSON Lines can be read. If it is that, "
            "add --format jsonl (in Python format='jsonl'); an array becomes JSON Lines by "
            "jq -c '.[]'."
        )
    raise CorpusError(
        f"{path}: I can't tell the format from the file name. Name the file with one of "
        f"{', '.join(SUFFIXES)}, or add --format (in Python format=), one of "
        f"{', '.join(Format)}."
    )


def sample_columns(
    path: Path,
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> tuple[ColumnSample, ...]:
    """The columns of a file with their first values; none where it is no table at all."""
    kind = options.format or format_by_name(path) or Format.CSV
    try:
        return FORMATS[kind].sample(path, options)
    # A name or a value that is no text is a ValueError.
    except (SottovoceError, pa.ArrowException, OSError, ValueError):
        return ()


def sample_source(source: object, options: ReadOptions) -> tuple[ColumnSample, ...]:
    """The same of whatever a call takes."""
    if isinstance(source, str | PathLike):
        return sample_columns(Path(source), options)
    return sample_frame(source)
