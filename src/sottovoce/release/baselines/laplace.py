"""Laplace noise in floating point: the textbook mechanism, **not private as computed**.

On the reals, y + Laplace(1/r) is (N, r N)-limited-precision private. In floating point its outputs
lie on a sparse, y-dependent set of doubles, so single outputs can rule a neighbour out
(Mironov, "On significance of the least significant bits for differential privacy", CCS 2012);
`reachable` decides which. For comparison and as the audit's negative control only.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sottovoce.release.guarantee import NoGuarantee

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
