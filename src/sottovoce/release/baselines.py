"""What a release is compared with: Laplace noise, plain local privacy, random projections.

Laplace noise in floating point is the textbook mechanism, **not private as computed**. On the
reals, y + Laplace(1/r) is (N, r N)-limited-precision private. In floating point its outputs lie on
a sparse, y-dependent set of doubles, so single outputs can rule a neighbour out (Mironov, "On
significance of the least significant bits for differential privacy", CCS 2012); `reachable` decides
which. For comparison and as the audit's negative control only.

The geometric mechanism under plain local privacy, on documents cut to a public length, is exact,
private, and buried in noise. The random-projection sketch, a document's image in a random subspace,
has no epsilon.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.errors import ParameterError
from sottovoce.privacy.exact import Exact, positive_integer
from sottovoce.privacy.guarantee import LocalPrivacy, NoGuarantee
from sottovoce.privacy.mechanism import GeometricMechanism

_GRID = 2.0**53
# The logarithm is rounded: the grid point that gave an output is within a few of its inverse.
_NEARBY = np.arange(-4, 5, dtype=np.float64)


@dataclass(frozen=True)
class LaplaceBaseline:
    """counts + sign * log(u) / rate, with u uniform on multiples of 2^-53."""

    rate: float
    seed: int = 0

    @property
    def guarantee(self) -> NoGuarantee:
        """None in floating point, whatever the rate."""
        return NoGuarantee("floating-point outputs can rule a neighbouring document out.")

    def release(self, counts: NDArray[np.integer]) -> NDArray[np.float64]:
        """``counts`` under noise of standard deviation sqrt(2) / rate."""
        generator = np.random.default_rng(self.seed)
        grid = generator.integers(1, 1 << 53, size=counts.shape, endpoint=True)
        signs = generator.integers(0, 2, size=counts.shape) * 2 - 1
        return counts + signs * self._magnitude(grid.astype(np.float64))

    def reachable(self, outputs: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
        """Whether some draw of the noise takes ``count`` to each of ``outputs``, bit for bit."""
        offset = np.asarray(outputs - count)[..., np.newaxis]
        near = np.rint(np.exp(-np.abs(offset) * self.rate) * _GRID) + _NEARBY
        tried = self._magnitude(np.clip(near, 1, _GRID)) * np.sign(offset)
        return np.asarray((count + tried == outputs[..., np.newaxis]).any(axis=-1))

    def _magnitude(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-np.log(grid / _GRID) / self.rate)


def cut_lengths(counts: csr_array, length_cap: int) -> csr_array:
    """Each row's words in column order, up to ``length_cap`` of them: any two are then 2 L apart.

    The cut looks at one row alone, so it costs no privacy beyond epsilon = 2 L r.
    """
    cap = positive_integer(length_cap, "length_cap")
    running = np.cumsum(counts.data, dtype=np.int64)
    before_row = np.concatenate([[0], running])[counts.indptr[:-1]]
    row_of = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    upto = running - before_row[row_of]
    kept = np.minimum(upto, cap) - np.minimum(upto - counts.data, cap)
    cut = csr_array((kept, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
    cut.eliminate_zeros()
    return cut


class LocalGeometricBaseline:
    """Documents cut to L words, each count under noise at the rate epsilon / (2 L)."""

    def __init__(self, epsilon: Exact, length_cap: int) -> None:
        self.guarantee = LocalPrivacy(epsilon, length_cap)
        self._mechanism = GeometricMechanism.giving(self.guarantee)

    def release(self, counts: csr_array, *, threshold: int | None = None) -> csr_array:
        """``counts``, cut and noised."""
        cut = cut_lengths(counts, self.guarantee.length_cap)
        return self._mechanism.sparse(cut, threshold=threshold)


@dataclass(frozen=True)
class ProjectionBaseline:
    """Sketch s = y R and estimate y^ = s R', R of random signs over sqrt(k), k = ``dimensions``.

    E[y^] = y over R. The map is public and deterministic: from the sketch, documents that differ
    are told apart with certainty, so no finite epsilon holds.
    """

    words: int
    dimensions: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.dimensions < 1:
            raise ParameterError(f"dimensions must be >= 1, got {self.dimensions}.")

    @property
    def guarantee(self) -> NoGuarantee:
        """None, at any number of dimensions."""
        return NoGuarantee("a random projection is deterministic once its matrix is public.")

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """The public R, words x dimensions."""
        signs = np.random.default_rng(self.seed).integers(0, 2, (self.words, self.dimensions))
        return np.asarray((2.0 * signs - 1) / np.sqrt(self.dimensions))

    def sketch(self, counts: csr_array) -> NDArray[np.float64]:
        """The sketches y R of all rows."""
        return np.asarray(counts @ self.matrix)

    def release(self, counts: csr_array) -> NDArray[np.float64]:
        """The estimates y^ that a reader of the sketches makes."""
        return np.asarray(self.sketch(counts) @ self.matrix.T)
