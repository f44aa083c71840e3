"""Bag of words (stand-in)."""

import hashlib

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Mode


class _Scorer:
    def __init__(self, catalogue: Catalogue) -> None:
        self.topics = catalogue.names
        words = dict.fromkeys(word for topic in catalogue for word in topic.words)
        self.rules = TokenRules(bigrams=any(" " in word for word in words))
        self.vocabulary = Vocabulary.public(words)
        self._topic = np.zeros((len(self.vocabulary), len(self.topics)))
        for column, topic in enumerate(catalogue):
            for word in topic.words:
                self._topic[self.vocabulary.column[word], column] = 1

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        tf = np.asarray((counts @ self._topic))
        squares = np.asarray((counts.multiply(counts) @ self._topic))
        with np.errstate(invalid="ignore"):
            cosine = tf / np.sqrt(squares * self._topic.sum(axis=0))
        return np.nan_to_num(cosine)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        raise NotImplementedError


class BagOfWords:
    """Bag of words."""

    name = "bow"
    fingerprint = hashlib.sha256(b"bow").hexdigest()

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> _Scorer:
        return _Scorer(catalogue)
