"""Rankings as trec_eval reads them: ``topic Q0 user rank score run``, one run to a file."""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.assess.evaluation.trec.lines import read_fields, whole_number
from sottovoce.assess.evaluation.trec.names import escaped
from sottovoce.errors import InputError
from sottovoce.files import output_folder, whole_file

SHAPE = "topic Q0 user rank score run"
RUN_SUFFIX = ".run"
_Line = tuple[str, str, float, str]
RANKS = pa.schema(
    [
        pa.field("measure", pa.string()),
        pa.field("user", pa.string()),
        pa.field("topic", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("rank", pa.int64()),
    ]
)


def write_runs(ranks: pa.Table, path: Path) -> list[Path]:
    """Write each measure of a table of ranks as a run named for it.

    One measure goes into the file ``path``; several, or one where ``path`` is a folder, into a
    file each in that folder.
    """
    measures = pc.unique(ranks["measure"]).to_pylist()
    if len(measures) == 1 and not path.is_dir():
        _write_run(ranks, path)
        return [path]
    output_folder(path)
    files = [path / f"{escaped(measure).replace('/', '%2F')}{RUN_SUFFIX}" for measure in measures]
    for measure, file in zip(measures, files, strict=True):
        _write_run(ranks.filter(pc.equal(ranks["measure"], measure)), file)
    return files


def _write_run(ranks: pa.Table, path: Path) -> None:
    """By topic and falling score; ties, which share a rank, by user."""
    keys = [("topic", "ascending"), ("score", "descending"), ("user", "ascending")]
    ordered = ranks.sort_by(keys)
    columns = (ordered[name].to_pylist() for name in ("topic", "user", "score", "measure"))
    with whole_file(path, private=True) as temporary, temporary.open("w", encoding="utf-8") as file:
        for rank, (topic, user, score, measure) in _ranked(zip(*columns, strict=True)):
            file.write(f"{escaped(topic)} Q0 {escaped(user)} {rank} {score!r} {escaped(measure)}\n")


def _ranked(rows: Iterable[_Line]) -> Iterator[tuple[int, _Line]]:
    """Competition ranks (1, 2, 2, 4) of lines by topic and falling score."""
    for _, topic in groupby(rows, key=itemgetter(0)):
        rank = 1
        for _, tied in groupby(topic, key=itemgetter(2)):
            tie = list(tied)
            yield from ((rank, line) for line in tie)
            rank += len(tie)


def read_run(path: Path) -> pa.Table:
    """Read a run, or several in one file, as a table of ranks.

    Scores decide; a rank that contradicts them is refused, as either may be the mistake.
    """
    rows = []
    seen: set[tuple[str, str, str]] = set()
    for number, (topic, _, user, rank, score, run) in read_fields(path, 6, SHAPE):
        if (run, topic, user) in seen:
            raise InputError(f"{path}, line {number}: ranks a user of the topic again.")
        seen.add((run, topic, user))
        place = whole_number(path, number, "rank", rank)
        rows.append((run, user, topic, _score(path, number, score), place))
    if not rows:
        raise InputError(f"{path} must have at least 1 line, got none.")
    _check_order(path, rows)
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=RANKS)


def _score(path: Path, number: int, field: str) -> float:
    try:
        score = float(field)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise InputError(f"{path}, line {number}: score must be a number.")
    return score


def _check_order(path: Path, rows: Sequence[tuple[str, str, str, float, int]]) -> None:
    """Within a run and topic, a lower score must not have a better rank."""
    ordered = sorted(rows, key=lambda row: (row[0], row[2], -row[3], row[4]))
    wrong = sum(
        one[0] == two[0] and one[2] == two[2] and one[3] > two[3] and one[4] > two[4]
        for one, two in pairwise(ordered)
    )
    if wrong:
        raise InputError(
            f"{path}: ranks must follow falling scores, but {wrong} users rank above one with a "
            "higher score. Write the run anew from its scores."
        )
