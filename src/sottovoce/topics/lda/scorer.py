"""Strength of interest in the latent space."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.contributions import contributions_of_words, topic_number
from sottovoce.topics.lda.infer import cosines_with_dimensions
from sottovoce.topics.rows import checked_rows, scored

_MATCH = "run `sottovoce topics match MODEL CATALOGUE` first."


@dataclass(frozen=True, eq=False)
class LdaScorer:
    """Cosine of a post's theta with the latent dimensions of each topic."""

    topics: tuple[str, ...]
    vocabulary: Vocabulary
    rules: TokenRules
    phi: NDArray[np.float32]
    alpha: NDArray[np.float64]
    set_pointers: NDArray[np.int64]
    sets: NDArray[np.int64]

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """theta_X / ||theta|| for each post and topic: R-Susceptibility, Definition 4.

        A topic of several dimensions is their indicator vector: sum theta_X / (sqrt|X| ||theta||).
        """
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            cosines_with_dimensions(
                *rows, self.phi, self.alpha, self.set_pointers, self.sets, first, last, out
            )

        return scored(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        only = self._only(topic_number(self.topics, topic))
        return contributions_of_words(
            counts, self.vocabulary, lambda posts: only.strengths(posts)[:, 0]
        )

    def _only(self, number: int) -> "LdaScorer":
        chosen = self.sets[self.set_pointers[number] : self.set_pointers[number + 1]]
        return replace(
            self,
            topics=(self.topics[number],),
            set_pointers=np.array([0, chosen.size], np.int64),
            sets=chosen,
        )


def dimension_sets(
    catalogue: Catalogue, fingerprint: str, dimensions: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The latent dimensions of all topics, one after another, and where each topic's begin."""
    if catalogue.model is None:
        raise ParameterError(f"the catalogue is not matched to a model; {_MATCH}")
    if catalogue.model != fingerprint:
        raise ParameterError(
            f"the catalogue is matched to the model {catalogue.model[:12]}, got the model "
            f"{fingerprint[:12]}; {_MATCH}"
        )
    sets = [_dimensions(topic, dimensions) for topic in catalogue]
    pointers = np.cumsum([0, *map(len, sets)])
    return pointers.astype(np.int64), np.array([each for one in sets for each in one], np.int64)


def _dimensions(topic: Topic, dimensions: int) -> list[int]:
    chosen = sorted(set(topic.dimensions))
    if not chosen:
        raise ParameterError(f"topic {topic.name!r} is matched to no latent dimension; {_MATCH}")
    if not 0 <= chosen[0] <= chosen[-1] < dimensions:
        raise ParameterError(
            f"the dimensions of topic {topic.name!r} must be from 0 to {dimensions - 1}; {_MATCH}"
        )
    return chosen
