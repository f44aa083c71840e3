"""A trained topic model as a value: what decides a post's strength, and nothing of its training."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.card import Card, ModelFileError, Origin, rules_record
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.folder import Expected, read_files, write_folder
from sottovoce.topics.lda.infer import topic_shares
from sottovoce.topics.lda.scorer import LdaScorer, dimension_sets
from sottovoce.topics.rows import checked_rows, scored
from sottovoce.topics.space import Mode

KIND = "lda"
# 32 bits keep seven digits of a probability; a sum over many words keeps fewer.
_SUM_TOLERANCE = 1e-3


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
        parts = [KIND, self.vocabulary.fingerprint, rules_record(self.rules)]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        digest.update(self.alpha.astype("<f8").tobytes())
        digest.update(self.phi.astype("<f4", copy=False).data)
        return digest.hexdigest()

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
            topic_shares(*rows, self.phi, self.alpha, first, last, out)

        return scored(rows, self.dimensions, work, threads)

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
        card = Card(
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
    def from_folder(cls, folder: Path, card: Card) -> "LdaModel":
        """Read what ``save`` wrote."""
        expected = {
            "phi": Expected("<f4", (card.words, card.dimensions)),
            "alpha": Expected("<f8", (card.dimensions,)),
        }
        vocabulary, arrays = read_files(folder, card, expected)
        try:
            model = cls(arrays["phi"], arrays["alpha"], vocabulary, card.rules, card.origin)
        except ParameterError as error:
            raise ModelFileError(f"the model {folder} is damaged: {error}") from None
        if model.fingerprint != card.fingerprint:
            raise ModelFileError(f"the model {folder} does not fit its card's fingerprint.")
        return model
