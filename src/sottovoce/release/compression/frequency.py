"""Frequent words kept apart."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError
from sottovoce.release.compression.base import Compression, Decompression
from sottovoce.release.counts import Floats


class FrequencyCompression(Compression):
    """The i-th most frequent word goes to column i mod K.

    Limited-Precision Release, Method FREQUENCY.

    Args:
        columns: K, the number of columns to release; 1 <= K < M.
        frequencies: how frequent each word is: public numbers, or those of a `Prior`, which says
            what they cost; "ordered" when the vocabulary already stands in falling order of a
            public frequency. There is no default: counts of the private corpus are not free.
        prior: frequencies for decompression; None: ``frequencies``, or equal ones if "ordered".
        decompression: "multinomial" or "expected".
        random_state: seed of the decompression; the map itself is not random.

    >>> how = FrequencyCompression(2, frequencies=[9, 5, 4, 1])
    >>> how.fit_transform([[1, 2, 3, 4]]).toarray().tolist()
    [[4, 6]]
    """

    def __init__(
        self,
        columns: int = 100,
        *,
        frequencies: ArrayLike | Literal["ordered"] | None = None,
        prior: ArrayLike | None = None,
        decompression: Decompression = "multinomial",
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            columns, prior=prior, decompression=decompression, random_state=random_state
        )
        self.frequencies = frequencies

    def _assign(
        self,
        words: int,
        columns: int,
        generator: np.random.Generator,  # noqa: ARG002  # nothing is random here
    ) -> NDArray[np.int32]:
        if self._is_ordered():
            return (np.arange(words) % columns).astype(np.int32)
        most_frequent_first = np.argsort(-self._known_frequencies(words), kind="stable")
        column = np.empty(words, dtype=np.int32)
        column[most_frequent_first] = np.arange(words) % columns
        return column

    def _is_ordered(self) -> bool:
        return isinstance(self.frequencies, str) and self.frequencies == "ordered"

    def _known_frequencies(self, words: int) -> Floats:
        if self.frequencies is None or isinstance(self.frequencies, str):
            raise ParameterError(
                "frequencies must be one number per word or 'ordered'; counts of the private "
                "corpus are not free: give public ones or those of a local or central prior."
            )
        known = np.asarray(self.frequencies, dtype=np.float64)
        if known.shape != (words,) or not np.isfinite(known).all():
            raise ParameterError(
                f"frequencies must be {words} finite numbers, one per word, got an array of "
                f"shape {known.shape}."
            )
        return known

    def _prior_frequencies(self) -> Floats:
        if self.prior is None and not self._is_ordered():
            return np.maximum(self._known_frequencies(self.map_.words), 0)
        return super()._prior_frequencies()
