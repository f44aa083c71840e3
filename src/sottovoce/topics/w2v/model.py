"""A space of word vectors as a value, and the strength of interest in it.

Cosines are computed without BLAS: a post has the same bits in any batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, available_cores, kernel, on_threads
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
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
    lane_dot,
    lane_sum,
    longest,
    score_rows,
    topic_number,
)

KIND = "w2v"
# Up to here the words' dot products are less work than a vector for each of a few topics. It does
# not depend on how many topics there are, so neither do a topic's bits.
FEW_WORDS = 32


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

        return score_rows(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        number = topic_number(self.topics, topic)
        cosines = np.ascontiguousarray(self.cosines[:, number : number + 1])
        only = replace(self, topics=(topic,), cosines=cosines)
        return contributions_of_words(counts, only, 0)


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
        numbers = self.vectors.astype("<f4", copy=False)
        return model_digest(KIND, self.vocabulary, self.rules, (numbers.data,))

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
        card = ModelCard(
            KIND, self.fingerprint, words, self.dimensions, self.rules, self.origin, files={}
        )
        write_folder(folder, card, self.vocabulary, {"vectors": self.vectors.astype("<f4")})

    @classmethod
    def from_folder(cls, folder: Path, card: ModelCard) -> "SkipGramModel":
        """Read what ``save`` wrote."""
        expected = {"vectors": Expected("<f4", (card.words, card.dimensions))}
        vocabulary, arrays = read_files(folder, card, expected)
        return cls(arrays["vectors"], vocabulary, card.rules, card.origin)

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


@kernel
def word_cosines(
    vectors: NDArray[np.float32],
    units: Floats,
    first: Whole,
    last: Whole,
    norms: Floats,
    out: Floats,
) -> None:
    """cos(v, X) of each word with each topic, a column of ``units``; ``norms`` gets ||v||."""
    size, topics = units.shape
    for word in range(first, last):
        square = lane_dot(vectors, word, word, size)
        norms[word] = np.sqrt(square)
        for topic in range(topics):
            out[word, topic] = 0.0
        if square > 0.0:
            for place in range(size):
                number = np.float64(vectors[word, place]) / norms[word]
                for topic in range(topics):
                    out[word, topic] += number * units[place, topic]


# One function on purpose: a helper called for each word would count references to its arrays.
@kernel
def post_cosines(  # noqa: C901, PLR0912 - see above
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    vectors: NDArray[np.float32],
    norms: Floats,
    cosines: Floats,
    positive: bool,
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """cos(P, X) with P the sum of tf cos(v, X) v: R-Susceptibility, section 3.3.1.

    With X of length 1, P X is the sum of tf cos(v, X)^2 ||v||. For ||P||^2 there are two ways: from
    the words' dot products, which all topics share, or from P itself, one topic at a time, which
    is less work for a post of many words. ``positive`` leaves out words of negative cosine.
    """
    size, topics = vectors.shape[1], cosines.shape[1]
    weights = np.empty((longest(pointers, first, last), topics))
    squares, vector = np.empty(topics), np.empty(size)
    for row in range(first, last):
        begin, words = pointers[row], pointers[row + 1] - pointers[row]
        squares[:] = 0.0
        for i in range(words):
            word, count = columns[begin + i], counts[begin + i]
            for topic in range(topics):
                cosine = cosines[word, topic]
                if positive and cosine < 0.0:
                    cosine = 0.0
                weights[i, topic] = count * cosine
                out[row, topic] += count * cosine * cosines[word, topic] * norms[word]
        if words <= FEW_WORDS:
            for i in range(words):
                for j in range(i + 1):
                    one, other = columns[begin + i], columns[begin + j]
                    dot = lane_dot(vectors, one, other, size)
                    twice = dot if i == j else 2.0 * dot
                    for topic in range(topics):
                        squares[topic] += twice * weights[i, topic] * weights[j, topic]
        else:
            for topic in range(topics):
                vector[:] = 0.0
                for i in range(words):
                    weight, word = weights[i, topic], columns[begin + i]
                    if weight != 0.0:
                        for k in range(size):
                            vector[k] += weight * vectors[word, k]
                for k in range(size):
                    vector[k] *= vector[k]
                squares[topic] = lane_sum(vector, size)
        for topic in range(topics):
            if out[row, topic] > 0.0 and squares[topic] > 0.0:
                out[row, topic] = min(1.0, out[row, topic] / np.sqrt(squares[topic]))
            else:
                out[row, topic] = 0.0
