"""Unbiased sums of a release over its documents, and how far the noise may have moved them.

A released cell is z = c + noise, every cell's noise independent, of variance v and fourth moment m4
that follow from the public rate. Over D documents, with s_i = sum_d c_di^2 and t_i = sum_d c_di:

    totals    sum_d z_di                       for t_i                     D v
    squares   sum_d z_di^2 - D v               for s_i                     F + 4 v s_i
    pairs     sum_d z_di z_dj                  for sum_d c_di c_dj         D v^2 + v (s_i + s_j)
              sum_d z_di^2 - D v - sum_d z_di  for sum_d c_di (c_di - 1)   F + v (4 s_i - 4 t_i + D)

are unbiased for what stands beside them, with the variance that stands last; F = D (m4 - v^2).
The diagonal of ``pairs`` counts pairs of *different* tokens, as the rest of it does. The variances
are those of the noise alone, for the documents as they are; s_i and t_i are estimated in them, and
cut at what counts can be. Clipping cells at zero first would bias every one of these sums.

How many dimensions of meaning stand above the noise of a release.

Rows of a release are signal and noise: column i has the variance w_i, of the noise and of what
words do by chance, bursts included; it is that of the column's cells. Divided by sqrt(w_i w_j),
what chance alone makes of the pairs of columns is a matrix whose largest eigenvalue is near

    D (2 sqrt(M/D) + M/D) = 2 sqrt(D M) + M

for D documents and M columns: the noise edge (v (2 sqrt(D M) + M) before the division, where there
is noise only). A dimension is seen when its eigenvalue stands above
the edge; one of strength l (its signal a document, divided likewise) does so if l > sqrt(M/D), and
then appears at (l + 1)(1 + (M/D)/l) - 1. So documents buy back what noise costs: at half the rate
a dimension needs sixteen times the documents, or documents of twice the length.

The diagonal is not believed: there a word stands beside itself, which people repeat for reasons of
their own, and every such word would pass for a dimension. It is filled with what the dimensions
that are seen say about it, a few times over (as in heteroskedastic principal components).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy import linalg, sparse

from sottovoce._notebook import html_facts
from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import positive_integer
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.counts import Counts, ReleasedRows

_BLOCK_CELLS = 1 << 22
# Whole numbers up to here are exact in 32 bits of floating point, and so are their sums.
_EXACT = float(1 << 24)
MOST_COLUMNS = 8192
"""Beyond, the pairs of all columns would not fit the memory of an ordinary machine."""


@runtime_checkable
class RowsElsewhere(ReleasedRows, Protocol):
    """Released counts that are added up where they lie, on a cluster."""

    def sums(self, columns: Integers | None, *, pairs: bool) -> tuple[Floats, Floats]:
        """Sums over the documents of (some of) the columns; and of their products by pairs."""

    def whole(self) -> Counts:
        """All of them, in memory."""


Rows: TypeAlias = "Counts | ReleasedRows"


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over the documents of a release, unbiased, and the variance that its noise gives them.

    >>> import numpy as np
    >>> from scipy import sparse
    >>> cells = sparse.csr_array(np.array([[1, 0], [2, -1]]))
    >>> moments = released_moments(cells, NoiseLaw(1.0))
    >>> moments.totals, moments.pairs[0, 1], round(moments.total_variance, 2)
    (array([ 3., -1.]), np.float64(-2.0), 3.68)
    """

    law: NoiseLaw
    documents: int
    totals: Floats
    """How often each column's words were used, one per column."""
    squares: Floats
    """The sum of each column's squared counts."""
    pairs: Floats
    """How often two different tokens fall into columns i and j of one document; symmetric."""

    @property
    def total_variance(self) -> float:
        """Of each of ``totals``: D v."""
        return self.documents * self.law.variance

    @property
    def mean_length(self) -> float:
        """Counted words a document, as far as the noise lets one say."""
        return float(self.totals.sum()) / self.documents

    def pair_variances(self) -> Floats:
        """Of each of ``pairs``."""
        v, squares, totals = self.law.variance, self._squares(), self._totals()
        variances = v * (squares[:, None] + squares[None, :]) + self.documents * v * v
        own = v * np.maximum(4 * squares - 4 * totals + self.documents, 0)
        np.fill_diagonal(variances, own + self._fourth())
        return np.asarray(variances)

    def pair_variance(self, first: Integers, second: Integers) -> Floats:
        """Of the pairs of columns ``first`` and ``second``, one by one, all different."""
        v = self.law.variance
        return np.asarray(v * self.of_both(first, second)[0] + self.documents * v * v)

    def of_both(self, first: Integers, second: Integers) -> tuple[Floats, Floats]:
        """The squares and the totals of two columns together, pair by pair."""
        squares, totals = self._squares(), self._totals()
        return squares[first] + squares[second], totals[first] + totals[second]

    def square_variances(self) -> Floats:
        """Of each of ``squares``."""
        return np.asarray(4 * self.law.variance * self._squares() + self._fourth())

    def _fourth(self) -> float:
        return self.documents * (self.law.fourth_moment - self.law.variance**2)

    def _totals(self) -> Floats:
        return np.maximum(self.totals, 0)

    def _squares(self) -> Floats:
        """At least the totals, since whole numbers are at most their squares."""
        return np.maximum(self.squares, self._totals())

    def __add__(self, other: "Moments") -> "Moments":
        """Those of both together, of the same columns and noise."""
        if self.law != other.law or self.totals.shape != other.totals.shape:
            raise ParameterError("moments add up only for the same noise and the same columns.")
        return Moments(
            self.law,
            self.documents + other.documents,
            self.totals + other.totals,
            self.squares + other.squares,
            self.pairs + other.pairs,
        )


def released_moments(counts: Rows, law: NoiseLaw, *, columns: Integers | None = None) -> Moments:
    """The moments of released ``counts``, or of some of their ``columns``, block by block."""
    documents, width = counts.shape
    kept = width if columns is None else len(columns)
    check_columns(kept)
    totals, products = np.zeros(kept), np.zeros((kept, kept))
    if isinstance(counts, RowsElsewhere):
        totals, products = counts.sums(columns, pairs=True)
    else:
        for block in row_blocks(counts, max(1, _BLOCK_CELLS // width)):
            add_block(block, columns, totals, products)
    squares = np.diagonal(products) - documents * law.variance
    np.fill_diagonal(products, squares - totals)
    return Moments(law, documents, totals, squares, products)


def add_block(block: Counts, columns: Integers | None, totals: Floats, products: Floats) -> None:
    """Add the sums of some rows; all of them are whole numbers, so that no order rounds."""
    dense = _dense(block, columns)
    totals += dense.sum(axis=0, dtype=np.float64)
    products += dense.T @ dense


def released_totals(counts: Rows) -> Floats:
    """The totals alone, whatever the number of columns."""
    if isinstance(counts, RowsElsewhere):
        return counts.sums(None, pairs=False)[0]
    totals = np.zeros(counts.shape[1])
    for block in row_blocks(counts, max(1, _BLOCK_CELLS // counts.shape[1])):
        totals += block.sum(axis=0)
    return totals


def row_blocks(counts: Rows, rows: int) -> Iterator[Counts]:
    """The rows, so many at a time."""
    if not isinstance(counts, sparse.csr_array):
        yield from counts.blocks(rows)
        return
    for first in range(0, counts.shape[0], rows):
        yield counts[first : first + rows]


def check_columns(columns: int) -> None:
    """Refuse pairs that no ordinary memory holds."""
    if columns > MOST_COLUMNS:
        raise ParameterError(
            f"pairs are kept for at most {MOST_COLUMNS:,} columns, got {columns:,}; name some."
        )


def _dense(block: Counts, columns: Integers | None) -> Floats:
    """The block's cells; in half the room where every sum of products is exact there."""
    chosen = block if columns is None else block[:, columns]
    dense = chosen.toarray().astype(np.float64)
    largest = np.einsum("ij,ij->j", dense, dense).max(initial=0)
    # No partial sum of products exceeds the largest sum of squares (Cauchy and Schwarz).
    return dense.astype(np.float32) if largest < _EXACT else dense


MOST_METERED = 2048
"""Of more columns the meter looks at the most frequent ones: its work grows with their cube."""
_FILLS = 6


def noise_edge(documents: float, columns: int) -> float:
    """The largest eigenvalue that noise alone makes, a document: 2 sqrt(M/D) + M/D."""
    share = columns / documents
    return float(2 * share**0.5 + share)


def strength(eigenvalues: Floats, documents: float, columns: int) -> Floats:
    """The signal l of each eigenvalue above the edge: where l + M/D + (M/D)/l is the eigenvalue."""
    share = columns / documents
    apart = eigenvalues - share
    return np.asarray((apart + np.sqrt(np.maximum(apart**2 - 4 * share, 0))) / 2)


def clarity(strengths: Floats, documents: float, columns: int) -> Floats:
    """How much of a dimension's direction is right: the squared cosine, 0 at the edge, up to 1.

    (1 - (M/D)/l^2) / (1 + (M/D)/l) for a signal l, and 0 below sqrt(M/D), where nothing is seen.
    """
    share = columns / documents
    seen = np.maximum(strengths, share**0.5)
    return np.asarray((1 - share / seen**2) / (1 + share / seen))


@dataclass(frozen=True, eq=False, repr=False)
class SignalMeter:
    """What stands above the noise of a release.

    >>> import numpy as np
    >>> meter = SignalMeter(1000, 100, np.array([4.0, 1.2, 0.3]))
    >>> meter.dimensions, round(meter.edge, 3)
    (2, 0.732)
    >>> print(meter)
    2 dimensions stand above the noise of 1,000 documents by 100 columns.
    """

    documents: int
    columns: int
    eigenvalues: Floats = field(repr=False)
    """Of the pairs of columns, a document and in units of their noise; the largest first."""

    @property
    def edge(self) -> float:
        """The largest eigenvalue that noise alone would make."""
        return noise_edge(self.documents, self.columns)

    @property
    def dimensions(self) -> int:
        """How many eigenvalues stand above the edge; the first is that some words are frequent."""
        return int((self.eigenvalues > self.edge).sum())

    @property
    def clarities(self) -> Floats:
        """How much of each of these dimensions is signal, from 0 to 1."""
        seen = self.eigenvalues[: self.dimensions]
        strengths = strength(seen, self.documents, self.columns)
        return clarity(strengths, self.documents, self.columns)

    def warning(self, asked: int) -> str | None:
        """What to tell whoever asks for more topics than stand above the noise; None: nothing."""
        positive_integer(asked, "topics")
        if asked <= self.dimensions:
            return None
        return (
            f"{asked} topics were asked for, but the noise of this release leaves "
            f"{self.dimensions}: topics beyond these are drawn by noise."
        )

    def in_words(self) -> str:
        """The finding as a sentence."""
        what = {0: "No dimension stands", 1: "1 dimension stands"}.get(
            self.dimensions, f"{self.dimensions:,} dimensions stand"
        )
        return (
            f"{what} above the noise of {self.documents:,} documents by {self.columns:,} columns."
        )

    def __repr__(self) -> str:
        return (
            f"SignalMeter(dimensions={self.dimensions}, edge={self.edge:.4g}, "
            f"documents={self.documents}, columns={self.columns})"
        )

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        largest = ", ".join(f"{value:.3g}" for value in self.eigenvalues[:8])
        facts = {
            "dimensions above the noise": self.dimensions,
            "noise edge": self.edge,
            "largest eigenvalues": largest,
            "documents": self.documents,
            "columns": self.columns,
        }
        return html_facts(facts, "Signal meter")


def signal_meter(moments: Moments) -> SignalMeter:
    """The meter of a release, from its moments."""
    kept = np.argsort(-moments.totals, kind="stable")[:MOST_METERED]
    deviation = np.sqrt(cell_variances(moments)[kept])
    whitened = moments.pairs[np.ix_(kept, kept)] / np.outer(deviation, deviation)
    whitened /= moments.documents
    np.fill_diagonal(whitened, 0)
    edge = noise_edge(moments.documents, kept.size)
    for _ in range(_FILLS):
        values, directions = linalg.eigh(whitened, subset_by_value=(edge, np.inf))
        np.fill_diagonal(whitened, directions**2 @ values)
    spectrum = linalg.eigvalsh(whitened, check_finite=False)[::-1]
    return SignalMeter(moments.documents, kept.size, np.ascontiguousarray(spectrum))


def cell_variances(moments: Moments) -> Floats:
    """Of a cell of each column: of the noise and of its counts; at least half of the noise's."""
    spread = moments.squares / moments.documents - (moments.totals / moments.documents) ** 2
    noise = moments.law.variance
    return np.asarray(np.maximum(noise + spread, noise / 2))
