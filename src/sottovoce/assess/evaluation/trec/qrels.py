"""Relevance judgements as trec_eval reads them: ``topic 0 user level``.

Levels are whole numbers, so a grade from 0 to 1 is written in hundredths, and whoever has at
least some level, the *cut*, is sensitive: with ir-measures, ``AP(rel=cut)`` and ``nDCG``.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from sottovoce.assess.evaluation.trec.lines import read_fields, whole_number
from sottovoce.assess.evaluation.trec.names import escaped
from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file

Levels = Literal["grades", "sensitive"]
SCALE = 100
SHAPE = "topic iteration user level"


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
    for number, (topic, _, user, level) in read_fields(path, 4, SHAPE):
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
