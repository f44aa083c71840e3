"""Rankings and judgements in the files that trec_eval and ir-measures read and write.

A ranking has lines ``topic Q0 user rank score run``, one run to a file; judgements have lines
``topic 0 user level``. Levels are whole numbers, so a grade from 0 to 1 is written in hundredths,
and whoever has at least some level, the *cut*, is sensitive: with ir-measures, ``AP(rel=cut)`` and
``nDCG``. Fields are separated by spaces, so a space within a name travels as ``%20``. An error says
which line is wrong.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import output_folder, whole_file

# What separates fields or lines, and the escape itself; nothing else is changed, either way.
_UNSAFE = re.compile(r"[%\t\n\v\f\r ]")
_ESCAPED = re.compile(r"%(25|09|0A|0B|0C|0D|20)")


def escaped(name: str) -> str:
    """The name as one field."""
    if not name:
        raise InputError("a name in a TREC file must not be empty.")
    return _UNSAFE.sub(lambda found: f"%{ord(found.group()):02X}", name)


def unescaped(field: str) -> str:
    """The name that ``escaped`` wrote; a field that it did not write stays as it is."""
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), field)


LONGEST_LINE = 1_000_000


def read_fields(path: Path, fields: int, shape: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of every line that is not blank."""
    try:
        with path.open("rb") as file:
            # A bound on the line bounds the memory that a file without line ends may take.
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                if line.strip():
                    yield number, _split(path, number, line, fields, shape)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def _split(path: Path, number: int, line: bytes, fields: int, shape: str) -> list[str]:
    parts = line.split()
    if len(parts) != fields:
        raise InputError(
            f"{path}, line {number}: must have {fields} fields ({shape}), got {len(parts)}."
        )
    try:
        return [unescaped(part.decode()) for part in parts]
    except UnicodeDecodeError:
        raise InputError(f"{path}, line {number}: must be UTF-8.") from None


def whole_number(path: Path, number: int, name: str, field: str) -> int:
    """A field that must be a whole number."""
    try:
        return int(field)
    except ValueError:
        raise InputError(f"{path}, line {number}: {name} must be a whole number.") from None


Levels = Literal["grades", "sensitive"]
SCALE = 100
QRELS_SHAPE = "topic iteration user level"


def write_qrels(truth: pa.Table, path: Path, levels: Levels = "grades") -> int:
    """Write a truth table as qrels; return the cut, the least level of a sensitive user.

    ``levels="sensitive"`` writes 1 and 0 in place of hundredths of the grade.
    """
    level, cut = _levels(truth, levels)
    rows = zip(truth["topic"].to_pylist(), truth["user"].to_pylist(), level.tolist(), strict=True)
    lines = (f"{escaped(topic)} 0 {escaped(user)} {value}\n" for topic, user, value in rows)
    with whole_file(path, private=True) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")
    return cut


def _levels(
    truth: pa.Table, levels: Levels
) -> "tuple[np.ndarray[tuple[int], np.dtype[np.int64]], int]":
    sensitive = truth["sensitive"].to_numpy()
    if levels == "sensitive":
        return sensitive.astype(np.int64), 1
    hundredths = np.rint(truth["grade"].to_numpy() * SCALE).astype(np.int64)
    cut = int(hundredths[sensitive].min(initial=SCALE))
    mixed = int((hundredths[~sensitive] >= cut).sum())
    if mixed or cut < 1:
        raise InputError(
            f"one level must tell the sensitive from the others, but {mixed} who are not have a "
            "grade as high as one who is. Write 1 and 0 instead of grades (levels sensitive)."
        )
    return hundredths, cut


def read_qrels(path: Path, cut: int = 1) -> pa.Table:
    """Read qrels as a truth table: sensitive from level ``cut`` on.

    The grade is the level as a share of the highest. Negative levels, which some collections use
    for what was set aside, count as 0.
    """
    if cut < 1:
        raise ParameterError(f"the least level of a sensitive user must be >= 1, got {cut}.")
    topics, users, levels = [], [], []
    seen: set[tuple[str, str]] = set()
    for number, (topic, _, user, level) in read_fields(path, 4, QRELS_SHAPE):
        if (topic, user) in seen:
            raise InputError(f"{path}, line {number}: repeats a user of the topic.")
        seen.add((topic, user))
        topics.append(topic)
        users.append(user)
        levels.append(max(0, whole_number(path, number, "level", level)))
    return _truth(path, topics, users, levels, cut)


def _truth(
    path: Path, topics: list[str], users: list[str], levels: list[int], cut: int
) -> pa.Table:
    highest = max(levels, default=0)
    if highest < cut:
        raise InputError(f"{path} must have a user of level {cut} or more, got {highest} at most.")
    sensitive = [level >= cut for level in levels]
    grades = [level / highest for level in levels]
    return pa.table(
        [users, topics, pa.nulls(len(users), pa.string()), sensitive, grades], schema=TRUTH
    )


RUN_SHAPE = "topic Q0 user rank score run"
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
    for number, (topic, _, user, rank, score, run) in read_fields(path, 6, RUN_SHAPE):
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
            "higher score. Write the run again from its scores."
        )
