"""Ranks and truth from files: ours, or TREC's."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sottovoce.assess.evaluation.trec import read_qrels, read_run
from sottovoce.corpus.reading import read_truth
from sottovoce.errors import InputError

NEEDED = ("measure", "user", "topic", "score")
QRELS_SUFFIXES = {".qrels", ".qrel", ".txt"}
_PARQUET_START = b"PAR1"


def read_ranks(path: Path) -> pa.Table:
    """Ranks as ``sottovoce assess`` writes them (Parquet, on Spark a folder), or a TREC run."""
    if not path.is_dir() and not _is_parquet(path):
        return read_run(path)
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError):
        raise InputError(f"cannot read {path}: it is no whole Parquet file.") from None
    missing = [name for name in NEEDED if name not in table.column_names]
    if missing:
        raise InputError(f"the ranks must have a column {missing[0]!r}; {path} has none.")
    return _conformed(path, table)


def _conformed(path: Path, table: pa.Table) -> pa.Table:
    for name in NEEDED:
        if name != "score" and table[name].null_count:
            raise InputError(f"{path} has {table[name].null_count} rows without a {name}.")
    try:
        typed = [table[name].cast(pa.string()) for name in NEEDED[:3]]
        score = table["score"].cast(pa.float64())
    except pa.ArrowException:
        raise InputError(f"the columns of {path} must be text, and score a number.") from None
    return pa.table([*typed, score], names=list(NEEDED))


def read_judgements(path: Path, cut: int = 1) -> pa.Table:
    """Truth as ``sottovoce simulate`` writes it, or TREC qrels: a name in .qrels, .qrel or .txt."""
    return read_qrels(path, cut) if path.suffix in QRELS_SUFFIXES else read_truth(path)


def _is_parquet(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_PARQUET_START)) == _PARQUET_START
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None
