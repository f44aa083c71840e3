"""Words placed by a public embedding: like words together in a column, or kept apart.

Both compressions take known words as points and put the others at random where room is left. They
need of a vector space that it can be asked for words: `read_embedding` reads one from a file of
GloVe or word2vec, or from a skip-gram model of ours.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.files import cause_of
from sottovoce.release.compression._kmeans import balanced_clusters
from sottovoce.release.compression.maps import Compression, Decompression
from sottovoce.release.compression.word_map import even_sizes
from sottovoce.topics.imports.files import binary_vectors, check_size, text_vectors
from sottovoce.topics.load import load_model
from sottovoce.topics.w2v.model import SkipGramModel

LEAST_COVERAGE = 0.5


class WordVectors(Protocol):
    """Any space that can be asked for words: a file's, or a skip-gram space of our own."""

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One row per word, zeros where unknown, and whether each word is known."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Words and their vectors, one row each; of a repeated word the first row counts.

    >>> Embedding(("debt", "loan"), np.eye(2, dtype=np.float32)).lookup(["loan", "sea"])[1].tolist()
    [True, False]
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Refuse vectors that are not one finite row per word."""
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):  # noqa: PLR2004  # rows
            raise ParameterError(
                f"an embedding must have one row per word, got {len(self.words)} words and "
                f"vectors of shape {self.vectors.shape}."
            )
        if not np.isfinite(self.vectors).all():
            raise ParameterError("an embedding's vectors must be finite, got NaN or infinity.")

    def lookup(self, words: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """One row per word, zeros where unknown, and whether each word is known."""
        row_of = {word: row for row, word in reversed(list(enumerate(self.words)))}
        rows = np.array([row_of.get(word, -1) for word in words], dtype=np.int64)
        found = np.zeros((len(words), self.vectors.shape[1]))
        found[rows >= 0] = self.vectors[rows[rows >= 0]]
        return found, rows >= 0


class EmbeddingCompression(Compression):
    """Words grouped by where a public embedding puts them.

    Vectors are scaled to length 1, so that distance follows the cosine. A word the embedding does
    not cover is placed at random where room is left: the columns' sizes differ by at most one.

    Args:
        columns: K, the number of columns to release; 1 <= K < M.
        embedding: a public vector space, as `read_embedding` gives it.
        vocabulary: the M words in column order; None: the names that ``fit`` sees on its input.
        least_coverage: share of the words that the embedding must know, in (0, 1].
        prior: how frequent each word is, for decompression; None: equally frequent.
        decompression: "multinomial" or "expected".
        random_state: seed of the map and of the decompression; public, no part of the privacy.
    """

    def __init__(
        self,
        columns: int = 100,
        *,
        embedding: WordVectors | None = None,
        vocabulary: Sequence[str] | None = None,
        least_coverage: float = LEAST_COVERAGE,
        prior: ArrayLike | None = None,
        decompression: Decompression = "multinomial",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            columns, prior=prior, decompression=decompression, random_state=random_state
        )
        self.embedding = embedding
        self.vocabulary = vocabulary
        self.least_coverage = least_coverage

    def check_words(self, words: int) -> None:
        """Refuse words that the embedding covers too few of."""
        self._points(words)

    @abstractmethod
    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        """The column of each covered word; columns' sizes differ by at most one."""

    def _assign(
        self, words: int, columns: int, generator: np.random.Generator
    ) -> NDArray[np.int32]:
        points, covered = self._points(words)
        column = np.full(words, -1, dtype=np.int32)
        column[covered] = self._place(points[covered], columns, generator)
        return fill_at_random(column, columns, generator)

    def _points(self, words: int) -> tuple[Floats, NDArray[np.bool_]]:
        if self.embedding is None:
            raise ParameterError("embedding must be given; read one with read_embedding.")
        vectors, covered = self.embedding.lookup(self._words(words))
        self._check_coverage(int(covered.sum()), words)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0), covered

    def _words(self, words: int) -> Sequence[str]:
        if self.vocabulary is None:
            return list(getattr(self, "feature_names_in_", [f"x{i}" for i in range(words)]))
        if len(self.vocabulary) != words:
            raise ParameterError(
                f"vocabulary must name {words} words, one per column, got {len(self.vocabulary)}."
            )
        return self.vocabulary

    def _check_coverage(self, covered: int, words: int) -> None:
        if not 0 < self.least_coverage <= 1:
            raise ParameterError(f"least_coverage must be in (0, 1], got {self.least_coverage}.")
        if covered < max(1, self.least_coverage * words):
            raise ParameterError(
                f"the embedding must cover at least {self.least_coverage:.0%} of the words, got "
                f"{covered} of {words}; use another embedding or compression 'frequency'."
            )


def fill_at_random(
    column: NDArray[np.int32], columns: int, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Put every word without a column (-1) where room is left, in random order.

    The fuller columns take the larger sizes, so that nothing already placed has to move.
    """
    taken = np.bincount(column[column >= 0], minlength=columns)
    sizes = np.empty(columns, dtype=np.int64)
    fuller_first = np.lexsort((generator.permutation(columns), -taken))
    sizes[fuller_first] = even_sizes(column.size, columns)
    room = np.repeat(np.arange(columns, dtype=np.int32), sizes - taken)
    filled = column.copy()
    filled[column < 0] = generator.permutation(room)
    return filled


class EmbeddingClusterCompression(EmbeddingCompression):
    """K clusters of equal size by balanced k-means; each cluster is one column.

    Limited-Precision Release, Method GLOVE-CLUSTER.

    >>> import numpy as np
    >>> from sottovoce.release import Embedding
    >>> words = ("debt", "loan", "baby", "birth")
    >>> space = Embedding(words, np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32))
    >>> how = EmbeddingClusterCompression(2, embedding=space, vocabulary=words, random_state=1)
    >>> sorted(how.fit_transform([[1, 2, 3, 4]]).toarray()[0].tolist())
    [3, 7]
    """

    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        return balanced_clusters(points, min(columns, len(points)), generator)


class EmbeddingDisperseCompression(EmbeddingCompression):
    """About M/K clusters of at most K words, the words of a cluster sent to different columns.

    Limited-Precision Release, Method GLOVE-DISPERSE.

    >>> import numpy as np
    >>> from sottovoce.release import Embedding
    >>> words = ("debt", "loan", "baby", "birth")
    >>> space = Embedding(words, np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32))
    >>> how = EmbeddingDisperseCompression(2, embedding=space, vocabulary=words, random_state=1)
    >>> sorted(how.fit_transform([[1, 1, 5, 5]]).toarray()[0].tolist())
    [6, 6]
    """

    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        clusters = -(-len(points) // columns)
        return deal_words(balanced_clusters(points, clusters, generator), columns, generator)


def deal_words(cluster: Integers, columns: int, generator: np.random.Generator) -> Integers:
    """Deal the words, cluster after cluster, to columns 0, 1, ..., K-1, 0, 1, ...

    No cluster is larger than K, so that its words land in different columns.
    """
    order = np.lexsort((generator.permutation(cluster.size), cluster))
    column = np.empty(cluster.size, dtype=np.int64)
    column[order] = np.arange(cluster.size) % columns
    return column


def read_embedding(path: Path | str, *, words: Sequence[str] | None = None) -> Embedding:
    """Read GloVe or word2vec vectors; with ``words`` only theirs are kept in memory.

    ``path`` may also be the folder of a skip-gram model of ours.

    A name that ends in .bin is taken for word2vec's binary format, any other for text. Words are
    matched byte for byte: no case folding.
    """
    source = Path(path)
    if source.is_dir():
        return _of_model(source)
    wanted = None if words is None else frozenset(word.encode() for word in words)
    read = binary_vectors if source.suffix == ".bin" else text_vectors
    try:
        return _collect_vectors(read(source, wanted), source)
    except OSError as error:
        raise ModelFileError(f"cannot read {source}: {cause_of(error)}.") from error


def _of_model(folder: Path) -> Embedding:
    model = load_model(folder)
    if not isinstance(model, SkipGramModel):
        raise ModelFileError(
            f"{folder} must be a model of word vectors; train one with sottovoce topics train "
            "--space w2v."
        )
    if not model.origin.public:
        raise ModelFileError(
            f"{folder} was trained on private texts, so words placed by it would tell about them; "
            "use public word vectors."
        )
    return Embedding(model.vocabulary.terms, model.vectors)


def _collect_vectors(
    vectors: Iterator[tuple[bytes, NDArray[np.float32]]], source: Path
) -> Embedding:
    rows: dict[str, NDArray[np.float32]] = {}
    for word, row in vectors:
        # A name that is not UTF-8 is no word of ours, but no reason to refuse the file.
        rows.setdefault(word.decode(errors="replace"), row)
        check_size(len(rows), row.size)
    if not rows:
        raise ModelFileError(f"{source} holds none of the words asked for; check its language.")
    return Embedding(tuple(rows), np.stack(list(rows.values())))
