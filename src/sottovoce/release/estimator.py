"""Private bags of words with scikit-learn's conventions."""

import warnings
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, exact
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.compression.decompress import multinomial_counts
from sottovoce.release.compression.embedding import WordVectors
from sottovoce.release.compression.maps import counting_tags, in_row_order, validated_counts
from sottovoce.release.counts import Counts, Matrix
from sottovoce.release.plan import Accounting, PriorKind, Released, ReleasePlan, ReleaseSettings


class PrivateBagOfWords(TransformerMixin, BaseEstimator):  # type: ignore[misc] # sklearn has no types
    """Word counts in, the same counts under limited-precision local privacy out.

    Every ``transform`` draws fresh noise from the operating system's randomness and spends
    ``guarantee_`` again on the documents it is given: their rates add up. ``fit`` reads the width
    of its input and the words' names, never a count. No ledger charges a matrix of counts, whose
    documents it could not tell: whoever calls adds up. To keep account across calls and processes
    release the texts, with ``release_counts`` or the command ``sottovoce release``.

    Args:
        n: N, the number of words within which documents are made alike.
        epsilon: for documents up to N words apart; text such as "0.1" is taken exactly.
        compression: none, random, frequency, embedding-cluster or embedding-disperse.
        columns: K, with a compression.
        accounting: "tight", or "paper" to reproduce the paper's; ``guarantee_`` is true in both.
        prior: "public", "local" or "central".
        prior_share: part of the rate that pays for local or central frequencies.
        frequencies: public frequencies, one per word.
        embedding: a public vector space, for the embedding compressions.
        vocabulary: the words in column order; None: the names that ``fit`` sees, or x0, x1, ...
        maps: how many public maps to use; row i takes map i mod ``maps``.
        threshold: keep only outputs of at least this.
        constant_work: noise whose work does not depend on the counts, at a higher cost.
        decompress: share the columns out to the words again (free post-processing).
        random_state: seed of the public map and of the decompression; never of the noise.

    >>> private = PrivateBagOfWords(n=2, epsilon=2).fit([[1, 0, 3], [0, 2, 0]])
    >>> private.transform([[1, 0, 3]]).shape, str(private.guarantee_.epsilon)
    ((1, 3), '2')
    """

    def __init__(
        self,
        n: int = 1,
        epsilon: Exact = 1,
        *,
        compression: str = "none",
        columns: int | None = None,
        accounting: Accounting = "tight",
        prior: PriorKind = "public",
        prior_share: Exact = "1/10",
        frequencies: ArrayLike | None = None,
        embedding: WordVectors | None = None,
        vocabulary: ArrayLike | None = None,
        maps: int = 1,
        threshold: int | None = None,
        constant_work: bool = False,
        decompress: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.n = n
        self.epsilon = epsilon
        self.compression = compression
        self.columns = columns
        self.accounting = accounting
        self.prior = prior
        self.prior_share = prior_share
        self.frequencies = frequencies
        self.embedding = embedding
        self.vocabulary = vocabulary
        self.maps = maps
        self.threshold = threshold
        self.constant_work = constant_work
        self.decompress = decompress
        self.random_state = random_state

    def fit(self, X: Matrix, y: object = None) -> Self:  # noqa: ARG002, N803 - sklearn's signature
        """Work the release out for matrices as wide as ``X``."""
        width = validated_counts(self, X, reset=True).shape[1]
        self.plan_ = ReleasePlan(self._settings(), self._words(width))
        self.guarantee_ = self.plan_.guarantee
        for warning in self.plan_.warnings():
            warnings.warn(warning, stacklevel=2)
        return self

    def transform(self, X: Matrix) -> Counts:  # noqa: N803 - scikit-learn's name
        """Fresh noise on every count, zeros included."""
        check_is_fitted(self)
        released = self.plan_.draw(validated_counts(self, X, reset=False))
        return self._shared_out(released) if self.decompress else released.counts

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """The words, or column0, column1, ... of a compressed release.

        ``input_features`` name the words where neither ``vocabulary`` nor ``fit`` did.
        """
        check_is_fitted(self)
        if self.decompress or self.compression == "none":
            return self._names_out(input_features)
        return np.array([f"column{k}" for k in range(self.plan_.columns)], dtype=object)

    def _names_out(self, input_features: ArrayLike | None) -> NDArray[np.object_]:
        named = self.vocabulary is not None or hasattr(self, "feature_names_in_")
        words = self.plan_.vocabulary
        if named or input_features is None:
            return np.array(words, dtype=object)
        names = np.asarray(input_features, dtype=object)
        if names.shape != (len(words),):
            raise ParameterError(
                f"input_features must name the {len(words)} columns, got {names.size}."
            )
        return names

    def _shared_out(self, released: Released) -> Counts:
        generator = np.random.default_rng(self.random_state)
        rows, groups = released.counts, len(released.maps)
        parts = [
            multinomial_counts(rows[g::groups], each, released.frequencies, generator)
            for g, each in enumerate(released.maps[: rows.shape[0]])
        ]
        return in_row_order(parts, groups)

    def _settings(self) -> ReleaseSettings:
        frequencies = self.frequencies
        return ReleaseSettings(
            guarantee=LimitedPrecision(self.n, self.epsilon),
            compression=self.compression,
            columns=self.columns,
            accounting=self.accounting,
            prior=self.prior,
            prior_share=exact(self.prior_share, "prior_share"),
            frequencies=None if frequencies is None else np.asarray(frequencies, np.float64),
            embedding=self.embedding,
            maps=self.maps,
            threshold=self.threshold,
            constant_work=self.constant_work,
            seed=self.random_state,
        )

    def _words(self, width: int) -> tuple[str, ...]:
        if self.vocabulary is not None:
            words = tuple(np.asarray(self.vocabulary).tolist())
            if len(words) != width:
                raise ParameterError(
                    f"vocabulary must name the {width} columns of X, got {len(words)} words."
                )
            return words
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{i}" for i in range(width)) if names is None else tuple(names)

    def __sklearn_tags__(self) -> object:
        """As every transformer of counts; different each time."""
        tags = counting_tags(super().__sklearn_tags__())
        tags.non_deterministic = True
        return tags
