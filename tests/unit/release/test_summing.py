"""Summing the words of each column document by document is the product with the map's matrix."""

import numpy as np
import pytest
from scipy import sparse

from sottovoce.release.compression import word_map
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import checked_counts


def _some_counts(documents: int, words: int, seed: int) -> sparse.csr_array:
    generator = np.random.default_rng(seed)
    dense = generator.poisson(0.3, (documents, words))
    # A document without a word, and one with each of them.
    dense[documents // 2], dense[-1] = 0, 1
    return checked_counts(dense)


@pytest.mark.kernel
@pytest.mark.parametrize(("words", "columns"), [(5, 1), (12, 12), (30, 7), (200, 150)])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_sums_are_the_product_with_the_matrix(
    words: int, columns: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_map, "_CELLS_PER_THREAD", 8)
    counts = _some_counts(9, words, words)
    column = np.random.default_rng(columns).integers(0, columns, words).astype(np.int32)
    chosen = WordMap(column, columns)
    found, wanted = chosen.compress(counts, threads=threads), (counts @ chosen.matrix).toarray()
    assert found.has_canonical_format
    assert found.dtype == np.int64
    assert found.indices.dtype == np.int32
    assert np.array_equal(found.toarray(), wanted)
    assert found.nnz == np.count_nonzero(wanted)


def test_no_document_gives_no_row() -> None:
    counts = checked_counts(np.zeros((0, 4), np.int64))
    assert WordMap(np.array([0, 1, 0, 1], np.int32), 2).compress(counts).shape == (0, 2)
