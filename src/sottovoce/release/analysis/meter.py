"""How many dimensions of meaning stand above the noise of a release.

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

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from sottovoce._notebook import html_facts
from sottovoce.arrays import Floats
from sottovoce.privacy.exact import positive_integer
from sottovoce.release.analysis.moments import Moments

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
    return SignalMeter(
        moments.documents,
        kept.size,
        np.ascontiguousarray(spectrum),
    )


def cell_variances(moments: Moments) -> Floats:
    """Of a cell of each column: of the noise and of its counts; at least half of the noise's."""
    spread = moments.squares / moments.documents - (moments.totals / moments.documents) ** 2
    noise = moments.law.variance
    return np.asarray(np.maximum(noise + spread, noise / 2))
