"""Counting the words of one text after another, without preparing the vocabulary each time."""

import threading
from typing import TYPE_CHECKING

import pyarrow as pa

from sottovoce.corpus.counting import count_batches

if TYPE_CHECKING:
    from scipy import sparse

    from sottovoce.topics.space import PostScorer


class TextCounter:
    """Counts single texts as a scorer wants them; threads may share it."""

    def __init__(self, scorer: "PostScorer") -> None:
        self._scorer = scorer
        self._lock = threading.Lock()
        self._open()

    def counts(self, text: str) -> "sparse.csr_array":
        """One row: the counts of ``text``."""
        array = pa.array([text], pa.string())
        with self._lock:
            self._waiting.append(array)
            try:
                return next(self._stream)
            except BaseException:
                # A stream that failed is over.
                self._open()
                raise

    def _open(self) -> None:
        self._waiting: list[pa.Array] = []
        # A stream asks for its next text when it is asked for its next counts.
        texts = iter(self._waiting.pop, None)
        scorer = self._scorer
        self._stream = count_batches(texts, scorer.vocabulary, scorer.rules, threads=1)
