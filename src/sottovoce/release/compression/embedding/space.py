"""Words as points: what the embedding compressions need of a vector space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError


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
