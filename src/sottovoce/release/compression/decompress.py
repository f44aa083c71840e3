"""From noisy columns back to words: n_F ~ Multinomial(max(0, n_k), c_f / sum of c over F).

Free post-processing: it reads the noisy columns, the public map and a prior already paid for.
The prior's shares are floats and the draws come from numpy's generator; no privacy rests on them.
The loops are compiled.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.compiled import available_cores, kernel, on_threads
from sottovoce.errors import ParameterError
from sottovoce.release.compression.word_map import WordMap
from sottovoce.release.counts import Counts, Weights, checked_prior, checked_width

# Up to this many draws per word one alias draw each is faster than a chain of binomials.
DRAWS_PER_WORD = 8
# Fixed, so that a seed gives the same draws on any number of cores.
ROWS_PER_TASK = 4096


def multinomial_counts(
    compressed: Counts, word_map: WordMap, prior: Floats, generator: np.random.Generator
) -> Counts:
    """Draw each column's words: whole counts, the column's sum kept where it is positive."""
    checked_width(compressed, word_map.columns, what="compressed column")
    tables = _draw_tables(word_map, word_shares(word_map, prior))
    positive = _without_negatives(compressed)
    return _stack_blocks(_drawn_blocks(positive, tables, generator))


def expected_counts(compressed: Counts, word_map: WordMap, prior: Floats) -> Weights:
    """The means of `multinomial_counts`: max(0, n_k) c_f / sum of c over F, fractions allowed."""
    checked_width(compressed, word_map.columns, what="compressed column")
    spread = column_spread(word_map, prior)
    expected: Weights = sparse.csr_array(_without_negatives(compressed) @ spread)
    expected.eliminate_zeros()
    expected.sort_indices()
    return expected


def column_spread(word_map: WordMap, prior: Floats) -> Weights:
    """Columns x words: how the prior shares a column out to its words."""
    shares = word_shares(word_map, prior)
    spread = sparse.csr_array(word_map.matrix.astype(np.float64).multiply(shares[:, None]))
    return sparse.csr_array(spread.T)


def word_shares(word_map: WordMap, prior: Floats) -> Floats:
    """c_f / sum of c over the words of f's column."""
    frequencies = checked_prior(prior, word_map.words)
    totals = np.bincount(word_map.column, weights=frequencies, minlength=word_map.columns)
    empty = np.count_nonzero((totals == 0) & (word_map.sizes > 0))
    if empty:
        raise ParameterError(
            f"a prior must be > 0 for some word of every column, got {empty} of "
            f"{word_map.columns} columns with a prior of zeros; raise the prior's floor."
        )
    return frequencies / totals[word_map.column]


@dataclass(frozen=True)
class _DrawTables:
    """The words of each column side by side, with Walker's alias tables over them."""

    words: NDArray[np.int32]
    starts: Integers
    shares: Floats
    keep: Floats
    alias: Integers


def _draw_tables(word_map: WordMap, shares: Floats) -> _DrawTables:
    words = np.argsort(word_map.column, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(word_map.sizes)]).astype(np.int64)
    keep, alias = alias_tables(shares[words], starts)
    return _DrawTables(words, starts, shares[words], keep, alias)


def _without_negatives(compressed: Counts) -> Counts:
    positive = compressed.copy()
    np.maximum(positive.data, 0, out=positive.data)
    positive.eliminate_zeros()
    return positive


def _drawn_blocks(
    positive: Counts, tables: _DrawTables, generator: np.random.Generator
) -> list[Counts]:
    starts = range(0, max(positive.shape[0], 1), ROWS_PER_TASK)
    blocks = [positive[start : start + ROWS_PER_TASK] for start in starts]
    jobs = list(zip(blocks, generator.spawn(len(blocks)), strict=True))
    drawn: list[Counts] = []
    for first in range(0, len(jobs), available_cores()):
        batch = jobs[first : first + available_cores()]
        drawn += on_threads([partial(_drawn_block, *job, tables) for job in batch])
    return drawn


def _drawn_block(block: Counts, generator: np.random.Generator, tables: _DrawTables) -> Counts:
    pointers, columns = block.indptr.astype(np.int64), block.indices.astype(np.int64)
    room = most_words_out(block.data, columns, tables.starts)
    words, values = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    ends = draw_words(
        generator,
        pointers,
        columns,
        block.data,
        tables.words,
        tables.starts,
        tables.shares,
        tables.keep,
        tables.alias,
        words,
        values,
    )
    shape = (block.shape[0], tables.words.size)
    return sparse.csr_array((values[: ends[-1]], words[: ends[-1]], ends), shape=shape)


def _stack_blocks(blocks: list[Counts]) -> Counts:
    counts: Counts = sparse.csr_array(sparse.vstack(blocks, format="csr", dtype=np.int64))
    counts.sort_indices()
    return counts


@kernel
def alias_tables(shares: Floats, starts: Integers) -> tuple[Floats, Integers]:
    """Walker's tables: within a column, slot j is kept with probability ``keep[j]``, else aliased.

    ``shares`` sum to 1 over each column ``starts[k]:starts[k + 1]``.
    """
    keep = np.ones(shares.size)
    alias = np.empty(shares.size, dtype=np.int64)
    small = np.empty(shares.size, dtype=np.int64)
    large = np.empty(shares.size, dtype=np.int64)
    for k in range(starts.size - 1):
        size = starts[k + 1] - starts[k]
        smalls = larges = 0
        alias[starts[k] : starts[k + 1]] = heaviest(shares, starts[k], starts[k + 1])
        for j in range(starts[k], starts[k + 1]):
            keep[j] = shares[j] * size
            if keep[j] < 1.0:
                small[smalls] = j
                smalls += 1
            else:
                large[larges] = j
                larges += 1
        while smalls and larges:
            smalls -= 1
            poor, rich = small[smalls], large[larges - 1]
            alias[poor] = rich
            keep[rich] -= 1.0 - keep[poor]
            if keep[rich] < 1.0:
                larges -= 1
                small[smalls] = rich
                smalls += 1
        # What rounding leaves over is as good as full, unless the word has no share at all:
        # then its slot goes to the column's heaviest word.
        for left in range(smalls):
            keep[small[left]] = 1.0 if shares[small[left]] > 0.0 else 0.0
        for left in range(larges):
            keep[large[left]] = 1.0
    return keep, alias


@kernel
def heaviest(shares: Floats, first: int, last: int) -> int:
    """The slot with the largest share of ``first:last``."""
    best = first
    for j in range(first, last):
        if shares[j] > shares[best]:
            best = j
    return best


@kernel
def most_words_out(counts: Integers, columns: Integers, starts: Integers) -> int:
    """How many (document, word) cells a block can decompress to: sum of min(n_k, words of k)."""
    most = 0
    for cell in range(counts.size):
        size = starts[columns[cell] + 1] - starts[columns[cell]]
        most += min(counts[cell], size)
    return most


@kernel
def draw_words(  # compiled code takes arrays, not objects
    generator: np.random.Generator,
    pointers: Integers,
    columns: Integers,
    counts: Integers,
    words: NDArray[np.int32],
    starts: Integers,
    shares: Floats,
    keep: Floats,
    alias: Integers,
    words_out: NDArray[np.int32],
    counts_out: Integers,
) -> Integers:
    """Fill ``words_out`` and ``counts_out`` with each document's words; return the row ends."""
    drawn = np.zeros(words.size, dtype=np.int64)
    ends = np.zeros(pointers.size, dtype=np.int64)
    filled = 0
    for row in range(pointers.size - 1):
        for cell in range(pointers[row], pointers[row + 1]):
            first, last = starts[columns[cell]], starts[columns[cell] + 1]
            if last > first:
                draw_cell(generator, counts[cell], first, last, shares, keep, alias, drawn)
            for j in range(first, last):
                if drawn[j]:
                    words_out[filled], counts_out[filled] = words[j], drawn[j]
                    drawn[j] = 0
                    filled += 1
        ends[row + 1] = filled
    return ends


@kernel
def draw_cell(  # compiled code takes arrays, not objects
    generator: np.random.Generator,
    count: int,
    first: int,
    last: int,
    shares: Floats,
    keep: Floats,
    alias: Integers,
    drawn: Integers,
) -> None:
    """Add Multinomial(``count``, shares of ``first:last``) to ``drawn``."""
    size = last - first
    if count <= DRAWS_PER_WORD * size:
        for _ in range(count):
            scaled = generator.random() * size
            slot = int(scaled)
            j = first + slot
            drawn[j if scaled - slot < keep[j] else alias[j]] += 1
        return
    left, share_left = count, 1.0
    for j in range(first, last - 1):
        if left == 0 or share_left <= 0.0:
            break
        taken = generator.binomial(left, min(1.0, shares[j] / share_left))
        drawn[j] += taken
        left -= taken
        share_left -= shares[j]
    drawn[last - 1] += left
