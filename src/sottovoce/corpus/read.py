"""Open posts or documents, from a file of any known format or from a data frame."""

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import cast

import pyarrow as pa

from sottovoce.corpus.conform import bounded, to_documents, to_posts
from sottovoce.corpus.formats.aol import AolReader, is_aol
from sottovoce.corpus.formats.comma import CommaReader
from sottovoce.corpus.formats.frame import ArrowStream, FrameReader
from sottovoce.corpus.formats.jsonl import JsonLinesReader
from sottovoce.corpus.formats.lines import LinesReader
from sottovoce.corpus.formats.parquet import ParquetReader
from sottovoce.corpus.formats.reader import Reader
from sottovoce.corpus.formats.tabbed import TabbedReader
from sottovoce.corpus.mapping import check_mapping
from sottovoce.corpus.opening import check_file, without_compression
from sottovoce.corpus.options import Format, ReadOptions
from sottovoce.corpus.schema import DOCUMENTS, POSTS
from sottovoce.corpus.tally import Tally
from sottovoce.errors import CorpusError

Source = str | PathLike[str] | ArrowStream
Conform = Callable[[pa.RecordBatch, str, Tally], pa.RecordBatch]

_READERS: dict[Format, Callable[[Path, pa.Schema, ReadOptions], Reader]] = {
    Format.CSV: CommaReader,
    Format.TSV: TabbedReader,
    Format.JSONL: JsonLinesReader,
    Format.PARQUET: ParquetReader,
    Format.AOL: AolReader,
    Format.LINES: LinesReader,
}
_SUFFIXES = {
    ".csv": Format.CSV,
    ".tsv": Format.TSV,
    ".tab": Format.TSV,
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".txt": Format.LINES,
}


class Corpus:
    """A stream of record batches of one schema that can be read again: each pass opens it anew.

    ``tally`` counts what the latest pass has seen so far.
    """

    def __init__(
        self, reader: Reader, schema: pa.Schema, conform: Conform, options: ReadOptions
    ) -> None:
        self.schema = schema
        self.tally = Tally()
        self._reader = reader
        self._conform = conform
        self._options = options

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        self.tally = tally = Tally()
        return self._batches(tally)

    def _batches(self, tally: Tally) -> Iterator[pa.RecordBatch]:
        for raw in self._reader.raw_batches(tally):
            for part in bounded(raw, self._options.max_line_bytes, tally):
                batch = self._conform(part, self._options.timezone, tally)
                if batch.num_rows:
                    yield batch
        if not tally.rows_kept:
            raise CorpusError(f"no usable row: {tally}.")

    def read_all(self) -> pa.Table:
        """Everything in memory at once; for corpora that fit."""
        return pa.Table.from_batches(iter(self), self.schema)


def open_posts(source: Source, *, options: ReadOptions = ReadOptions()) -> Corpus:  # noqa: B008 - frozen
    """Posts (user, time, text) from a path or a data frame."""
    return Corpus(_reader(source, POSTS, options), POSTS, to_posts, options)


def open_documents(source: Source, *, options: ReadOptions = ReadOptions()) -> Corpus:  # noqa: B008 - frozen
    """Documents (text, and a label if there is one) from a path or a data frame."""
    return Corpus(_reader(source, DOCUMENTS, options), DOCUMENTS, to_documents, options)


def _reader(source: Source, schema: pa.Schema, options: ReadOptions) -> Reader:
    check_mapping(schema, options)
    if not isinstance(source, str | PathLike):
        return _frame_reader(source, schema, options)
    path = Path(source)
    check_file(path)
    return _READERS[_format_of(path, options)](path, schema, options)


def _frame_reader(source: object, schema: pa.Schema, options: ReadOptions) -> Reader:
    if not hasattr(source, "__arrow_c_stream__"):
        raise CorpusError(
            "a corpus is a file's path or a data frame that exports Arrow (polars, pandas 2.2 or "
            f"newer, pyarrow); got {type(source).__name__}."
        )
    return FrameReader(cast("ArrowStream", source), schema, options)


def _format_of(path: Path, options: ReadOptions) -> Format:
    suffix = without_compression(path).suffix.lower()
    named = options.format or _SUFFIXES.get(suffix)
    if named is None:
        raise CorpusError(
            f"{path}: the name does not tell the format; name it with one of "
            f"{', '.join(_SUFFIXES)}, or pass format (one of {', '.join(Format)})."
        )
    if options.format is None and named in {Format.TSV, Format.LINES} and is_aol(path, options):
        return Format.AOL
    return named
