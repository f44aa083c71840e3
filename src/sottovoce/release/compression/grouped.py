"""Several maps for one corpus: one per group of documents."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.release.compression.embedding import (
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
    WordVectors,
)
from sottovoce.release.compression.frequency import FrequencyCompression
from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts, Matrix, Weights, checked_counts

_FURTHER = 16


class GroupedCompression(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Document i is compressed with map i mod ``groups``.

    Words that share a column in one map are apart in another, so that what decompression mixes
    up differs from group to group. A document's group follows from its row number alone, which
    is public; each document still goes through one map, so the guarantee is the same.

    Args:
        compression: any compression that is random (RANDOM or an embedding one).
        groups: the number of maps, >= 1.
    """

    def __init__(self, compression: Compression, *, groups: int = 4) -> None:
        self.compression = compression
        self.groups = groups

    def fit(self, X: Matrix, y: object = None) -> Self:  # noqa: ARG002, N803  # sklearn's signature
        """Choose one map per group, each from its own public seed."""
        if type(self.groups) is not int or self.groups < 1:
            raise ParameterError(f"groups must be a whole number >= 1, got {self.groups}.")
        seeds = np.random.SeedSequence(self.compression.random_state)
        self.compressions_ = [
            self._fit_map(X, int(seed)) for seed in seeds.generate_state(self.groups)
        ]
        first, *others = [each.map_ for each in self.compressions_]
        further = (int(seed) for seed in seeds.spawn(1)[0].generate_state(_FURTHER))
        if others and all(other == first for other in others):
            # Of few words in few columns a random map may come twice by chance.
            self._refuse_fixed_map(first, (self._fit_map(X, seed) for seed in further))
        return self

    def transform(self, X: Matrix) -> Counts:  # noqa: N803  # scikit-learn's name
        """Compress each document with its group's map."""
        check_is_fitted(self)
        rows = checked_counts(X)
        return in_row_order(
            [each.transform(rows[g :: self.groups]) for g, each in self._groups(rows)], self.groups
        )

    def inverse_transform(self, X: Matrix) -> "Counts | Weights":  # noqa: N803  # scikit-learn's name
        """Decompress each document with its group's map."""
        check_is_fitted(self)
        rows = checked_counts(X, signed=True)
        return in_row_order(
            [each.inverse_transform(rows[g :: self.groups]) for g, each in self._groups(rows)],
            self.groups,
        )

    def _groups(self, rows: Counts) -> list[tuple[int, Compression]]:
        """The groups that have a document among ``rows``."""
        return list(enumerate(self.compressions_))[: rows.shape[0]]

    def _fit_map(self, matrix: Matrix, seed: int) -> Compression:
        fitted: Compression = clone(self.compression).set_params(random_state=seed).fit(matrix)
        return fitted

    @staticmethod
    def _refuse_fixed_map(first: WordMap, others: Iterable[Compression]) -> None:
        if all(other.map_ == first for other in others):
            raise ParameterError(
                "several maps need a compression that is random: 'random', 'embedding-cluster' "
                "or 'embedding-disperse'; this one gave the same map twice."
            )


def in_row_order(parts: list[Any], groups: int) -> Counts:
    """Documents back in order: part g holds documents g, g + ``groups``, g + 2 ``groups``, ..."""
    rows = sum(part.shape[0] for part in parts)
    position = np.concatenate([np.arange(g, rows, groups) for g in range(len(parts))])
    stacked: Counts = sparse.csr_array(sparse.vstack(parts, format="csr"))
    return stacked[_inverse_order(position)]


def _inverse_order(position: Integers) -> Integers:
    inverse = np.empty_like(position)
    inverse[position] = np.arange(position.size)
    return inverse


COMPRESSIONS: dict[str, type[Compression]] = {
    "none": NoCompression,
    "random": RandomCompression,
    "frequency": FrequencyCompression,
    "embedding-cluster": EmbeddingClusterCompression,
    "embedding-disperse": EmbeddingDisperseCompression,
}


def chosen_compression(
    name: str,
    columns: int,
    frequencies: Floats,
    seed: int | None,
    *,
    embedding: WordVectors | None = None,
    vocabulary: Sequence[str] | None = None,
) -> Compression:
    """The compression ``name`` to so many columns, yet to be fitted.

    All share words' frequencies out again by ``frequencies``; those by embedding need vectors of
    the words of ``vocabulary`` too.
    """
    if name == "none":
        return NoCompression()
    parts: dict[str, Any] = {"prior": frequencies, "random_state": seed}
    if name == "frequency":
        parts["frequencies"] = frequencies
    if name.startswith("embedding"):
        parts |= {"embedding": embedding, "vocabulary": vocabulary}
    return COMPRESSIONS[name](columns, **parts)
