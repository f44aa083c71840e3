"""What every vector space offers, how posts are scored in rows of counts, and the bag of words.

Sums go in a fixed order that a processor can do side by side, so that a post has the same bits in
any batch. What each word of a post adds to its strength is found by scoring the post without it. In
the bag of words a topic is the set of its salient words.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, runtime_checkable

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.compiled import Whole, available_cores, kernel, on_threads
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue

# Below this many cells a thread costs more than it gains.
_CELLS_PER_THREAD = 4096
# So many cells of posts without a word are held at a time.
_CELLS_AT_A_TIME = 1 << 22
LANES = 8


class CountRows(NamedTuple):
    """Counts as kernels take them: columns ascending in each row, no zero, one type each."""

    pointers: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]


def checked_rows(counts: sparse.csr_array, vocabulary: Vocabulary) -> CountRows:
    """The cells of ``counts``; what is no count over ``vocabulary`` is refused."""
    matrix = sparse.csr_array(counts)
    if matrix.shape[1] != len(vocabulary):
        raise ParameterError(
            f"counts must have one column for each of the {len(vocabulary)} terms, "
            f"got {matrix.shape[1]}; count with the scorer's vocabulary and rules."
        )
    if matrix.nnz and not (np.isfinite(matrix.data).all() and matrix.data.min() >= 0):
        raise ParameterError("counts must be finite and >= 0.")
    if not matrix.has_canonical_format or (matrix.nnz and not matrix.data.all()):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return CountRows(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
    )


def for_parts(
    rows: CountRows, work: Callable[[int, int], object], threads: int | None, *, cells: int
) -> None:
    """Call ``work(first, last)`` for contiguous parts of the rows, one for each thread.

    A row's result must not depend on the part it is in; ``cells`` is the least work of a thread.
    """
    if threads is not None and threads < 1:
        raise ParameterError(f"threads must be >= 1, got {threads}.")
    size = int(rows.pointers[-1])
    parts = max(1, min(threads or available_cores(), size // cells))
    goals = np.linspace(0, size, parts + 1)[1:-1]
    cuts = [0, *np.searchsorted(rows.pointers, goals).tolist(), rows.pointers.size - 1]
    on_threads([partial(work, cuts[part], cuts[part + 1]) for part in range(parts)], parts)


def score_rows(
    rows: CountRows,
    width: int,
    work: Callable[[int, int, NDArray[np.float64]], object],
    threads: int | None,
) -> NDArray[np.float64]:
    """A row of ``width`` numbers for each row, filled by ``work(first, last, out)``."""
    out = np.zeros((rows.pointers.size - 1, width))
    for_parts(rows, lambda first, last: work(first, last, out), threads, cells=_CELLS_PER_THREAD)
    return out


@kernel
def longest(pointers: NDArray[np.int64], first: Whole, last: Whole) -> Whole:
    """The most distinct words of one of the posts."""
    most = 0
    for row in range(first, last):
        most = max(most, pointers[row + 1] - pointers[row])
    return most


if TYPE_CHECKING:

    def lane_sum(values: NDArray[np.float64], size: Whole) -> float: ...

    def lane_dot(vectors: NDArray[np.float32], one: Whole, other: Whole, size: Whole) -> float: ...

else:
    # Put into its caller: a call for each word would count references to the array.
    @numba.njit(inline="always")
    def lane_sum(values, size):  # noqa: ANN001, ANN201 - see above
        """The sum of the first ``size`` values: eight lanes, then the lanes, then the rest."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += values[at]
            b += values[at + 1]
            c += values[at + 2]
            d += values[at + 3]
            e += values[at + 4]
            f += values[at + 5]
            g += values[at + 6]
            h += values[at + 7]
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += values[at]
        return total

    @numba.njit(inline="always")
    def lane_dot(vectors, one, other, size):  # noqa: ANN001, ANN201 - see above
        """The inner product of two rows, in double precision, in the order of `lane_sum`."""
        a = b = c = d = e = f = g = h = 0.0
        whole = size - size % LANES
        for at in range(0, whole, LANES):
            a += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
            b += np.float64(vectors[one, at + 1]) * np.float64(vectors[other, at + 1])
            c += np.float64(vectors[one, at + 2]) * np.float64(vectors[other, at + 2])
            d += np.float64(vectors[one, at + 3]) * np.float64(vectors[other, at + 3])
            e += np.float64(vectors[one, at + 4]) * np.float64(vectors[other, at + 4])
            f += np.float64(vectors[one, at + 5]) * np.float64(vectors[other, at + 5])
            g += np.float64(vectors[one, at + 6]) * np.float64(vectors[other, at + 6])
            h += np.float64(vectors[one, at + 7]) * np.float64(vectors[other, at + 7])
        total = ((a + e) + (c + g)) + ((b + f) + (d + h))
        for at in range(whole, size):
            total += np.float64(vectors[one, at]) * np.float64(vectors[other, at])
        return total


def topic_number(topics: tuple[str, ...], name: str) -> int:
    """The column of the topic ``name``."""
    if name not in topics:
        raise ParameterError(f"topic must be one of the catalogue's {len(topics)}, got {name!r}.")
    return topics.index(name)


def contributions_of_words(
    counts: sparse.csr_array, scorer: "PostScorer", column: int
) -> sparse.csr_array:
    """In the cells of ``counts``: the strength of the post less that of the post without the word.

    The strengths are those of one ``column``. A word's occurrences are left out all at once.
    """
    rows = checked_rows(counts, scorer.vocabulary)
    matrix = sparse.csr_array((rows.counts, rows.columns, rows.pointers), shape=counts.shape)
    lengths = np.diff(rows.pointers)
    added = np.repeat(scorer.strengths(matrix)[:, column], lengths)
    for first, last in _blocks(lengths):
        cells = slice(rows.pointers[first], rows.pointers[last])
        posts = without_each_word(matrix[first:last])
        added[cells] -= scorer.strengths(posts)[:, column]
    return sparse.csr_array((added, rows.columns, rows.pointers), shape=counts.shape)


def _blocks(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Contiguous rows whose squares of lengths stay within the bound, at least one row each."""
    blocks, first, cells = [], 0, 0
    for row, length in enumerate(lengths.tolist()):
        if cells and cells + length * length > _CELLS_AT_A_TIME:
            blocks.append((first, row))
            first, cells = row, 0
        cells += length * length
    blocks.append((first, lengths.size))
    return blocks


def without_each_word(posts: sparse.csr_array) -> sparse.csr_array:
    """For each cell of ``posts`` a row: its post without that cell."""
    lengths = np.diff(posts.indptr)
    repeats = np.repeat(lengths, lengths)
    pointers = np.concatenate([[0], np.cumsum(repeats)])
    own = np.arange(posts.nnz) - np.repeat(posts.indptr[:-1], lengths)
    begins = np.repeat(np.repeat(posts.indptr[:-1], lengths), repeats)
    place = np.arange(pointers[-1]) - np.repeat(pointers[:-1], repeats)
    kept = place != np.repeat(own, repeats)
    cells = (begins + place)[kept]
    ends = np.concatenate([[0], np.cumsum(repeats - 1)])
    return sparse.csr_array(
        (posts.data[cells], posts.indices[cells], ends), shape=(posts.nnz, posts.shape[1])
    )


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

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the counts."""

    @property
    def rules(self) -> TokenRules:
        """How texts become those counts."""

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """cos(P, X) for each post (a row of ``counts``) and topic: R-Susceptibility, Definition 4.

        A post without a word of the vocabulary scores 0.
        """

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""


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

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what decides a strength: parameters, words and numbers."""

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> PostScorer:
        """How posts are scored for the topics of ``catalogue``."""


@runtime_checkable
class HasVariants(Protocol):
    """A model that has further spaces, which need nothing more."""

    def variants(self) -> tuple[Space, ...]:
        """These spaces."""


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
        return contributions_of_words(counts, self, topic_number(self.topics, topic))

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
        return Vocabulary.public(dict.fromkeys(words)).apply_rules(rules).terms
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
