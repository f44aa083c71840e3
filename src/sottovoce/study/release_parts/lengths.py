"""A public cap on document length, which plain local privacy needs."""

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.release.counts import Counts


def cut_to_length(counts: Counts, most: int, generator: np.random.Generator) -> Counts:
    """Keep ``most`` tokens of every longer document, chosen at random; shorter ones stay."""
    if most < 1:
        raise ParameterError(f"a length cap must be >= 1, got {most}.")
    cell = np.repeat(np.arange(counts.nnz), counts.data)
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[cell]
    order = np.lexsort((generator.random(cell.size), row))
    lengths = np.bincount(row, minlength=counts.shape[0])
    place = np.arange(cell.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    kept = counts.copy()
    kept.data = np.bincount(cell[order][place < most], minlength=counts.nnz).astype(np.int64)
    kept.eliminate_zeros()
    return kept
