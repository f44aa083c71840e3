"""Strength of interest in the first-person space."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.contributions import topic_number
from sottovoce.topics.rows import checked_rows, scored


@dataclass(frozen=True, eq=False)
class VoiceScorer:
    """The evidence of a post's distinct words, summed."""

    topics: tuple[str, ...]
    vocabulary: Vocabulary
    rules: TokenRules
    weights: NDArray[np.float64]
    """The evidence of each word (row) for each topic."""

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """For each post and topic, the evidence of its words in nats: 0 or more, not a cosine."""
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            _sums(rows.pointers, rows.columns, self.weights, first, last, out)

        return scored(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: its evidence."""
        number = topic_number(self.topics, topic)
        rows = checked_rows(counts, self.vocabulary)
        added = self.weights[rows.columns, number]
        return sparse.csr_array((added, rows.columns, rows.pointers), shape=counts.shape)


@kernel
def _sums(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    weights: NDArray[np.float64],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    for row in range(first, last):
        for cell in range(pointers[row], pointers[row + 1]):
            for topic in range(weights.shape[1]):
                out[row, topic] += weights[columns[cell], topic]
