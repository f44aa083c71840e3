"""Checks on published counts that hold for any documents: noise in every line, and shared by none.

Nothing is known of the true counts y, only that each cell came out at y + Z with its own Z. Then,
with alpha = exp(-r),

    P(y + Z = k)             <=  max_z P(Z = z)    =  (1 - alpha) / (1 + alpha)  =  p,
    P(y + Z = y' + Z')       <=  sum_z P(Z = z)^2  =  p^2 (1 + alpha^2) / (1 - alpha^2)  =  a.

So of n cells that were named beforehand (a row, a column, every m-th cell) no more than
Binomial(n, p) have any one value, and of w cells of two rows (or columns, or of one and the other
shifted) no more than Binomial(w, a) agree: by Cauchy and Schwarz whatever y and y' are. Nor do more
of one row and the negative of the other, since -Z' has the law of Z'. With a
threshold t, what is kept is at least Binomial(n, P(Z >= t)), and cells that are kept and agree are
at most Binomial(w, a). A line beyond its bound refutes the noise; levels are divided by the number
of lines, pairs and shifts looked at: a sound release fails with a chance of `LEVEL` at most.

What this can see depends on the data: a column whose true counts are all different hides the lack
of noise. A check that could see nothing, for want of cells, says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import ceil, exp, log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from sottovoce.privacy.audit.findings import Finding
from sottovoce.privacy.noise_law import zero_cell_chance

LEVEL = 1e-6
_FAMILIES = 6
_VALUES = (0, 1, 2)
_STRIDE_CELLS = 1 << 20
_STRIDES = (*range(2, 1025), 1500, 2000, 2048, 2500, 3000, 4000, 4096, 5000, 8192, 10_000, 16_384)
_SHIFTS = (0, 1, -1, 2, -2)
_SIGNS = (1, -1)
_WINDOWS = 8
_LONGEST_LINE = 1 << 16
_MOST_PAIRS = 1 << 10
_CHANCE_PAIRS = 16
_TOGETHER = 32
# Beyond this, noise is so rare that most pairs agree in most cells without sharing any.
_LONGEST_WINDOW = 64
_MIX = np.uint64(0x9E3779B97F4A7C15)


def agreement_chance(rate: Fraction) -> float:
    """The chance that two draws of the noise are equal: sum_z P(Z = z)^2."""
    alpha = exp(-float(rate))
    return ((1 - alpha) / (1 + alpha)) ** 2 * (1 + alpha**2) / (1 - alpha**2)


@dataclass(frozen=True)
class Published:
    """Counts as they were published, and the noise that is claimed to be in them."""

    counts: "sparse.csr_array[np.int64, tuple[int, int]]"
    rate: Fraction
    threshold: int | None = None
    parts: int = 1
    """How many such parts of a release are looked at: they share the level between them."""

    @property
    def level(self) -> float:
        """The chance with which a sound part may fail one of the families of checks."""
        return LEVEL / _FAMILIES / self.parts

    @cached_property
    def most_common(self) -> float:
        """The largest chance of any one value in a cell."""
        return 1 - zero_cell_chance(self.rate)

    @property
    def values(self) -> tuple[int, ...]:
        """The values whose number is bounded; with a threshold only that of zeros is."""
        return _VALUES if self.threshold is None else (0,)

    @property
    def signs(self) -> tuple[int, ...]:
        """Whether lines are compared with others as they are, or negated too."""
        return _SIGNS if self.threshold is None else (1,)

    def chance_of(self, value: int) -> float:
        """The most likely any cell is to have ``value``."""
        if value == 0 and self.threshold is not None:
            return 1 - zero_cell_chance(self.rate, self.threshold)
        return self.most_common


def audit_lines(published: Published) -> list[Finding]:
    """Look for lines without noise, and for noise that two lines share."""
    return [
        _values_in_all(published),
        _values_in(published, "row", axis=1),
        _values_in(published, "column", axis=0),
        _values_in_strides(published),
        *shared_lines(published),
    ]


def shared_lines(published: Published) -> list[Finding]:
    """Look for noise that two rows or two columns share."""
    turned = replace(published, counts=_transpose(published.counts))
    return [_audit_shared_noise(published, "rows"), _audit_shared_noise(turned, "columns")]


def _transpose(
    counts: "sparse.csr_array[np.int64, tuple[int, int]]",
) -> "sparse.csr_array[np.int64, tuple[int, int]]":
    return sparse.csr_array(counts[:_LONGEST_LINE].T)


def _values_in_all(published: Published) -> Finding:
    """Nor have all cells together more of one value than noise allows."""
    counts = published.counts
    cells = counts.shape[0] * counts.shape[1]
    alarm = published.level / len(published.values)
    worst = _Worst(cells)
    for value in published.values:
        most = int(stats.binom.isf(alarm, cells, published.chance_of(value)))
        worst.look(_number_of(counts, value, 1).sum(keepdims=True), most, value)
    return worst.finding("noise in all cells together", "every cell")


def _values_in(published: Published, line: str, *, axis: int) -> Finding:
    """No row (or column) has more cells of one value than noise allows."""
    counts = published.counts
    lines, cells = counts.shape[1 - axis], counts.shape[axis]
    alarm = published.level / (lines * len(published.values))
    worst = _Worst(cells)
    for value in published.values:
        most = int(stats.binom.isf(alarm, cells, published.chance_of(value)))
        worst.look(_number_of(counts, value, axis), most, value)
    return worst.finding(f"noise in every {line}", f"{lines} {line}s of {cells} cells")


def _number_of(
    counts: "sparse.csr_array[np.int64, tuple[int, int]]", value: int, axis: int
) -> NDArray[np.int64]:
    """How many cells of each line have ``value``."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    line = counts.indices if axis == 0 else rows
    found = counts.data != 0 if value == 0 else counts.data == value
    number = np.bincount(line[found], minlength=counts.shape[1 - axis]).astype(np.int64)
    return counts.shape[axis] - number if value == 0 else number


def _values_in_strides(published: Published) -> Finding:
    """Nor are more of the cells at equal distances zeros."""
    counts = published.counts
    rows = max(1, min(counts.shape[0], _STRIDE_CELLS // counts.shape[1]))
    cells = np.asarray(counts[:rows, :_STRIDE_CELLS].toarray()).ravel()
    strides = [m for m in _STRIDES if m < cells.size]
    alarm = published.level / max(1, sum(strides))
    worst = _Worst(cells.size)
    zero = (cells == 0).astype(np.uint8)
    sizes = [zero.size // m for m in strides]
    bounds = np.asarray(stats.binom.isf(alarm, sizes, published.chance_of(0)), np.int64)
    for m, each, most in zip(strides, sizes, bounds.tolist(), strict=True):
        if most < each:
            number = zero[: each * m].reshape(each, m).sum(axis=0, dtype=np.int64)
            worst.look(number, most, 0, each)
    return worst.finding(
        "noise at every distance", f"{len(strides)} distances between {cells.size} cells"
    )


class _Worst:
    """The line that comes nearest to its bound, or is farthest beyond it."""

    def __init__(self, cells: int) -> None:
        self._cells = cells
        self._margin: int | None = None
        self._seen = ""

    def look(
        self, number: NDArray[np.int64], most: int, value: int, cells: int | None = None
    ) -> None:
        """Look at lines with ``number`` cells of ``value``, of which at most ``most`` may be."""
        cells = self._cells if cells is None else cells
        if most >= cells or not number.size:
            return
        margin = most - int(number.max())
        if self._margin is None or margin < self._margin:
            self._margin = margin
            self._seen = (
                f"up to {int(number.max())} of {cells} cells are {value}, at most {most} may be"
            )

    def finding(self, name: str, looked_at: str) -> Finding:
        """What was seen; a check that could have seen nothing holds, and says so."""
        if self._margin is None:
            return Finding(name, holds=True, detail=f"{looked_at}: too few cells to see a lack")
        return Finding(name, holds=self._margin >= 0, detail=f"{looked_at}: {self._seen}")


def _audit_shared_noise(published: Published, lines: str) -> Finding:
    """No two lines have the same noise, nor one the other's negative, nor the same but shifted."""
    name = f"{lines} with noise of their own"
    number, width = published.counts.shape
    chance = agreement_chance(published.rate)
    width = min(width, _LONGEST_LINE)
    alarm = published.level / max(1, number * number * len(_SHIFTS) * len(_SIGNS))
    least = int(stats.binom.isf(alarm, width, chance)) + 1
    looked_at = f"{number} {lines}, any two, negated too, shifted by up to {max(_SHIFTS)}"
    if least > width - max(_SHIFTS) or number < 2:  # noqa: PLR2004 - a pair
        return Finding(name, holds=True, detail=f"{looked_at}: too short to see any sharing")
    if _window(chance, number) > _LONGEST_WINDOW:
        return Finding(name, holds=True, detail=f"{looked_at}: too little noise to see any sharing")
    seen = 0
    for agreeing in _agreements(published, chance, width):
        seen = max(seen, agreeing)
        if seen >= least:
            break
    return Finding(
        name,
        holds=seen < least,
        detail=f"{looked_at}: up to {seen} of {width} cells agree, fewer than {least} may",
    )


def _window(chance: float, number: int) -> int:
    """So many cells that only a few pairs of lines agree in all of them by chance."""
    return max(4, ceil(log(max(2, number * number / _CHANCE_PAIRS)) / -log(chance)))


def _agreements(published: Published, chance: float, width: int) -> Iterator[int]:
    """In how many cells pairs agree that agree in one of some windows: the likeliest to share."""
    cells = sparse.csr_array(published.counts[:, :width])
    columns = sparse.csc_array(cells)
    columns.sum_duplicates()
    window = min(width - max(_SHIFTS), _window(chance, published.counts.shape[0]))
    empty = _hash_rows(sparse.csc_array((1, width), dtype=np.int64), 0, window)[0]
    starts = np.linspace(max(_SHIFTS), width - window - max(_SHIFTS), _WINDOWS).astype(int)
    for start in dict.fromkeys(np.clip(starts, 0, width - window).tolist()):
        own = _hash_rows(columns, start, window)
        for shift, sign in product(_SHIFTS, published.signs):
            if 0 <= start + shift <= width - window:
                same = (shift, sign) == (0, 1)
                other = own if same else _hash_rows(columns, start + shift, window, sign)
                pairs = _pairs(own, other, empty if published.threshold else None)
                for begin in range(0, len(pairs), _TOGETHER):
                    some = pairs[begin : begin + _TOGETHER]
                    yield _agreeing(cells, some, shift, sign, zeros=published.threshold is None)


def _hash_rows(
    columns: "sparse.csc_array[np.int64]", start: int, window: int, sign: int = 1
) -> NDArray[np.uint64]:
    """A number for what each line, times ``sign``, has in the window."""
    found = np.zeros(columns.shape[0], np.uint64)
    for at in range(start, start + window):
        cells = slice(columns.indptr[at], columns.indptr[at + 1])
        column = np.zeros(columns.shape[0], np.int64)
        column[columns.indices[cells]] = sign * columns.data[cells]
        found = (found ^ (column.astype(np.uint64) + _MIX)) * _MIX
        found ^= found >> np.uint64(29)
    return found


def _pairs(
    own: NDArray[np.uint64], other: NDArray[np.uint64], but: np.uint64 | None
) -> NDArray[np.int64]:
    """Lines with the same number, ``but`` for this one, each with the next ones of its kind."""
    order = np.argsort(other, kind="stable")
    place = np.searchsorted(other[order], own)
    found = []
    for step in (0, 1):
        at = np.minimum(place + step, order.size - 1)
        match = np.flatnonzero((other[order[at]] == own) & (order[at] != np.arange(own.size)))
        match = match if but is None else match[own[match] != but]
        found.append(np.column_stack([match, order[at[match]]]))
    return np.concatenate(found)[:_MOST_PAIRS]


def _agreeing(
    cells: "sparse.csr_array[np.int64, tuple[int, int]]",
    pairs: NDArray[np.int64],
    shift: int,
    sign: int,
    *,
    zeros: bool,
) -> int:
    """In how many cells the most alike of the pairs agree; ``zeros``: those of both count, too."""
    width = cells.shape[1]
    first, second = (cells[lines].toarray() for lines in pairs.T)
    first = first[:, max(0, -shift) : width - max(0, shift)]
    second = sign * second[:, max(0, shift) : width - max(0, -shift)]
    same = first == second
    if not zeros:
        same &= first != 0
    return int(np.count_nonzero(same, axis=1).max())
