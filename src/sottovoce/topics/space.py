"""The bag-of-words space: a topic is the set of its salient words."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, kernel
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.rows import checked_rows, contributions_of_words, score_rows, topic_number

Mode = Literal["corrected", "paper"]
"""``paper`` computes what the paper prints; ``corrected``, the default, what it must have meant."""


class PostScorer(Protocol):
    """Strength of interest of posts in the topics of one catalogue.

    It holds everything it needs, can be sent to another process, and gives a post the same bits
    whatever other posts stand in the batch, and on however many threads.
    """

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the columns of ``strengths``: the catalogue's topics, in its order."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the counts."""
        ...

    @property
    def rules(self) -> TokenRules:
        """How texts become those counts."""
        ...

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """cos(P, X) for each post (a row of ``counts``) and topic: R-Susceptibility, Definition 4.

        A post without a word of the vocabulary scores 0.
        """
        ...

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        ...


class Space(Protocol):
    """A vector space: ``bow``, ``lda``, ``w2v`` or ``voice``.

    >>> from sottovoce.topics import BagOfWords
    >>> known: Space = BagOfWords()
    >>> known.name
    'bow'
    """

    @property
    def name(self) -> str:
        """What the space is called: ``bow``, ``lda``, ``w2v`` or ``voice``."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what decides a strength: parameters, words and numbers."""
        ...

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> PostScorer:
        """How posts are scored for the topics of ``catalogue``."""
        ...


@runtime_checkable
class HasVariants(Protocol):
    """A model that has further spaces, which need nothing more."""

    def variants(self) -> tuple[Space, ...]:
        """These spaces."""
        ...


def named_spaces(spaces: Sequence[Space]) -> dict[str, Space]:
    """Spaces by name; two of one name are refused, as one would hide the other."""
    named = {space.name: space for space in spaces}
    if len(named) < len(spaces):
        raise ParameterError("give at most one model of each space, got several of one.")
    return named


def spaces_of_models(models: Sequence[Space]) -> dict[str, Space]:
    """Every space that the models have, by name."""
    named = named_spaces(models)
    for model in models:
        if isinstance(model, HasVariants):
            named |= {space.name: space for space in model.variants()}
    return named


@dataclass(frozen=True)
class BagOfWords:
    """No background knowledge but the catalogue's own words.

    Bigrams are counted as soon as any topic has one, whatever ``rules`` say.

    >>> from sottovoce.topics import Catalogue, Topic
    >>> BagOfWords().scorer(Catalogue((Topic("debt", ("loan",), "money"),))).topics
    ('debt',)
    """

    rules: TokenRules = field(default_factory=TokenRules)
    name: str = "bow"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the token rules: nothing else decides."""
        rules = self.rules
        parts = [self.name, rules.shortest, sorted(rules.stop_words), rules.stem, rules.bigrams]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> "BowScorer":  # noqa: ARG002 - both modes agree here
        """How posts are scored by the words of ``catalogue``."""
        return _scorer(tuple((topic.name, tuple(topic.words)) for topic in catalogue), self.rules)


@dataclass(frozen=True, eq=False)
class BowScorer:
    """Cosine of a post's counts of a topic's words with the topic's words."""

    topics: tuple[str, ...]
    vocabulary: Vocabulary
    rules: TokenRules
    terms: tuple[tuple[str, ...], ...]
    """The terms of each topic."""

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """Sum of tf / (sqrt(j) ||tf||) over a topic's j words: R-Susceptibility, Definition 4."""
        rows = checked_rows(counts, self.vocabulary)
        pointers, members, sizes = self._members

        def work(first: int, last: int, out: NDArray[np.float64]) -> None:
            _cosines(*rows, pointers, members, sizes, first, last, out)

        return score_rows(rows, len(self.topics), work, threads)

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        column = topic_number(self.topics, topic)
        return contributions_of_words(
            counts, self.vocabulary, lambda posts: self.strengths(posts)[:, column]
        )

    @cached_property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The topics of each term, one after another, and each topic's size."""
        column = self.vocabulary.column
        pairs = sorted(
            (column[term], topic) for topic, terms in enumerate(self.terms) for term in terms
        )
        of_term = np.array([term for term, _ in pairs], np.int64)
        pointers = np.searchsorted(of_term, np.arange(len(self.vocabulary) + 1)).astype(np.int64)
        members = np.array([topic for _, topic in pairs], np.int64)
        return pointers, members, np.array([len(terms) for terms in self.terms], np.float64)


@lru_cache(maxsize=8)
def _scorer(topics: tuple[tuple[str, tuple[str, ...]], ...], rules: TokenRules) -> BowScorer:
    """Of topics by their names and words: it does not change, so that all who ask may share it."""
    terms = tuple(_terms(name, words, rules) for name, words in topics)
    vocabulary = Vocabulary.public(
        dict.fromkeys(term for topic in terms for term in topic), origin="a catalogue's words"
    )
    pairs = rules.bigrams or any(" " in term for term in vocabulary.terms)
    names = tuple(name for name, _ in topics)
    return BowScorer(names, vocabulary, replace(rules, bigrams=pairs), terms)


def _terms(name: str, words: tuple[str, ...], rules: TokenRules) -> tuple[str, ...]:
    """The topic's words as the rules count them."""
    try:
        return Vocabulary.public(dict.fromkeys(words)).under(rules).terms
    except ParameterError:
        raise ParameterError(
            f"topic {name!r} needs a word that can occur under the token rules, got none."
        ) from None


@kernel
def _cosines(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: NDArray[np.float64],
    member_pointers: NDArray[np.int64],
    members: NDArray[np.int64],
    sizes: NDArray[np.float64],
    first: Whole,
    last: Whole,
    out: NDArray[np.float64],
) -> None:
    squares = np.zeros(sizes.size)
    for row in range(first, last):
        squares[:] = 0.0
        for cell in range(pointers[row], pointers[row + 1]):
            term, count = columns[cell], counts[cell]
            for place in range(member_pointers[term], member_pointers[term + 1]):
                out[row, members[place]] += count
                squares[members[place]] += count * count
        for topic in range(sizes.size):
            if squares[topic] > 0.0:
                # Both sides are whole numbers, so equal cosines have equal bits.
                share = out[row, topic] * out[row, topic] / (sizes[topic] * squares[topic])
                out[row, topic] = min(1.0, np.sqrt(share))
