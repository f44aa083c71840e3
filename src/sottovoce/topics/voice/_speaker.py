"""Who speaks: the first-person space with the speaker of each post weighed in.

In communities with helpers, those who know a topic's words best write "you": the share of the first
person among first and second person tells them from people who write of themselves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.rows import checked_rows, contributions_of_words, scored, topic_number
from sottovoce.topics.space import PostScorer

FIRST, SECOND = 1, 2


@dataclass(frozen=True, eq=False)
class SpeakerScorer:
    """The evidence of a post's words times the share of the first person in it."""

    words: PostScorer
    """The evidence alone."""
    person: NDArray[np.uint8]
    """Of each word: the first person, the second, or 0."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The catalogue's topics, in its order."""
        return self.words.topics

    @property
    def vocabulary(self) -> Vocabulary:
        """The words that tell something, and the persons."""
        return self.words.vocabulary

    @property
    def rules(self) -> TokenRules:
        """How texts become counts."""
        return self.words.rules

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """For each post and topic, evidence e (1 + f) / (2 + f + s), in nats.

        f and s are how often the post has words of the first and of the second person. The factor
        is the mean share of the first person after f + s draws from a uniform prior (Laplace's rule
        of succession): 1/2 without either, towards 1 for who speaks of themselves, towards 0 for
        who speaks to others.
        """
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            weigh_speaker(*rows, self.person, first, last, out)

        strengths = self.words.strengths(counts, threads=threads)
        return strengths * scored(rows, 1, work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it.

        A word of the second person takes some away, so its number is below 0.
        """
        column = topic_number(self.topics, topic)
        return contributions_of_words(
            counts, self.vocabulary, lambda posts: self.strengths(posts)[:, column]
        )


@kernel
def weigh_speaker(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.float64],
    person: NDArray[np.uint8],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    """The factor of each post: (1 + f) / (2 + f + s)."""
    for row in range(first, last):
        own, others = 0.0, 0.0
        for cell in range(pointers[row], pointers[row + 1]):
            if person[columns[cell]] == FIRST:
                own += counts[cell]
            elif person[columns[cell]] == SECOND:
                others += counts[cell]
        out[row, 0] = (1.0 + own) / (2.0 + own + others)
