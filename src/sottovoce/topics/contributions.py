"""What each word of a post adds to its strength: the post is scored again without the word."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import ParameterError
from sottovoce.topics.rows import checked_rows

Strengths = Callable[[sparse.csr_array], NDArray[np.float64]]

# So many cells of posts without a word are held at a time.
_CELLS = 1 << 22


def topic_number(topics: tuple[str, ...], name: str) -> int:
    """The column of the topic ``name``."""
    if name not in topics:
        raise ParameterError(f"topic must be one of the catalogue's {len(topics)}, got {name!r}.")
    return topics.index(name)


def contributions_of_words(
    counts: sparse.csr_array, vocabulary: Vocabulary, strengths: Strengths
) -> sparse.csr_array:
    """In the cells of ``counts``: the strength of the post less that of the post without the word.

    ``strengths`` gives one number a row. A word's occurrences are left out all at once.
    """
    rows = checked_rows(counts, vocabulary)
    matrix = sparse.csr_array((rows.counts, rows.columns, rows.pointers), shape=counts.shape)
    lengths = np.diff(rows.pointers)
    added = np.repeat(strengths(matrix), lengths)
    for first, last in _blocks(lengths):
        cells = slice(rows.pointers[first], rows.pointers[last])
        added[cells] -= strengths(without_each_word(matrix[first:last]))
    return sparse.csr_array((added, rows.columns, rows.pointers), shape=counts.shape)


def _blocks(lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Contiguous rows whose squares of lengths stay within the bound, at least one row each."""
    blocks, first, cells = [], 0, 0
    for row, length in enumerate(lengths.tolist()):
        if cells and cells + length * length > _CELLS:
            blocks.append((first, row))
            first, cells = row, 0
        cells += length * length
    blocks.append((first, lengths.size))
    return blocks


def without_each_word(posts: sparse.csr_array) -> sparse.csr_array:
    """For each cell of ``posts`` a row: its post without that cell."""
    lengths = np.diff(posts.indptr)
    repeats = np.repeat(lengths, lengths)
    pointers = np.concatenate([[0], np.cumsum(repeats)])
    own = np.arange(posts.nnz) - np.repeat(posts.indptr[:-1], lengths)
    begins = np.repeat(np.repeat(posts.indptr[:-1], lengths), repeats)
    place = np.arange(pointers[-1]) - np.repeat(pointers[:-1], repeats)
    kept = place != np.repeat(own, repeats)
    cells = (begins + place)[kept]
    ends = np.concatenate([[0], np.cumsum(repeats - 1)])
    return sparse.csr_array(
        (posts.data[cells], posts.indices[cells], ends), shape=(posts.nnz, posts.shape[1])
    )
