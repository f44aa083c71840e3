"""What an audit found, and two checks on any noise: that it is fresh, and on the integers.

A `Finding` is a small value that prints and says whether a claim survives it; an `AuditReport`
holds when all of its findings do. Noise that is drawn from a reused keystream shows as blocks that
repeat (`audit_freshness`). Floating-point noise has a porous support, in which single outputs give
a neighbour away outright (`audit_lattice`, `audit_porous_support`).

Cells in classes, by all that tells them apart before their noise is drawn.

A class must not depend on the noise, or sound noise would fail. Each kind of class is a label for
every cell; labels that are the same in a whole row (or column) have a single column (or row).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_table

_CHANCE_OF_A_REPEAT = 1e-12
_CALLS = 3
_SAMPLES = 1 << 20
_OUTPUTS = 2000


@dataclass(frozen=True)
class Finding:
    """One check: what was claimed, what was seen, and whether the claim survives it."""

    name: str
    holds: bool
    detail: str
    claim: float | None = None
    bound: float | None = None
    is_figure: bool = False
    """Whether it is no check, but a figure that whoever answers for the release should know."""

    @property
    def tightness(self) -> float | None:
        """The lower bound on epsilon as a share of the claim: near 1, the check was powerful."""
        if self.claim is None or self.bound is None:
            return None
        return self.bound / self.claim

    def name_way(self, way: str) -> "Finding":
        """The same finding, with the way in which the noise was drawn in its name."""
        return replace(self, name=f"{self.name} ({way})")

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'FAILS'}  {self.name}: {self.detail}"


@dataclass(frozen=True)
class AuditReport:
    """The findings of one audit; it holds when each of them does.

    >>> print(AuditReport((Finding("noise is there", True, "seen in 3 of 3 rows"),)))
    holds  noise is there: seen in 3 of 3 rows
    """

    findings: tuple[Finding, ...]

    @property
    def holds(self) -> bool:
        """Whether no check contradicts the claim."""
        return all(finding.holds for finding in self.findings)

    def _repr_html_(self) -> str:
        rows = [
            {"check": each.name, "holds": each.holds, "detail": each.detail}
            for each in self.findings
        ]
        return html_table(rows, "The claim holds" if self.holds else "The claim is refuted")

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def join_reports(reports: Sequence[AuditReport]) -> AuditReport:
    """Each check once: as it failed first, or as the first part passed it."""
    if len(reports) == 1:
        return reports[0]
    merged = []
    for same in zip(*(report.findings for report in reports), strict=True):
        told = next((finding for finding in same if not finding.holds), same[0])
        merged.append(replace(told, detail=f"of {len(same)} parts, one: {told.detail}"))
    return AuditReport(tuple(merged))


def audit_freshness(
    rate: Fraction, draw: Callable[[int], NDArray[np.signedinteger]]
) -> AuditReport:
    """Look for repeated blocks within and between several calls of ``draw``."""
    draws = (draw(_SAMPLES) for _ in range(_CALLS))
    return AuditReport((repeated_blocks(draws, block_length(rate)),))


def repeated_blocks(draws: Iterable[NDArray[np.signedinteger]], length: int) -> Finding:
    """Look for blocks of ``length`` draws that stand twice in any of ``draws``."""
    blocks = [block for noise in draws for block in _blocks(noise, length)]
    repeated = len(blocks) - len(set(blocks))
    return Finding(
        name="fresh noise",
        holds=repeated == 0,
        detail=f"{repeated} of {len(blocks)} blocks of {length} draws were seen before",
    )


def block_length(rate: Fraction) -> int:
    """How long a block must be never to repeat by chance: a power of two.

    Two draws agree with probability sum p^2 = ((1-a)/(1+a))^2 (1+a^2)/(1-a^2); a block of that
    many draws repeats among B blocks with probability at most B^2/2 (sum p^2)^length.
    """
    alpha = math.exp(-float(rate))
    agree = ((1 - alpha) / (1 + alpha)) ** 2 * (1 + alpha**2) / (1 - alpha**2)
    pairs = (_CALLS * _SAMPLES) ** 2 / 2
    wanted = math.log(_CHANCE_OF_A_REPEAT / pairs) / math.log(agree)
    return min(_SAMPLES // 4, 1 << math.ceil(math.log2(max(wanted, 2))))


def _blocks(noise: NDArray[np.signedinteger], length: int) -> list[bytes]:
    whole = noise[: noise.size // length * length].reshape(-1, length)
    return [row.tobytes() for row in whole]


class FloatNoise(Protocol):
    """Noise in floating point whose draws can be enumerated."""

    def release(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """Noised counts."""

    def reachable(self, outputs: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
        """Which outputs some draw gives from ``count``."""


def audit_lattice(noise: Callable[[NDArray[np.int64]], NDArray[np.generic]]) -> AuditReport:
    """Integer counts must come out as integers: then the support is the same for all of them."""
    kind = noise(np.zeros(_OUTPUTS, dtype=np.int64)).dtype.kind
    finding = Finding(
        name="support on the integers",
        holds=kind in "iu",
        detail="outputs are integers" if kind in "iu" else "outputs are floating-point numbers",
    )
    return AuditReport((finding,))


def audit_porous_support(noise: FloatNoise, count: int = 1, neighbour: int = 0) -> AuditReport:
    """Count outputs of ``count`` that ``neighbour`` can never give: each is an infinite epsilon."""
    outputs = noise.release(np.full(_OUTPUTS, count, dtype=np.int64))
    own = noise.reachable(outputs, count)
    betraying = int(np.count_nonzero(own & ~noise.reachable(outputs, neighbour)))
    finding = Finding(
        name="support shared by neighbours",
        holds=betraying == 0,
        detail=f"{betraying} of {_OUTPUTS} outputs cannot come from the neighbour",
    )
    return AuditReport((finding,))


Cells: TypeAlias = NDArray[np.int64]

_VALUES = 40
_BLOCKS = (2, 3, 4, 7, 10, 16, 32, 64, 128)
_TURNS = (*range(2, 33), 64, 100, 128)
_STRIDES = (*range(2, 18), 20, 24, 25, 32, 50, 60, 64, 100, 127, 128, 200, 250, 256, 500, 512,
            1000, 1024, 2000, 2048, 4096)  # fmt: skip
VALUE, ROW, COLUMN, PLACE = (
    f"noise that is the law's {where}"
    for where in ("at every true count", "in every row", "in every column", "at every place")
)


@dataclass(frozen=True, eq=False)
class Known:
    """Noise, the true counts it was added to, and of what words; which rows were drawn together."""

    noise: Cells
    truth: Cells
    rate: Fraction
    words: Cells
    """The counts before any map, as many as rows; without compression those of ``truth``."""
    draws: Cells
    """The number of each row's draw."""


@dataclass(frozen=True, eq=False)
class CellClasses:
    """A label for each cell, and what the cells of a label are called."""

    family: str
    name: str
    labels: Cells

    def name_class(self, label: int) -> str:
        """What a class is called, in figures."""
        return f"{self.name} {label}"


def classes_of(known: Known) -> Iterator[CellClasses]:
    """Every kind of class."""
    yield from _by_value(known.truth)
    yield from _by_row(known)
    yield from _by_column(known.truth)
    yield from _by_place(known.truth)


def _by_value(truth: Cells) -> Iterator[CellClasses]:
    rows, columns = (np.arange(n) for n in truth.shape)
    few = np.clip(truth, 0, 3)
    yield from by_count(truth)
    for rank, name in ((rows[:, None], "row"), (columns[None, :], "column")):
        share = rank * 10 // max(1, rank.size)
        yield CellClasses(VALUE, f"true count up to 3, and {name}'s tenth: 4 *", 4 * share + few)
        yield CellClasses(VALUE, f"true count up to 3, and odd {name}: 4 *", 4 * (rank % 2) + few)
    for name, near in (
        ("left", np.pad(few, ((0, 0), (1, 0)))[:, :-1]),
        ("right", np.pad(few, ((0, 0), (0, 1)))[:, 1:]),
        ("upper", np.pad(few, ((1, 0), (0, 0)))[:-1]),
        ("lower", np.pad(few, ((0, 1), (0, 0)))[1:]),
    ):
        yield CellClasses(VALUE, f"true count up to 3, and {name} neighbour's: 4 *", 4 * near + few)
    order = np.where(truth > 0, np.cumsum(truth > 0, axis=1), 0)
    held = (truth > 0).sum(axis=1, keepdims=True)
    yield CellClasses(VALUE, "turn among the row's words:", np.minimum(order, 63))
    last = np.where(truth > 0, held - order + 1, 0)
    yield CellClasses(VALUE, "turn from the end among the row's words:", np.minimum(last, 63))
    top = (truth > 0) & (truth == truth.max(axis=1, keepdims=True))
    yield CellClasses(VALUE, "the row's most frequent word: 1, else 0:", top.astype(np.int64))


def by_count(truth: Cells) -> Iterator[CellClasses]:
    """By the true count itself."""
    yield CellClasses(VALUE, "true count (or a power of 2 above)", _size_classes(truth))
    yield CellClasses(VALUE, "true count, of the most frequent ones:", _frequent(truth))
    for by in (2, 3, 5, 10, 16):
        left = np.where(truth, truth % by, by)
        yield CellClasses(VALUE, f"remainder of true counts by {by}:", left)


def _by_row(known: Known) -> Iterator[CellClasses]:
    truth, rows = known.truth, np.arange(known.truth.shape[0])
    yield from _by_line(ROW, "row", truth, rows)
    yield CellClasses(
        ROW, "true count up to 2 in row: 3 *", 3 * rows[:, None] + np.clip(truth, 0, 2)
    )
    _, first, same = np.unique(known.words, axis=0, return_index=True, return_inverse=True)
    alike = (first[same.ravel()] != rows).astype(np.int64)
    yield CellClasses(ROW, "rows like an earlier one: 1, else 0:", alike[:, None])
    within = np.concatenate([np.arange(n) for n in np.bincount(known.draws) if n])
    sizes = np.bincount(known.draws)[known.draws]
    yield CellClasses(ROW, "draw", known.draws[:, None])
    yield CellClasses(ROW, "row of its draw (or 255)", np.minimum(within, 255)[:, None])
    left = np.minimum(sizes - within, 255)
    yield CellClasses(ROW, "row from the end of its draw (or 255)", left[:, None])
    width = truth.shape[1]
    cell = within[:, None] * width + np.arange(width)[None, :]
    last = sizes[:, None] * width - cell
    yield CellClasses(PLACE, "cell of its draw (or 63)", np.minimum(cell, 63))
    yield CellClasses(PLACE, "cell from the end of its draw (or 63)", np.minimum(last, 63))
    yield CellClasses(
        ROW, "rows drawn together (or a power of 2 above)", _size_classes(sizes)[:, None]
    )
    for turns in (2, 3, 4, 5, 7, 8, 10, 16):
        yield CellClasses(ROW, f"draw, of every {turns}:", (known.draws % turns)[:, None])


def _by_column(truth: Cells) -> Iterator[CellClasses]:
    columns = np.arange(truth.shape[1])
    for each in _by_line(COLUMN, "column", truth.T, columns):
        yield CellClasses(each.family, each.name, each.labels.T)
    few = np.clip(truth, 0, 2)
    yield CellClasses(COLUMN, "true count up to 2 in column: 3 *", 3 * columns[None, :] + few)


def _by_line(family: str, line: str, truth: Cells, number: Cells) -> Iterator[CellClasses]:
    """By the line's number, and by what is true of all of its cells together."""
    totals, held = truth.sum(axis=1), (truth > 0).sum(axis=1)
    of = {
        "": number,
        "whose total (or a power of 2 above) is": _size_classes(totals),
        "whose number of words (or a power of 2 above) is": _size_classes(held),
        "whose largest count (or a power of 2 above) is": _size_classes(truth.max(axis=1)),
        "with an odd total: 1, even: 0:": totals % 2,
        "whose total divided by 10 leaves": totals % 10,
        "with an odd number of words: 1, even: 0:": held % 2,
    }
    of |= {f"of every {m}:": number % m for m in _TURNS if m < number.size}
    of |= {f"block of {m}:": number * m // number.size for m in _BLOCKS if m < number.size}
    for name, labels in of.items():
        yield CellClasses(family, f"{line}s {name}" if name else line, labels[:, None])


def _by_place(truth: Cells) -> Iterator[CellClasses]:
    """By the order in which cells, and those with a count, are drawn."""
    place = np.arange(truth.size).reshape(truth.shape)
    stored = np.cumsum(truth > 0).reshape(place.shape)
    for name, order in (("cell", place), ("cell with a count", stored)):
        chosen = (truth > 0) | (name == "cell")
        number = int(chosen.sum())
        for m in _STRIDES if name == "cell" else _STRIDES[:20]:
            if 16 * m < number:
                yield CellClasses(
                    PLACE, f"every {m}th {name}, from", np.where(chosen, order % m, m)
                )
        blocks = np.where(chosen, order * 64 // max(1, number + 1), 64)
        yield CellClasses(PLACE, f"64th of all, {name}:", blocks)
        yield CellClasses(PLACE, f"first ones, {name}:", np.minimum(order, 31))
    rows, columns = (np.arange(n) for n in truth.shape)
    yield CellClasses(PLACE, "diagonal", (rows[:, None] + columns[None, :]) % 64)
    yield CellClasses(PLACE, "other diagonal", (rows[:, None] - columns[None, :]) % 64)
    tiles = 8 * (rows * 8 // rows.size)[:, None] + (columns * 8 // columns.size)[None, :]
    yield CellClasses(PLACE, "tile of 8 by 8", tiles)


def _size_classes(numbers: Cells) -> Cells:
    """Small numbers as they are; larger ones by their powers of 2, from 64 on."""
    large = 58 + np.floor(np.log2(np.maximum(numbers, 64))).astype(np.int64)
    return np.where(numbers < 64, numbers, large)  # noqa: PLR2004 - as said


def _frequent(truth: Cells) -> Cells:
    """The rank of each count among the most frequent ones, 0 for the others."""
    values, place, number = np.unique(truth, return_inverse=True, return_counts=True)
    ranks = np.zeros(values.size, np.int64)
    ranks[np.argsort(-number, kind="stable")[:_VALUES]] = np.arange(
        1, min(_VALUES, values.size) + 1
    )
    return np.asarray(ranks[place].reshape(truth.shape), np.int64)
