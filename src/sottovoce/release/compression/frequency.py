"""Frequent words kept apart, and where their frequencies come from.

A prior gives frequencies at a cost. Costs are rates: nats per unit of L1 distance between two
versions of a document, as everywhere in `release`. They do not grow with the number of words. The
noise itself is passed in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.release.compression.maps import Compression, Decompression
from sottovoce.release.counts import Counts, checked_counts, checked_width

ROWS_AT_ONCE = 1024  # noise fills every cell, so that a whole corpus at once may not fit
# Counts and a rate in, the same counts with two-sided geometric noise of that rate out.
Noise: TypeAlias = Callable[[Counts, Fraction], Counts]


class FrequencyCompression(Compression):
    """The i-th most frequent word goes to column i mod K.

    Limited-Precision Release, Method FREQUENCY.

    Args:
        columns: K, the number of columns to release; 1 <= K < M.
        frequencies: how frequent each word is: public numbers, or those of a prior, which says
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


@dataclass(frozen=True)
class _PaidPrior:
    """Frequencies bought from private documents at rate r_h > 0.

    Those below 1 are raised to it after the noise: free post-processing that rules out zeros.
    """

    rate: Fraction

    def __post_init__(self) -> None:
        """Refuse a rate that is not an exact positive number."""
        if type(self.rate) not in (Fraction, int):
            raise ParameterError("a prior's rate must be an exact Fraction.")
        if self.rate <= 0:
            raise ParameterError(f"a prior's rate must be > 0, got {self.rate}.")


class LocalPrior(_PaidPrior):
    """Every document adds noise to its own counts; nobody sees a true one."""

    def frequencies(self, counts: Counts, noise: Noise) -> Floats:
        """The sum of noisy documents, at least 1."""
        total = np.zeros(counts.shape[1], dtype=np.int64)
        for start in range(0, counts.shape[0], ROWS_AT_ONCE):
            block = _add_noise(counts[start : start + ROWS_AT_ONCE], noise, self.rate)
            total += np.asarray(block.sum(axis=0)).ravel()
        return np.maximum(total.astype(np.float64), 1.0)


class CentralPrior(_PaidPrior):
    """A trusted curator adds noise once, to the sums over all documents."""

    def frequencies(self, counts: Counts, noise: Noise) -> Floats:
        """The noisy sum of documents, at least 1."""
        sums: Integers = np.asarray(counts.sum(axis=0)).reshape(1, -1)
        noisy = _add_noise(checked_counts(sums), noise, self.rate).toarray()[0]
        return np.asarray(np.maximum(noisy.astype(np.float64), 1.0))


PAID_PRIORS: dict[str, type[LocalPrior | CentralPrior]] = {
    "local": LocalPrior,
    "central": CentralPrior,
}


def _add_noise(counts: Counts, noise: Noise, rate: Fraction) -> Counts:
    noisy = checked_counts(noise(sparse.csr_array(counts), Fraction(rate)), signed=True)
    checked_width(noisy, counts.shape[1], what="word")
    return noisy
