"""Sparsity and document length."""

from dataclasses import dataclass

from sottovoce.errors import CorpusError
from sottovoce.release.counts import Counts


@dataclass(frozen=True)
class CorpusShape:
    """How sparse a corpus is and how long its documents are."""

    sparsity: float
    mean_length: float


def corpus_shape(counts: Counts) -> CorpusShape:
    """Share of cells that are zero, and the mean sum of a row."""
    documents, words = counts.shape
    if not documents or not words:
        raise CorpusError(f"a corpus needs documents and words, got {documents} x {words}.")
    zeros = 1 - counts.count_nonzero() / (documents * words)
    return CorpusShape(float(zeros), float(counts.sum() / documents))
