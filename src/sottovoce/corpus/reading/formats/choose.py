"""Which reader a source needs: by the options, by the file's name, by its first row."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import cast

import pyarrow as pa

from sottovoce.corpus.reading.formats.aol import AolReader, is_aol
from sottovoce.corpus.reading.formats.comma import CommaReader
from sottovoce.corpus.reading.formats.frame import ArrowStream, FrameReader, Row, rows_reader
from sottovoce.corpus.reading.formats.jsonl import JsonLinesReader
from sottovoce.corpus.reading.formats.lines import LinesReader
from sottovoce.corpus.reading.formats.parquet import ParquetReader
from sottovoce.corpus.reading.formats.reader import Reader
from sottovoce.corpus.reading.formats.tabbed import TabbedReader
from sottovoce.corpus.reading.mapping import check_mapping
from sottovoce.corpus.reading.opening import check_file, format_by_name
from sottovoce.corpus.reading.options import SUFFIXES, Format, ReadOptions
from sottovoce.errors import CorpusError

Source = str | PathLike[str] | ArrowStream | Iterable[Row]
"""A file's path, a data frame, or rows: dictionaries, tuples, or texts."""

_READERS: dict[Format, Callable[[Path, pa.Schema, ReadOptions], Reader]] = {
    Format.CSV: CommaReader,
    Format.TSV: TabbedReader,
    Format.JSONL: JsonLinesReader,
    Format.PARQUET: ParquetReader,
    Format.AOL: AolReader,
    Format.LINES: LinesReader,
}


def reader_for(source: Source, schema: pa.Schema, options: ReadOptions) -> Reader:
    """The reader of ``source`` for the fields of ``schema``."""
    check_mapping(schema, options)
    if not isinstance(source, str | PathLike):
        return _frame_reader(source, schema, options)
    path = Path(source)
    check_file(path)
    return _READERS[_format_of(path, options)](path, schema, options)


def _frame_reader(source: object, schema: pa.Schema, options: ReadOptions) -> Reader:
    if hasattr(source, "__arrow_c_stream__"):
        return FrameReader(cast("ArrowStream", source), schema, options)
    # What has columns is a frame that does not export Arrow: its rows are not what it iterates.
    no_rows = isinstance(source, bytes | Mapping) or hasattr(source, "columns")
    if isinstance(source, Iterable) and not no_rows:
        return rows_reader(source, schema, options)
    raise CorpusError(
        "a corpus is a file's path, a data frame that exports Arrow (polars, pandas 2.2 or newer, "
        f"pyarrow) or rows, as dictionaries or tuples; got {type(source).__name__}."
    )


def _format_of(path: Path, options: ReadOptions) -> Format:
    named = options.format or format_by_name(path)
    if named is None:
        raise CorpusError(
            f"{path}: the name does not tell the format; name it with one of "
            f"{', '.join(SUFFIXES)}, or pass --format (in Python format=), one of "
            f"{', '.join(Format)}."
        )
    if options.format is None and named in {Format.TSV, Format.LINES} and is_aol(path, options):
        return Format.AOL
    return named
