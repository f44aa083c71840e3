"""The random-projection sketch: each document's shadow in a random subspace. It has no epsilon."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sottovoce.errors import ParameterError
from sottovoce.release.guarantee import NoGuarantee


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
