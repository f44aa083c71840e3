"""Strength of interest in the space of word vectors."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import available_cores, on_threads
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.contributions import contributions_of_words, topic_number
from sottovoce.topics.rows import checked_rows, scored
from sottovoce.topics.w2v.cosines import post_cosines, word_cosines


@dataclass(frozen=True, eq=False)
class SkipGramScorer:
    """Cosine of a post's vector, weighted for each topic, with the topic's vector."""

    topics: tuple[str, ...]
    vocabulary: Vocabulary
    rules: TokenRules
    vectors: NDArray[np.float32]
    norms: NDArray[np.float64]
    cosines: NDArray[np.float64]
    """cos(v, X) of each word and topic."""
    positive: bool

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """cos(P, X) for each post and topic: R-Susceptibility, Definition 4."""
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            post_cosines(
                *rows, self.vectors, self.norms, self.cosines, self.positive, first, last, out
            )

        return scored(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        number = topic_number(self.topics, topic)
        cosines = np.ascontiguousarray(self.cosines[:, number : number + 1])
        only = replace(self, topics=(topic,), cosines=cosines)
        return contributions_of_words(
            counts, self.vocabulary, lambda posts: only.strengths(posts)[:, 0]
        )


def scorer_of(
    names: tuple[str, ...],
    vocabulary: Vocabulary,
    rules: TokenRules,
    vectors: NDArray[np.float32],
    topics: NDArray[np.float64],
    *,
    positive: bool,
) -> SkipGramScorer:
    """A scorer for topics given by their vectors, one row each; the cosines are worked out once."""
    lengths = np.sqrt((topics * topics).sum(axis=1, keepdims=True))
    units = np.ascontiguousarray((topics / lengths).T)
    norms = np.empty(len(vectors))
    cosines = np.empty((len(vectors), len(names)))
    parts = available_cores()
    cuts = np.linspace(0, len(vectors), parts + 1).astype(np.int64)

    def part(number: int) -> None:
        word_cosines(vectors, units, cuts[number], cuts[number + 1], norms, cosines)

    on_threads([lambda number=number: part(number) for number in range(parts)])  # type: ignore[misc] # bound now
    return SkipGramScorer(names, vocabulary, rules, vectors, norms, cosines, positive)
