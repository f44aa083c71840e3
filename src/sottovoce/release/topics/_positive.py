"""The cells of a release that are above zero: beside totals, all that says anything of its counts.

Every cell at or below zero says the same of its count (its likelihood is e^(-(1-alpha) mu) whatever
its value), so that work and memory go with the positive ones: four bytes each.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Rows, row_blocks
from sottovoce.release.counts import Counts
from sottovoce.release.topics._kernels import keep_positive

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_WORDS = 8192
"""Beyond, pairs of words would not fit the memory of an ordinary machine."""
LARGEST = 1023
"""A larger cell is read as this one."""
_BLOCK_ROWS = 4096


@dataclass(frozen=True)
class TopicModel:
    """What is taken to be true of documents before any is read.

    Attributes:
        law: of the noise.
        mean_length: words a document.
        prior: shape of theta's gamma distribution, per topic.
        word_prior: added to each topic's expected tokens of each word.
    """

    law: NoiseLaw
    mean_length: float
    prior: float
    word_prior: float

    def scale(self, topics: int) -> float:
        """The rate of theta's gamma distribution: with it documents have that mean length."""
        return topics * self.prior / self.mean_length


@dataclass(frozen=True, eq=False)
class PositiveCells:
    """Cells above zero, document after document, and how often each word was used in all cells."""

    pointers: Integers
    words: NDArray[np.uint16]
    values: NDArray[np.uint16]
    width: int
    totals: Floats
    """The sum of every cell of a word, the negative ones too: unbiased."""
    row_variance: float = 0.0
    """Of the sums of all documents' cells."""

    @property
    def documents(self) -> int:
        """How many, those without positive cells included."""
        return self.pointers.size - 1

    @property
    def mean_length(self) -> float:
        """Words a document, as far as the noise lets one say, and at least one."""
        return max(float(self.totals.sum()) / max(self.documents, 1), 1.0)

    @property
    def density(self) -> float:
        """The share of its cells that are positive."""
        return self.words.size / max(self.documents * self.width, 1)

    def frequencies(self) -> Floats:
        """Each word's share of all; one that the noise made rare or negative has a small share."""
        held = np.maximum(self.totals, 0.2 * max(float(self.totals.mean()), 1.0))
        return np.asarray(held / held.sum())

    def taken(self, kept: NDArray[np.bool_]) -> "PositiveCells":
        """The documents marked in ``kept``, with their share of the totals."""
        lengths = np.diff(self.pointers)
        pointers = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[kept])])
        own = np.repeat(kept, lengths)
        totals = self.totals * (int(kept.sum()) / max(self.documents, 1))
        words, values = self.words[own], self.values[own]
        return PositiveCells(pointers, words, values, self.width, totals, self.row_variance)

    def of_words(self, kept: NDArray[np.bool_]) -> "PositiveCells":
        """The cells of some of the words; the others are as if nobody had looked at them."""
        chosen = kept[self.words]
        before = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen, dtype=np.int64)])
        own = self.words[chosen], self.values[chosen]
        return PositiveCells(before[self.pointers], *own, self.width, self.totals * kept)

    def blocks(self, documents: int) -> "Iterator[PositiveCells]":
        """So many documents at a time, none of them copied; the totals are those of all."""
        for first in range(0, self.documents, documents):
            pointers = self.pointers[first : first + documents + 1]
            own = slice(int(pointers[0]), int(pointers[-1]))
            words, values = self.words[own], self.values[own]
            yield PositiveCells(pointers - pointers[0], words, values, self.width, self.totals)


def positive_cells(rows: Rows, *, most: int) -> PositiveCells:
    """The positive cells of all documents, or of the first so many as hold ``most`` of them.

    The totals are those of all, scaled to as many documents as are kept.
    """
    documents, width = rows.shape
    if width > MOST_WORDS:
        raise ParameterError(f"topics are read of at most {MOST_WORDS:,} words, got {width:,}.")
    totals, squares, parts, kept = np.zeros(width), 0.0, list[PositiveCells](), 0
    for block in row_blocks(rows, _BLOCK_ROWS):
        found = block_cells(block)
        totals += found.totals
        squares += found.row_variance * found.documents + found.totals.sum() ** 2 / found.documents
        if kept < most:
            parts.append(found)
            kept += found.words.size
    variance = float(squares) / max(documents, 1) - (totals.sum() / max(documents, 1)) ** 2
    return _joined(parts, totals, documents, float(variance))


def block_cells(block: Counts) -> PositiveCells:
    """Those of one block of rows, with its own totals."""
    if not block.has_canonical_format:
        block = block.copy()
        block.sum_duplicates()
    pointers, totals = np.zeros(block.shape[0] + 1, np.int64), np.zeros(block.shape[1])
    lengths = np.zeros(block.shape[0])
    words = np.empty(int(np.count_nonzero(block.data > 0)), np.uint16)
    values = np.empty(words.size, np.uint16)
    given = block.indptr.astype(np.int64), block.indices, block.data
    keep_positive(*given, LARGEST, pointers, words, values, totals, lengths)
    return PositiveCells(pointers, words, values, block.shape[1], totals, float(lengths.var()))


def _joined(
    parts: list[PositiveCells], totals: Floats, documents: int, variance: float
) -> PositiveCells:
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.pointers) for part in parts)])
    pointers = np.cumsum(lengths)
    none = np.zeros(0, np.uint16)
    words = np.concatenate([none, *(part.words for part in parts)])
    values = np.concatenate([none, *(part.values for part in parts)])
    shared = totals * ((pointers.size - 1) / max(documents, 1))
    return PositiveCells(pointers, words, values, totals.size, shared, variance)
