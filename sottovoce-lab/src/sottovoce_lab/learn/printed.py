"""Private Text Classification as printed: what its offsets and its block rados get wrong.

Protocols 2 and 3 on Ionosphere, each of four peers with a part of the features of every entity, and
Definition 3 with the same parts of four sets of entities. Errors are those on all rows.
"""

from collections.abc import Mapping

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.learn.paillier.keys import generate_key
from sottovoce.learn.training_terms import LocalData
from sottovoce.report.result import Row, StudyResult
from sottovoce_lab.learn.data import Examples, ionosphere
from sottovoce_lab.learn.paper.printed import (
    BlockPeer,
    Offset,
    classify_as_printed,
    train_as_printed,
    train_on_blocks,
)
from sottovoce_lab.options import StudyOptions

PEERS = 4
SHOWN = ("what others add", "error", "called good")


def run_learn_paper(options: StudyOptions) -> StudyResult:
    """Protocols 2 and 3 as printed, and block rados: what they get wrong on Ionosphere."""
    examples = ionosphere()
    rows = [*offset_rows(examples, 100 if options.quick else 1000), block_row(examples)]
    notes = ("The coordinator opens the score of every row: nothing of this is for private text.",)
    return StudyResult(tuple(rows), (), SHOWN, notes)


def offset_rows(examples: Examples, rados: int) -> list[Row]:
    """Every peer asks with its own features, and the others add one of three things."""
    rows, signs = examples
    names = [f"x{at}" for at in range(rows.shape[1])]
    parts = {f"peer {k}": at for k, at in enumerate(np.array_split(np.arange(len(names)), PEERS))}
    peers = {
        name: LocalData.from_rows(rows[:, own], signs, [names[at] for at in own], names)
        for name, own in parts.items()
    }
    key = generate_key(2048)
    training = train_as_printed(peers, key, rados=rados)

    def call(asked: Mapping[str, Floats], offset: Offset | None) -> Floats:
        return classify_as_printed(training, key, asked, offset=offset).signs.astype(np.float64)

    alone = [{name: rows[:, own]} for name, own in parts.items()]
    together = {name: rows[:, own] for name, own in parts.items()}
    return [
        _row("a rado, as printed", [call(asked, "print") for asked in alone], signs),
        _row("the mean row of a rado", [call(asked, "mean") for asked in alone], signs),
        _row("their parts of the same entity", [call(together, None)], signs),
    ]


def block_row(examples: Examples) -> Row:
    """Four peers with other entities and other features, but for the first."""
    rows, signs = examples
    columns = np.array_split(np.arange(1, rows.shape[1]), PEERS)
    peers = [
        BlockPeer(rows[k::PEERS, :1], rows[k::PEERS, own], signs[k::PEERS])
        for k, own in enumerate(columns)
    ]
    theta = train_on_blocks(peers).theta
    return _row("block rados of other entities", [np.where(rows @ theta > 0, 1.0, -1.0)], signs)


def _row(what: str, called: list[Floats], signs: Floats) -> Row:
    found = np.array(called)
    return {
        "what others add": what,
        "error": float((found != signs).mean()),
        "called good": float((found > 0).mean()),
    }
