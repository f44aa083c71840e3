"""A space of word vectors as a value."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.card import Card, ModelFileError, Origin, rules_record
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.folder import Expected, read_files, write_folder
from sottovoce.topics.space import Mode
from sottovoce.topics.w2v.scorer import SkipGramScorer, scorer_of

KIND = "w2v"


@dataclass(frozen=True, eq=False)
class SkipGramModel:
    """Word vectors, one row a word.

    >>> import numpy as np
    >>> from sottovoce.corpus import TokenRules, Vocabulary
    >>> words = Vocabulary.public(["debt", "loan"])
    >>> SkipGramModel(np.eye(2), words, TokenRules()).dimensions
    2
    """

    vectors: NDArray[np.float32]
    vocabulary: Vocabulary
    rules: TokenRules
    origin: Origin = field(default_factory=Origin)
    name: str = KIND

    def __post_init__(self) -> None:
        object.__setattr__(self, "vectors", np.ascontiguousarray(self.vectors, np.float32))
        words = len(self.vocabulary)
        if self.vectors.ndim != 2 or len(self.vectors) != words or not self.vectors.shape[1]:  # noqa: PLR2004 - rows
            raise ParameterError(
                f"vectors must have a row for each of {words} words, got "
                f"{' x '.join(map(str, self.vectors.shape))}."
            )
        if not np.isfinite(self.vectors).all():
            raise ParameterError("word vectors must be finite.")

    @property
    def dimensions(self) -> int:
        """The number of dimensions."""
        return int(self.vectors.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over the numbers, the words and the token rules."""
        parts = [KIND, self.vocabulary.fingerprint, rules_record(self.rules)]
        digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
        digest.update(self.vectors.astype("<f4", copy=False).data)
        return digest.hexdigest()

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One row per word, zeros where unknown, and whether each word is known."""
        column = self.vocabulary.column
        rows = np.array([column.get(word, -1) for word in words], np.int64)
        known = rows >= 0
        found = np.zeros((len(words), self.dimensions))
        found[known] = self.vectors[rows[known]]
        return found, known

    def topic_vector(self, topic: Topic) -> NDArray[np.float64]:
        """X, the weighted sum of the vectors of the topic's words: section 3.3.1.

        A bigram that has no vector of its own is the mean of its words' vectors, so that it
        weighs as much as a word. Words the space does not know are left out.
        """
        weights = topic.weights or (1.0,) * len(topic.words)
        total = np.zeros(self.dimensions)
        known = 0
        for word, weight in zip(topic.words, weights, strict=True):
            vector = self._vector(word)
            if vector is not None:
                total += weight * vector
                known += 1
        if not total.any():
            raise ParameterError(
                f"topic {topic.name!r} needs words that the model has vectors for; it knows "
                f"{known} of {len(topic.words)}."
            )
        return total

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> SkipGramScorer:
        """How posts are scored for the topics of ``catalogue``.

        In paper mode a word opposed to the topic counts as evidence for it, as printed.
        """
        topics = np.stack([self.topic_vector(topic) for topic in catalogue])
        return scorer_of(
            catalogue.names,
            self.vocabulary,
            self.rules,
            self.vectors,
            topics,
            positive=mode == "corrected",
        )

    def save(self, folder: Path) -> None:
        """Write the model into ``folder``."""
        words = len(self.vocabulary)
        card = Card(
            KIND, self.fingerprint, words, self.dimensions, self.rules, self.origin, files={}
        )
        write_folder(folder, card, self.vocabulary, {"vectors": self.vectors.astype("<f4")})

    @classmethod
    def from_folder(cls, folder: Path, card: Card) -> "SkipGramModel":
        """Read what ``save`` wrote."""
        expected = {"vectors": Expected("<f4", (card.words, card.dimensions))}
        vocabulary, arrays = read_files(folder, card, expected)
        model = cls(arrays["vectors"], vocabulary, card.rules, card.origin)
        if model.fingerprint != card.fingerprint:
            raise ModelFileError(f"the model {folder} does not fit its card's fingerprint.")
        return model

    def _vector(self, term: str) -> NDArray[np.float64] | None:
        """The vector of a word or bigram in the form in which the rules count it."""
        form = self.rules.former()
        words = [form(word) for word in term.split(" ")]
        if None in words:
            return None
        formed = [word for word in words if word]
        column = self.vocabulary.column
        whole = " ".join(formed)
        rows = [column.get(word, -1) for word in ([whole] if whole in column else formed)]
        if -1 in rows:
            return None
        mean: NDArray[np.float64] = self.vectors[rows].mean(axis=0, dtype=np.float64)
        return mean
