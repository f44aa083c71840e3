"""Ranks and alerts as a file of the kind that its name says: CSV, Parquet or JSON Lines."""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from sottovoce.assess.ranking import RANKS, RankedTopicUsers
from sottovoce.errors import InputError, ParameterError
from sottovoce.parsing import parse_json

ENDINGS = (".csv", ".parquet", ".jsonl")
_FORMULA_STARTS = (
    "=+\\-@\t\r"
    "\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    "\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
"""What a program for tables takes for the start of a formula."""


def check_ending(out: Path | None, *, spark: bool = True) -> None:
    """Refuse a name that does not say which kind of file it is to be."""
    if out is not None and out.suffix.lower() not in ENDINGS:
        got = f"an ending in {out.suffix}" if out.suffix else "no ending"
        raise ParameterError(
            f"--out must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, which sets the format; "
            f"got {got}: {out.name}.{' On Spark it is a folder.' if spark else ''}"
        )


def write_ranks(
    path: Path, ranks: Iterable[RankedTopicUsers], ending: str = ".parquet"
) -> list[dict[str, object]]:
    """Write ranks as ``ending`` says, a measure and topic at a time; their summary."""
    summary = []
    with _writer(path, ending, RANKS) as write:
        for each in ranks:
            write(each.rows)
            summary.append(each.summary)
    return summary


def write_rows(path: Path, rows: pa.Table, ending: str) -> None:
    """Write a table that has a column ``user`` as ``ending`` says."""
    with _writer(path, ending, rows.schema) as write:
        for batch in rows.to_batches():
            write(batch)


@contextmanager
def _writer(
    path: Path, ending: str, schema: pa.Schema
) -> Iterator[Callable[[pa.RecordBatch], object]]:
    """What writes the next batch, until the block ends."""
    if ending.lower() == ".csv":
        plain = _plain(schema)
        with csv.CSVWriter(path, plain) as table:
            yield lambda batch: table.write_batch(_harmless(batch, plain))
    elif ending.lower() == ".jsonl":
        with path.open("w", encoding="utf-8") as lines:
            yield lambda batch: lines.writelines(map(_line, batch.to_pylist()))
    else:
        with pq.ParquetWriter(path, schema, compression="zstd") as groups:
            yield groups.write_batch


def _plain(schema: pa.Schema) -> pa.Schema:
    """The same columns, as CSV can hold them."""
    return pa.schema(
        [
            pa.field(each.name, pa.string() if pa.types.is_dictionary(each.type) else each.type)
            for each in schema
        ]
    )


def _harmless(batch: pa.RecordBatch, plain: pa.Schema) -> pa.RecordBatch:
    """As plain columns; a name that reads as a formula gets an apostrophe before it."""
    columns = [each.cast(field.type) for each, field in zip(batch.columns, plain, strict=True)]
    place = plain.get_field_index("user")
    users = columns[place]
    guarded = pc.binary_join_element_wise(pa.scalar("'"), users, pa.scalar(""))
    formula = pc.match_substring_regex(users, f"^[{_FORMULA_STARTS}]")
    columns[place] = pc.if_else(formula, guarded, users)
    return pa.RecordBatch.from_arrays(columns, schema=plain)


def _line(row: dict[str, Any]) -> str:
    """The only user of a word scores infinity, which JSON does not have: null."""
    if not math.isfinite(row.get("score", 0.0)):
        row = {**row, "score": None}
    return json.dumps(row, ensure_ascii=False) + "\n"


def read_ranks_as_text(path: Path) -> pa.Table:
    """Ranks of CSV or JSON Lines, as ``write_ranks`` wrote them."""
    try:
        if path.suffix.lower() == ".jsonl":
            lines = path.read_text(encoding="utf-8").splitlines()
            return pa.Table.from_pylist([_with_infinity(parse_json(line)) for line in lines])
        kinds = {name: pa.string() for name in ("measure", "user", "topic", "band")}
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=kinds))
        names = table.column_names
    except (OSError, ValueError, OverflowError, TypeError, AttributeError, pa.ArrowException):
        raise InputError(f"cannot read {path}: it is not a file of ranks.") from None
    if "user" not in names:
        return table
    users = pc.replace_substring_regex(table["user"], f"^'([{_FORMULA_STARTS}])", r"\1")
    return table.set_column(names.index("user"), "user", users)


def _with_infinity(row: dict[str, object]) -> dict[str, object]:
    return {**row, "score": math.inf} if row.get("score", 0.0) is None else row
