"""Ways to publish counts, each through the function that a release draws by; and unlike counts.

A fault shows on some ways and some counts only, so that whoever looks for faults draws from all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sottovoce_spark._noise import Block, BlockName, NoiseTask
from sottovoce_spark.sharded_job import new_drawing

from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.counts import Counts
from sottovoce.release.plan import Released, ReleasePlan, ReleaseSettings

Make: TypeAlias = Callable[[], Any]
SHARDS = 4


@dataclass(frozen=True)
class Way:
    """One of the ways that a release draws its noise."""

    name: str
    rate: Fraction
    settings: dict[str, Any] = field(default_factory=dict)
    third: bool = False
    """Whether words are summed into a third as many columns."""
    sharded: bool = False

    def plan(self, words: int) -> ReleasePlan:
        """The release of so many words this way."""
        columns = max(2, words // 3) if self.third else None
        settings = ReleaseSettings(
            LimitedPrecision.at_rate(self.rate), columns=columns, **self.settings
        )
        return ReleasePlan(settings, tuple(f"word{place}" for place in range(words)))

    def publish(self, counts: Counts) -> Released:
        """What a release of ``counts`` publishes: drawn again at each call."""
        plan = self.plan(counts.shape[1])
        return published_in_shards(plan, counts) if self.sharded else plan.draw(counts)


def published_in_shards(plan: ReleasePlan, counts: Counts, shards: int = SHARDS) -> Released:
    """What workers write of ``counts``, which are told apart by their digests."""
    drawing = new_drawing(plan, _Totals(counts))  # type: ignore[arg-type] # nothing else is asked
    edges = np.linspace(0, counts.shape[0], min(shards, counts.shape[0]) + 1).astype(int).tolist()
    parts = [counts[a:b] for a, b in pairwise(edges)]
    blocks = [Block(k, edges[k], str(part.toarray().tolist())) for k, part in enumerate(parts)]
    named = {BlockName("file", k, 0): block for k, block in enumerate(blocks)}
    task = NoiseTask.from_plan(drawing.secret, named, drawing.maps, plan)
    noised = [task.add_noise(block, part) for block, part in zip(blocks, parts, strict=True)]
    stacked = sparse.csr_array(sparse.vstack(noised, format="csr"))
    return Released(stacked, drawing.maps, drawing.frequencies)


@dataclass(frozen=True, eq=False)
class _Totals:
    counts: Counts

    def frequencies_from(self, prior: str) -> Counts:
        return sparse.csr_array(np.asarray(self.counts.sum(axis=0)).reshape(1, -1))


def true_columns(counts: Counts, released: Released) -> np.ndarray[Any, np.dtype[np.int64]]:
    """What the released columns would be without noise."""
    columns = np.zeros(released.counts.shape, np.int64)
    for group, each in enumerate(released.maps):
        rows = slice(group, None, len(released.maps))
        columns[rows] = each.compress(sparse.csr_array(counts[rows])).toarray()
    return columns


# Zero cells are leapt over from a rate of 2.7 on, and with a threshold; below, all are visited.
WAYS = {
    way.name: way
    for way in (
        Way("leaping", Fraction(3)),
        Way("visiting", Fraction(1, 2)),
        Way("thresholded", Fraction(1), {"threshold": 3}),
        Way("constant-work", Fraction(1), {"constant_work": True}),
        Way("constant-work thresholded", Fraction(1), {"constant_work": True, "threshold": 3}),
        Way("summed", Fraction(1), {"compression": "random", "seed": 1}, third=True),
        Way("summed leaping", Fraction(3), {"compression": "random", "seed": 1}, third=True),
        Way(
            "several maps", Fraction(1), {"compression": "random", "seed": 1, "maps": 4}, third=True
        ),
        Way("local prior", Fraction(1), {"compression": "frequency", "prior": "local"}, third=True),
        Way(
            "central prior",
            Fraction(1),
            {"compression": "frequency", "prior": "central"},
            third=True,
        ),
        Way("sharded", Fraction(1), sharded=True),
        Way("sharded leaping", Fraction(3), sharded=True),
        Way("sharded thresholded", Fraction(1), {"threshold": 3}, sharded=True),
        Way("sharded constant-work", Fraction(1), {"constant_work": True}, sharded=True),
        Way("odd rate", Fraction(1, 3)),
    )
}


def unlike_counts(rows: int = 200, words: int = 60, seed: int = 0) -> dict[str, Counts]:
    """Counts that differ in what a fault may hang on; none is anybody's."""
    generator = np.random.default_rng(seed)
    made: dict[str, Make] = {
        "nothing at all": lambda: np.zeros((rows, words)),
        "a single one": lambda: _at(rows, words, {(rows // 2, words // 2): 1}),
        "one in the first cell": lambda: _at(rows, words, {(0, 0): 1}),
        "one in the last cell": lambda: _at(rows, words, {(rows - 1, words - 1): 1}),
        "few ones": lambda: generator.random((rows, words)) < 0.03,
        "half ones": lambda: generator.random((rows, words)) < 0.5,
        "only sensitive ones": lambda: np.ones((rows, words)),
        "twos only": lambda: np.full((rows, words), 2),
        "zero to three": lambda: generator.integers(0, 4, (rows, words)),
        "around the threshold": lambda: generator.integers(1, 5, (rows, words)),
        "large and odd": lambda: 2 * generator.integers(20, 500, (rows, words)) + 1,
        "very large": lambda: _at(rows, words, {(1, 1): 2**40, (2, words - 1): 2**33 + 1}),
        "few words often": lambda: generator.poisson(8 / np.arange(1, words + 1), (rows, words)),
        "words that nobody uses": lambda: generator.poisson(1, (rows, words)) * _even(words),
        "documents without words": lambda: (
            generator.poisson(1, (rows, words)) * _even(rows)[:, None]
        ),
        "short and long documents": lambda: generator.poisson(_rising(rows), (rows, words)),
        "equal documents": lambda: np.tile(generator.poisson(0.5, words), (rows, 1)),
        "one document": lambda: generator.poisson(1, (1, rows * words)),
        "two documents": lambda: generator.poisson(0.2, (2, rows * words // 2)),
        "two words": lambda: generator.poisson(1, (rows * words // 2, 2)),
        "a square of seven": lambda: generator.poisson(1, (7, 7)),
        "more than a block": lambda: generator.random((512, 300)) < 0.02,
        "enough for two threads": lambda: generator.random((1024, 600)) < 0.01,
    }
    return {name: sparse.csr_array(make().astype(np.int64)) for name, make in made.items()}


def neighbours(counts: Counts, seed: int = 0) -> dict[str, tuple[Counts, int]]:
    """Counts one document of which differs, and by how many words."""
    row, column = counts.shape[0] // 2, counts.shape[1] // 2
    generator = np.random.default_rng(seed)
    passage = generator.multinomial(12, np.full(counts.shape[1], 1 / counts.shape[1]))
    changes = {
        "a word more": _at(*counts.shape, {(row, column): 1}),
        "a word more in the last cell": _at(*counts.shape, {(-1, -1): 1}),
        "a word twice more": _at(*counts.shape, {(row, column): 2}),
        "a passage more": np.zeros(counts.shape, np.int64),
    }
    changes["a passage more"][0] += passage
    return {
        name: (sparse.csr_array(counts + sparse.csr_array(change)), int(change.sum()))
        for name, change in changes.items()
    }


def _at(rows: int, words: int, cells: dict[tuple[int, int], int]) -> Any:  # noqa: ANN401 - an array
    made = np.zeros((rows, words), np.int64)
    for place, count in cells.items():
        made[place] = count
    return made


def _even(number: int) -> Any:  # noqa: ANN401 - an array
    return np.arange(number) % 2 == 0


def _rising(rows: int) -> Any:  # noqa: ANN401 - an array
    return np.geomspace(0.01, 4, rows)[:, None]
