"""No compression: every word keeps its own column."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.release.compression.base import Compression
from sottovoce.release.compression.mapping import WordMap


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
