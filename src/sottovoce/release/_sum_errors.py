"""What noise does to sums over the rows of a release: exact, and from public figures alone.

A cell's noise has variance v = 2 alpha/(1 - alpha)^2 with alpha = e^-r. Over D rows a word's total
has the standard error sqrt(D v). A pair's total has at least sqrt(D) v: the noise of each cell is
multiplied by the other's, and true counts only add to it.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.tables import level_at_once, noise_reach

_LEVEL = 0.95


@dataclass(frozen=True)
class SumErrors:
    """Standard errors of sums, and the smallest total that stands out.

    >>> from fractions import Fraction
    >>> errors = SumErrors(rows=1000, columns=300, rate=Fraction(1))
    >>> round(errors.word, 1), round(errors.pair, 1), errors.smallest_total
    (42.9, 58.2, 162)
    """

    rows: int
    columns: int
    rate: Fraction
    """Of the noise, in nats per word: epsilon/N."""

    @property
    def word(self) -> float:
        """The standard error of a column's total: sqrt(D v)."""
        return math.sqrt(self.rows * self._variance)

    @property
    def pair(self) -> float:
        """The least standard error of a total of two columns together: sqrt(D) v."""
        return math.sqrt(self.rows) * self._variance

    @property
    def smallest_total(self) -> int:
        """The least total that stands above 0 with all columns looked at, 95 times in 100.

        As *beyond doubt* in `analyse`: the level is divided by the columns.
        """
        law = NoiseLaw(float(self.rate))
        reach = noise_reach(law, self.rows, level_at_once(_LEVEL, self.columns))
        return math.floor(reach) + 1

    def facts(self) -> dict[str, float]:
        """The figures by name."""
        return {
            "word_error": self.word,
            "pair_error_at_least": self.pair,
            "smallest_total_that_stands_out": self.smallest_total,
        }

    def in_words(self) -> str:
        """The figures as sentences."""
        return (
            f"The standard error of a word's total is {self.word:.3g}, of a pair's at least "
            f"{self.pair:.3g}; totals from {self.smallest_total:,} up stand above 0 with all "
            f"{self.columns:,} columns looked at (95%). At rates below 1, half the "
            "rate costs four times the documents for the same relative error."
        )

    def __str__(self) -> str:
        return self.in_words()

    @property
    def _variance(self) -> float:
        return NoiseLaw(float(self.rate)).variance
