"""Words to columns at random."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.release.compression.base import Compression, Decompression


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
