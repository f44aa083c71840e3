"""Posts and documents from any path that Spark reads, as the columns that the rest expects.

Rows become posts on the workers, by the same rules as on one machine (``corpus.read._columns``).
Unlike one machine's reader, Spark's fills up a row of CSV that has too few fields with nothing, and
cuts one that has too many.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.corpus.read.columns import check_mapping, check_types, locate
from sottovoce.corpus.read.corpus import format_by_name
from sottovoce.corpus.read.guess import likely_fields
from sottovoce.corpus.read.tally import Format, ReadOptions, Skip, Tally
from sottovoce.errors import CorpusError, MissingColumnError, ParameterError
from sottovoce_spark._output import Spark

TALLIES = 2 + len(Skip)
_PATTERN = re.compile(r"[\\*?\[\]{}]")
_LITERALLY = r"\\\g<0>"


def read_rows(
    session: Spark, path: str, schema: pa.Schema, options: ReadOptions, *, with_origin: bool = False
) -> Spark:
    """The fields of ``schema`` that the files at ``path`` have, under our names.

    ``with_origin``: and for each row its file, and where in it the stretch that holds it begins.
    """
    check_mapping(schema, options)
    kind = format_of(path, options)
    readers: dict[Format, Callable[[Spark, str, ReadOptions], Spark]] = {
        Format.PARQUET: lambda session, path, _: session.read.parquet(path),
        Format.CSV: partial(_read_delimited, separator=",", quote='"'),
        Format.TSV: partial(_read_delimited, separator="\t", quote=""),
        Format.JSONL: partial(_json, schema=schema),
        Format.LINES: lambda session, path, _: session.read.text(path).withColumnRenamed(
            "value", "text"
        ),
    }
    if kind not in readers:
        raise ParameterError(
            f"Spark reads {', '.join(readers)}, got {kind}; convert it, or use --engine embedded."
        )
    frame = readers[kind](session, _address(path), options)
    places = _locate_columns(schema, options, frame.columns, path)
    columns = {name: frame.columns[place] for name, place in places.items()}
    _check_columns(frame, columns, path)
    if kind is Format.PARQUET:
        _check_same_schemas(session, frame, tuple(columns.values()), path)
    origin = [
        frame["_metadata.file_path"].alias("file"),
        frame["_metadata.file_block_start"].alias("start"),
    ]
    fields = [_column(frame, own).alias(name) for name, own in columns.items()]
    return frame.select(*fields, *(origin if with_origin else ()))


def _locate_columns(
    schema: pa.Schema, options: ReadOptions, names: Sequence[str], path: str
) -> dict[str, int]:
    """As on one machine; nothing is guessed here, but what the names tell is proposed."""
    try:
        return locate(schema, options, names, path)
    except MissingColumnError as error:
        known = {name.strip().casefold() for name in names} | {*options.columns}
        wanted = [field.name for field in schema if not field.nullable]
        likely = likely_fields(names, [each for each in wanted if each not in known])
        if not likely:
            raise
        remedy = f"Did you mean --fields {likely}? On Spark no column is guessed."
        raise MissingColumnError(error.missing, remedy) from None


def format_of(path: str, options: ReadOptions) -> Format:
    """As told, or by the name; without one it is taken for Parquet, which Spark's users write."""
    name = Path(path.rstrip("/")).name
    return options.format or format_by_name(Path(name)) or Format.PARQUET


def address_of_file(found: str) -> str:
    """A file that Spark named, as Spark's readers take addresses: plain, and no pattern."""
    parts = urlsplit(found)
    host = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{host}{literally(unquote(parts.path))}"


def rows_by_part(session: Spark, frame: Spark) -> Iterator[Spark]:
    """The rows of ``frame`` in order, of which the driver holds one part at a time.

    Not by Spark's local iterator: Java keeps all that was ever read by one.
    """
    rows = frame.rdd
    for part in range(rows.getNumPartitions()):
        yield from session.sparkContext.runJob(rows, _pass_rows, [part])


def _pass_rows(rows: Iterator[Spark]) -> Iterator[Spark]:
    return rows


def added_up(frame: Spark, **kinds: str) -> tuple[NDArray[Any], ...]:
    """The sums over all rows of columns of numbers, each packed as bytes of one of ``kinds``.

    Workers add, in a tree, so that the driver gets a few rows and not one for each part.
    """
    sums: tuple[NDArray[Any], ...] = frame.rdd.map(partial(_unpack_row, kinds)).treeReduce(
        _add_tallies
    )
    # The one row of one part is added to none, and nobody may write into its bytes.
    return tuple(np.require(each, requirements="W") for each in sums)


def _unpack_row(kinds: Mapping[str, str], row: Spark) -> tuple[NDArray[Any], ...]:
    return tuple(np.frombuffer(row[name], kind) for name, kind in kinds.items())


def _add_tallies(
    one: tuple[NDArray[Any], ...], other: tuple[NDArray[Any], ...]
) -> tuple[NDArray[Any], ...]:
    return tuple(mine + yours for mine, yours in zip(one, other, strict=True))


def literally(address: str) -> str:
    """An address that is no pattern, as Spark's readers take it."""
    return _PATTERN.sub(_LITERALLY, address)


def _address(path: str) -> str:
    """What is there by this very name is meant literally; any other may be a pattern."""
    return literally(path) if os.path.lexists(path) else path


def _read_delimited(
    session: Spark, path: str, options: ReadOptions, *, separator: str, quote: str
) -> Spark:
    reader = session.read.options(
        sep=(options.delimiter or separator) if quote else separator,
        quote=quote,
        escape=quote,
        header=options.header is True,
        multiLine=bool(quote),
        encoding=options.encoding,
        # A text that is there but empty is a text.
        nullValue="\0",
        # Columns go by their names in every file, not by their place in the first.
        enforceSchema=False,
    )
    frame = reader.csv(path)
    return frame.toDF(*options.header) if isinstance(options.header, tuple) else frame


def _json(session: Spark, path: str, options: ReadOptions, *, schema: pa.Schema) -> Spark:
    from pyspark.sql.types import StringType, StructField, StructType  # noqa: PLC0415 - an extra

    names = [str(options.columns.get(field.name, field.name)) for field in schema]
    texts = StructType([StructField(name, StringType()) for name in dict.fromkeys(names)])
    return session.read.schema(texts).option("encoding", options.encoding).json(path)


def _column(frame: Spark, name: str) -> Spark:
    return frame["`" + name.replace("`", "``") + "`"]


def _check_columns(frame: Spark, columns: dict[str, str], path: str) -> None:
    from pyspark.sql.pandas.types import to_arrow_type  # noqa: PLC0415 - an extra

    kinds = {field.name: field.dataType for field in frame.schema}
    fields = []
    for name, own in columns.items():
        try:
            fields.append(pa.field(name, to_arrow_type(kinds[own], timezone="UTC")))
        except Exception:  # noqa: BLE001 - a type that Arrow lacks is none of ours
            raise CorpusError(f"{path}: the column mapped to {name} has another type.") from None
    check_types(pa.schema(fields), path)


def _check_same_schemas(session: Spark, frame: Spark, columns: Sequence[str], path: str) -> None:
    """Refuse files that differ in a column: Spark would take one file's word for all of them."""
    context = session.sparkContext
    jvm, settings = context._jvm, context._jsc.hadoopConfiguration()  # noqa: SLF001 - Python has no door to footers
    first: tuple[str | None, ...] | None = None
    for file in sorted(frame.inputFiles()):
        kinds = _kinds_in(jvm, settings, file, columns)
        first = first or kinds
        if kinds != first:
            differing = next(
                name for name, one, two in zip(columns, kinds, first, strict=True) if one != two
            )
            raise CorpusError(
                f"the files of {path} differ in the column {differing!r}; write them again with "
                "one schema, or give those that agree."
            )


def _kinds_in(
    jvm: Spark, settings: Spark, file: str, columns: Sequence[str]
) -> tuple[str | None, ...]:
    where = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI.create(file))
    hadoop = jvm.org.apache.parquet.hadoop
    reader = hadoop.ParquetFileReader.open(hadoop.util.HadoopInputFile.fromPath(where, settings))
    try:
        schema = reader.getFooter().getFileMetaData().getSchema()
        return tuple(
            # Whether nothing may stand in a column does not decide what it holds.
            schema.getType(schema.getFieldIndex(name)).toString().partition(" ")[2]
            if schema.containsField(name)
            else None
            for name in columns
        )
    finally:
        reader.close()


def tally_counts(tally: Tally) -> list[int]:
    """A tally as numbers that can be added up."""
    return [tally.rows_kept, tally.repaired, *(tally.skipped[reason] for reason in Skip)]


def tally_of(counts: NDArray[np.int64]) -> Tally:
    """The tally that a row without a user holds."""
    kept, repaired, *skips = counts.tolist()
    tally = Tally(kept, repaired)
    for reason, rows in zip(Skip, skips, strict=True):
        tally.skip(reason, rows)
    return tally
