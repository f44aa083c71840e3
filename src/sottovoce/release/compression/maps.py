"""What every compression has in common: scikit-learn's conventions around one public map.

The two that need to know nothing of the words are here: none, where every word keeps its own
column, and words dealt to columns at random. `GroupedCompression` has several maps for one corpus:
one for each group of documents.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.release.compression.decompress import expected_counts, multinomial_counts
from sottovoce.release.compression.word_map import WordMap, checked_columns
from sottovoce.release.counts import Counts, Matrix, Weights, checked_counts, checked_width

Decompression = Literal["multinomial", "expected"]
_MATRIX_AXES = 2


class Compression(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """M words summed into K columns, and back.

    ``fit`` looks at the width of its input (and at the words' names), never at a count: the map
    is public. ``random_state`` drives the map and the multinomial decompression; both are public
    or post-processing, so numpy's generator is right here, as it never is for privacy noise.

    Args:
        columns: K, the number of columns to release; 1 <= K < M.
        prior: how frequent each word is, for decompression; None: equally frequent. Free only
            when public; otherwise take it from a `Prior`, which says what it costs.
        decompression: "multinomial" draws whole counts, "expected" gives their means.
        random_state: seed of the map and of the decompression; None: a fresh one each time.
    """

    def __init__(
        self,
        columns: int = 100,
        *,
        prior: ArrayLike | None = None,
        decompression: Decompression = "multinomial",
        random_state: int | None = None,
    ) -> None:
        self.columns = columns
        self.prior = prior
        self.decompression = decompression
        self.random_state = random_state

    def check_words(self, words: int) -> None:
        """Refuse, before anything is spent, words for which there can be no map."""

    @abstractmethod
    def _assign(
        self, words: int, columns: int, generator: np.random.Generator
    ) -> NDArray[np.int32]:
        """The column of each word."""

    def fit(self, X: Matrix, y: object = None) -> Self:  # noqa: ARG002, N803  # sklearn's signature
        """Choose the map for matrices as wide as ``X``."""
        words = validated_counts(self, X, reset=True).shape[1]
        self.map_ = self._chosen_map(words)
        return self

    def transform(self, X: Matrix) -> Counts:  # noqa: N803  # scikit-learn's name
        """Sum each column's words: integers in, integers out."""
        check_is_fitted(self)
        counts = validated_counts(self, X, reset=False)
        compressed = self.map_.compress(counts)
        return counts.copy() if compressed is counts else compressed

    def inverse_transform(self, X: Matrix) -> "Counts | Weights":  # noqa: N803  # scikit-learn's name
        """Share each column's count among its words; negative (noisy) counts share nothing."""
        check_is_fitted(self)
        compressed = checked_counts(X, signed=True)
        checked_width(compressed, self.map_.columns, what="compressed column")
        if self.decompression == "expected":
            return expected_counts(compressed, self.map_, self._prior_frequencies())
        if self.decompression == "multinomial":
            generator = np.random.default_rng(self.random_state)
            return multinomial_counts(compressed, self.map_, self._prior_frequencies(), generator)
        raise ParameterError("decompression must be 'multinomial' or 'expected'.")

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:  # noqa: ARG002  # sklearn's signature
        """Names of the columns: column0, column1, ..."""
        check_is_fitted(self)
        return np.array([f"column{k}" for k in range(self.map_.columns)], dtype=object)

    def _chosen_map(self, words: int) -> WordMap:
        columns = checked_columns(self.columns, words)
        assigned = self._assign(words, columns, np.random.default_rng(self.random_state))
        return WordMap(assigned, columns)

    def _prior_frequencies(self) -> Floats:
        if self.prior is None:
            return np.ones(self.map_.words)
        return np.asarray(self.prior, dtype=np.float64)

    def __sklearn_tags__(self) -> object:
        """Sparse, non-negative input; integers out."""
        return counting_tags(super().__sklearn_tags__())


def validated_counts(estimator: BaseEstimator, matrix: Matrix, *, reset: bool) -> Counts:
    """``matrix`` as counts, after scikit-learn's own checks; ``reset`` while fitting."""
    _refuse_texts(matrix)
    try:
        valid = validate_data(estimator, matrix, reset=reset, accept_sparse="csr", dtype="numeric")
    except ValueError as error:
        raise CorpusError(_without_values(str(error))) from None
    return checked_counts(valid)


def counting_tags(tags: Any) -> Any:  # noqa: ANN401 - scikit-learn has no types
    """The tags of a transformer of counts: sparse, non-negative input; integers out."""
    tags.input_tags.sparse = True
    tags.input_tags.positive_only = True
    tags.transformer_tags.preserves_dtype = ["int64"]
    return tags


def _without_values(told: str) -> str:
    """What scikit-learn tells of a matrix it cannot use, less what it quotes of the matrix."""
    if told.startswith("The feature names"):
        return told
    first, _, rest = told.partition("\n")
    if "could not convert" in told or "Unable to parse" in told:
        return "counts must be numbers, got text."
    if "array=" in rest:
        return (
            f"{first} counts must be a matrix of documents by words. Reshape your data: put a "
            "single document into a list."
        )
    return first


def _refuse_texts(given: object) -> None:
    """Counts are wanted; whoever gives texts has left out the step that counts."""
    if len(getattr(given, "shape", ())) == _MATRIX_AXES:
        return
    if any(isinstance(each, str | bytes | Mapping) for each in (given, *_elements(given))):
        raise CorpusError(
            "this takes word counts, got texts; put a CountVectorizer first, with a public "
            "vocabulary: make_pipeline(CountVectorizer(vocabulary=words), PrivateBagOfWords())."
        )


def _elements(given: Any) -> Iterable[object]:  # noqa: ANN401 - whatever a caller passes
    """What ``given`` holds along its first axis, as Python's own objects; nothing: it has none."""
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return list(given.to_pylist())
    try:
        return list(given)
    except TypeError:
        return (given.item(),) if isinstance(given, np.ndarray) else ()


class NoCompression(Compression):
    """The identity map, so that a release without compression runs through the same steps."""

    def __init__(self, *, random_state: int | None = None) -> None:
        super().__init__(columns=0, random_state=random_state)

    def _chosen_map(self, words: int) -> WordMap:
        return WordMap(self._assign(words, words, np.random.default_rng()), words)

    def _assign(
        self,
        words: int,
        columns: int,  # noqa: ARG002  # as many columns as words
        generator: np.random.Generator,  # noqa: ARG002  # nothing is random here
    ) -> NDArray[np.int32]:
        return np.arange(words, dtype=np.int32)


class RandomCompression(Compression):
    """Words dealt to columns at random: Limited-Precision Release, Method RANDOM.

    Args:
        columns: K, the number of columns to release; 1 <= K < M.
        balanced: True deals a shuffled vocabulary, so that the columns' sizes differ by at most
            one; False draws each word's column on its own, as the paper prints it, and may leave
            a column without words (its noise then decompresses to nothing).
        prior: how frequent each word is, for decompression; None: equally frequent.
        decompression: "multinomial" or "expected".
        random_state: seed of the map and of the decompression; public, no part of the privacy.

    >>> RandomCompression(2, random_state=1).fit_transform([[1, 1, 1, 1]]).toarray().tolist()
    [[2, 2]]
    """

    def __init__(
        self,
        columns: int = 100,
        *,
        balanced: bool = True,
        prior: ArrayLike | None = None,
        decompression: Decompression = "multinomial",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            columns, prior=prior, decompression=decompression, random_state=random_state
        )
        self.balanced = balanced

    def _assign(
        self, words: int, columns: int, generator: np.random.Generator
    ) -> NDArray[np.int32]:
        if not self.balanced:
            return generator.integers(columns, size=words, dtype=np.int32)
        return (generator.permutation(words) % columns).astype(np.int32)


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
