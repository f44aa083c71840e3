"""What is read from a release alike by those it is made for and by those it is to be hidden from.

Both know its cells, the law of their noise, the public map of words to columns and how frequent
words are. So both have the means of columns, what a cell says of its count, and topics learnt from
the release itself; what differs is what they ask.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify.expected import ExpectedCells
from sottovoce.release.classify.features import CountFeature
from sottovoce.release.classify.sums import mean_counts
from sottovoce.release.compression import WordMap
from sottovoce.release.compression.decompress import column_spread
from sottovoce.release.counts import Counts, Weights
from sottovoce.release.topics import PrivateTopics

_SILENT = 12.0
"""At this rate one cell in 80,000 has noise: a release without any is read as one of this rate."""
LARGEST_CELL = 20
"""Larger cells say no more of a passage: they are read as this."""


@dataclass(frozen=True, eq=False)
class Reading:
    """A release, and what its law allows to see in it."""

    cells: Counts
    """Documents x columns, the noise included."""
    word_map: WordMap
    frequencies: Floats
    """Of the words, public: how a column is shared out to its words."""
    rate: float | None
    """Of the noise; None: there is none."""
    topic_number: int = 40
    sweeps: int = 50
    seed: int = 0

    @cached_property
    def law(self) -> NoiseLaw:
        """Of every cell's noise."""
        return NoiseLaw(_SILENT if self.rate is None else min(self.rate, _SILENT))

    @cached_property
    def spread(self) -> Weights:
        """Columns x words: the part of a column that the public prior gives each of its words."""
        return column_spread(self.word_map, self.frequencies)

    @cached_property
    def means(self) -> Floats:
        """Of each column, a document."""
        totals = np.asarray(self.cells.sum(axis=0), np.float64)
        return mean_counts(totals, self.cells.shape[0], self.law)

    @cached_property
    def expected(self) -> Weights:
        """E[c | z] less E[c | 0], documents x words: what a cell tells beyond an empty one."""
        table = ExpectedCells.of(self.law, self.means, CountFeature(self.law), LARGEST_CELL)
        return sparse.csr_array(table.above_zero(self.cells) @ self.spread)

    @cached_property
    def topics(self) -> Floats:
        """Topics x words, learnt from the release."""
        number = min(self.topic_number, self.cells.shape[1])
        found = PrivateTopics(
            number, rate=self.law.rate, max_iter=self.sweeps, random_state=self.seed
        ).fit(self.cells)
        return np.asarray(found.components_ @ self.spread)

    def of_columns(self, words: Floats) -> Floats:
        """Shares of words, topics x words, as shares of columns."""
        return np.asarray(words @ self.word_map.matrix.astype(np.float64))
