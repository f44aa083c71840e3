"""Three ways to release a corpus of counts: compress, add two-sided geometric noise, keep CSR.

Ours is exact and secure, and so is OpenDP's, a document at a time. numpy's is neither; it is given
the leanest dense form there is: one array, to which both geometric draws are added in place.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import sparse

from sottovoce.errors import CheckFailedError
from sottovoce.privacy.mechanism import GeometricMechanism
from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression
from sottovoce.release.counts import Counts, checked_counts
from sottovoce_lab.bench import noise as opendp

# A release this far from what its rate makes of it is not the same work.
_DEVIATIONS = 6


@dataclass(frozen=True)
class ReleaseBenchSetting:
    """How many words become how many columns, and the rate of their noise."""

    words: int
    columns: int
    rate: Fraction

    def compression(self, counts: Counts) -> Compression:
        """The public map, the same for every way."""
        if self.columns == self.words:
            return NoCompression().fit(counts)
        return RandomCompression(self.columns, random_state=0).fit(counts)

    def compress_counts(self, counts: Counts) -> Counts:
        """The columns before noise, by a plain product with the map."""
        if self.columns == self.words:
            return counts
        return sparse.csr_array(counts @ self.compression(counts[:1]).map_.matrix)


Way = Callable[[ReleaseBenchSetting, Counts], Counts]


def ours(setting: ReleaseBenchSetting, counts: Counts, *, threads: int | None = None) -> Counts:
    """The estimator's path: input checked, summed into columns, noised without a dense matrix."""
    checked, fitted = checked_counts(counts, threads=threads), setting.compression(counts[:1])
    columns = fitted.map_.compress(checked, threads=threads)
    return GeometricMechanism(setting.rate).sparse(columns, threads=threads)


def opendp_by_document(setting: ReleaseBenchSetting, counts: Counts) -> Counts:
    """OpenDP's vector mechanism on one document after the other."""
    measurement = opendp.laplace_on_vectors(setting.rate)
    if measurement is None:
        raise CheckFailedError("OpenDP is not installed; to compare with it: make peers.")
    rows = setting.compress_counts(counts).astype(np.int32)
    noised = [measurement(rows[[i]].toarray()[0]) for i in range(rows.shape[0])]
    return sparse.csr_array(np.array(noised, dtype=np.int64))


def numpy_dense(setting: ReleaseBenchSetting, counts: Counts) -> Counts:
    """The difference of two geometric draws on every cell of a dense matrix."""
    generator = np.random.default_rng()
    success = -math.expm1(-float(setting.rate))
    dense = setting.compress_counts(counts).toarray()
    dense += generator.geometric(success, dense.shape)
    dense -= generator.geometric(success, dense.shape)
    return sparse.csr_array(dense)


WAYS: dict[str, Way] = {"ours": ours, "opendp": opendp_by_document, "numpy": numpy_dense}


def check_release(
    name: str, setting: ReleaseBenchSetting, counts: Counts, released: Counts
) -> None:
    """Refuse what is not ``counts`` in columns under noise at the rate, as E|Z| tells.

    E|Z| = 2 alpha / (1 - alpha^2) and E Z^2 = 2 alpha / (1 - alpha)^2.
    """
    alpha = math.exp(-float(setting.rate))
    cells = released.shape[0] * setting.columns
    noise = abs(released - setting.compress_counts(counts)).sum() / cells
    wrong_by = abs(noise - 2 * alpha / (1 - alpha**2))
    if wrong_by > _DEVIATIONS * math.sqrt(2 * alpha / (1 - alpha) ** 2 / cells):
        raise CheckFailedError(f"{name} adds other noise than the rate {setting.rate} asks for.")
