"""Compiled loops of the multinomial decompression."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import kernel
from sottovoce.release.counts import Floats, Integers

# Up to this many draws per word one alias draw each is faster than a chain of binomials.
DRAWS_PER_WORD = 8


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
