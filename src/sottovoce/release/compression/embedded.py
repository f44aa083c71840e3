"""What the embedding compressions share: known words as points, the others placed at random."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError
from sottovoce.release.compression.base import Compression, Decompression
from sottovoce.release.compression.embedding import WordVectors
from sottovoce.release.compression.mapping import even_sizes
from sottovoce.release.counts import Floats, Integers

LEAST_COVERAGE = 0.5


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
