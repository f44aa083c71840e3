"""A trained topic model as a value, and the strength of interest in its latent space.

It holds what decides a post's strength, and nothing of its training.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda._infer import cosines_with_dimensions, fold_in, row_sums
from sottovoce.topics.model_file import (
    Expected,
    ModelCard,
    Origin,
    model_digest,
    read_files,
    write_folder,
)
from sottovoce.topics.space import (
    Mode,
    checked_rows,
    contributions_of_words,
    score_rows,
    topic_number,
)

KIND = "lda"
# 32 bits keep seven digits of a probability; a sum over many words keeps fewer.
_SUM_TOLERANCE = 1e-3
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

        return score_rows(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        number = topic_number(self.topics, topic)
        chosen = self.sets[self.set_pointers[number] : self.set_pointers[number + 1]]
        pointers = np.array([0, chosen.size], np.int64)
        only = replace(self, topics=(topic,), set_pointers=pointers, sets=chosen)
        return contributions_of_words(counts, only, 0)


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


@dataclass(frozen=True, eq=False)
class LdaModel:
    """Latent Dirichlet allocation: phi and alpha over a vocabulary.

    >>> import numpy as np
    >>> from sottovoce.corpus import TokenRules, Vocabulary
    >>> words = Vocabulary.public(["debt", "loan", "baby", "birth"])
    >>> phi = np.array([[0.5, 0], [0.5, 0], [0, 0.5], [0, 0.5]])
    >>> LdaModel(phi, np.ones(2), words, TokenRules()).name
    'lda'
    """

    phi: NDArray[np.float32]
    """The probability of each word (row) in each latent dimension (column); columns sum to 1."""
    alpha: NDArray[np.float64]
    """The prior weight of each latent dimension; they may differ."""
    vocabulary: Vocabulary
    rules: TokenRules
    origin: Origin = field(default_factory=Origin)
    name: str = KIND

    def __post_init__(self) -> None:
        object.__setattr__(self, "phi", np.ascontiguousarray(self.phi, np.float32))
        object.__setattr__(self, "alpha", np.ascontiguousarray(self.alpha, np.float64))
        words, dimensions = len(self.vocabulary), self.alpha.size
        if self.alpha.ndim != 1 or self.phi.shape != (words, dimensions):
            raise ParameterError(
                f"phi must have a row for each of {words} words and a column for each of "
                f"{dimensions} weights, got {' x '.join(map(str, self.phi.shape))}."
            )
        if not (np.isfinite(self.alpha).all() and (self.alpha > 0).all()):
            raise ParameterError("alpha must be finite and > 0.")
        if not (np.isfinite(self.phi).all() and (self.phi >= 0).all()):
            raise ParameterError("phi must be finite and >= 0.")
        sums = self.phi.sum(axis=0, dtype=np.float64)
        if (np.abs(sums - 1) > _SUM_TOLERANCE).any():
            raise ParameterError(
                f"the words' probabilities in a dimension must sum to 1, got {sums.min():.4g} to "
                f"{sums.max():.4g}."
            )

    @property
    def dimensions(self) -> int:
        """The number of latent dimensions."""
        return self.alpha.size

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the numbers, the words and the token rules."""
        numbers = (self.alpha.astype("<f8"), self.phi.astype("<f4", copy=False))
        return model_digest(KIND, self.vocabulary, self.rules, (each.data for each in numbers))

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> LdaScorer:  # noqa: ARG002 - both modes agree here
        """How posts are scored for the topics of ``catalogue``, which must be matched to this."""
        pointers, sets = dimension_sets(catalogue, self.fingerprint, self.dimensions)
        return LdaScorer(
            catalogue.names, self.vocabulary, self.rules, self.phi, self.alpha, pointers, sets
        )

    def infer(self, counts: sparse.csr_array, *, threads: int | None = None) -> NDArray[np.float64]:
        """theta, the share of each latent dimension in each post; zeros for a post without words.

        The prior alone is no evidence, so such a post gets none of it.
        """
        rows = checked_rows(counts, self.vocabulary)

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            own, totals = out[first:last], np.empty(last - first)
            fold_in(*rows, self.phi, self.alpha, first, last, own)
            row_sums(own, last - first, totals)
            own /= np.where(totals > 0, totals, 1)[:, None]

        return score_rows(rows, self.dimensions, work, threads)

    def top_words(self, count: int = 10) -> list[list[tuple[str, float]]]:
        """The most probable words of each latent dimension with their probabilities."""
        terms = self.vocabulary.terms
        best = np.argsort(-self.phi, axis=0, kind="stable")[:count]
        return [
            [(terms[word], float(self.phi[word, dimension])) for word in best[:, dimension]]
            for dimension in range(self.dimensions)
        ]

    def save(self, folder: Path) -> None:
        """Write the model into ``folder``."""
        card = ModelCard(
            KIND,
            self.fingerprint,
            len(self.vocabulary),
            self.dimensions,
            self.rules,
            self.origin,
            {},
        )
        arrays = {"phi": self.phi.astype("<f4"), "alpha": self.alpha.astype("<f8")}
        write_folder(folder, card, self.vocabulary, arrays)

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "LdaModel":
        """Read what ``save`` wrote."""
        expected = {
            "phi": Expected("<f4", (card.words, card.dimensions)),
            "alpha": Expected("<f8", (card.dimensions,)),
        }
        vocabulary, arrays = read_files(folder, card, expected)
        return cls(arrays["phi"], arrays["alpha"], vocabulary, card.rules, card.origin)
