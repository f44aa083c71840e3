"""Rankings and judgements in the files that trec_eval and ir-measures read and write.

A run has lines ``topic Q0 user rank score measure``; qrels have lines ``topic 0 user level``, where
the level is the grade in hundredths and whoever has at least the *cut* is sensitive: with
ir-measures ``AP(rel=cut)`` and ``nDCG``. A space within a name travels as ``%20``.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa

from sottovoce.corpus.schema import TRUTH
from sottovoce.errors import InputError
from sottovoce.files import whole_file

_SCALE = 100


def write_qrels(truth: pa.Table, path: Path) -> int:
    """Write a truth table as qrels; return the cut, the least level of a sensitive user."""
    levels = np.rint(truth["grade"].to_numpy() * _SCALE).astype(np.int64)
    sensitive = truth["sensitive"].to_numpy()
    cut = int(levels[sensitive].min(initial=_SCALE))
    if cut < 1 or (levels[~sensitive] >= cut).any():
        raise InputError("one level must separate the sensitive users from the others.")
    rows = zip(truth["topic"].to_pylist(), truth["user"].to_pylist(), levels.tolist(), strict=True)
    _write_lines(path, (f"{_quote(topic)} 0 {_quote(user)} {level}" for topic, user, level in rows))
    return cut


def read_qrels(path: Path, cut: int = 1) -> pa.Table:
    """Read qrels as a truth table: sensitive from level ``cut``, graded as a share of the best."""
    rows = [(topic, user, max(0, int(level))) for topic, _, user, level in _read_lines(path, 4)]
    best = max((level for *_, level in rows), default=0)
    if not 1 <= cut <= best:
        raise InputError(f"{path} must have a user of level {cut} >= 1 or more, got {best}.")
    return pa.Table.from_pylist(
        [
            {"user": user, "topic": topic, "sensitive": level >= cut, "grade": level / best}
            for topic, user, level in rows
        ],
        schema=TRUTH,
    )


def write_run(ranks: pa.Table, path: Path) -> None:
    """Write ranks by measure, topic and falling score; equal scores share a rank."""
    keys = ("measure", "topic", "score", "user")
    ways = ("ascending", "ascending", "descending", "ascending")
    ordered = ranks.select(keys).sort_by(list(zip(keys, ways, strict=True))).to_pylist()
    _write_lines(path, _format_ranks(ordered))


def _format_ranks(ordered: list[dict[str, str]]) -> Iterator[str]:
    for (measure, topic), rows in groupby(ordered, lambda row: (row["measure"], row["topic"])):
        rank, before = 0, None
        for place, row in enumerate(rows, 1):
            rank, before = (rank, before) if row["score"] == before else (place, row["score"])
            user = _quote(row["user"])
            yield f"{_quote(topic)} Q0 {user} {rank} {row['score']!r} {_quote(measure)}"


def read_run(path: Path) -> pa.Table:
    """Read one or more runs as a table of ranks, as ``evaluate`` takes it."""
    return pa.Table.from_pylist(
        [
            {"measure": run, "user": user, "topic": topic, "score": float(score)}
            for topic, _, user, _, score, run in _read_lines(path, 6)
        ]
    )


def _quote(name: str) -> str:
    return "".join(quote(each) if each.isspace() or each == "%" else each for each in name)


def _write_lines(path: Path, lines: Iterator[str]) -> None:
    with whole_file(path, private=True) as temporary:
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _read_lines(path: Path, fields: int) -> Iterator[list[str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        parts = [unquote(part) for part in line.split()]
        if len(parts) not in {0, fields}:
            raise InputError(f"{path}, line {number}: must have {fields} fields, got {len(parts)}.")
        if parts:
            yield parts
