"""Fold-in: the topics of a post, all at once, under a topic model that stays as it is.

Two passes of collapsed variational inference of order zero over the post's distinct words. The
first goes forward and learns as it goes: each word is shared out among the topics by what the words
before it said. The second goes backward and shares each word out again by all other words. More
passes move on towards a mode of the posterior and predict unseen words of a short post worse.

A post has the same bits in any batch, on any number of threads and in any process: nothing of one
post is summed with another's, and sums over topics go in eight lanes, which is both a fixed order
and one that a processor can do side by side.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.compiled import Whole, kernel, unchecked_kernel
from sottovoce.topics.lda._lanes import aligned, weigh_again, weigh_next
from sottovoce.topics.rows import LANES, longest

# A block of posts stays in the cache between inference and what is made of it.
BLOCK = 64


@kernel
def fold_in(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    phi: NDArray[np.float32],
    alpha: Floats,
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """For each post, alpha plus the expected number of its words in each topic; 0 for no word.

    ``phi`` has a row for each word. A word's share of the topics is its weights times its factor:
    to multiply again costs less than to store and fetch a product.
    """
    topics = alpha.size
    most = longest(pointers, first, last)
    # Beyond the words' rows: of no word, of the word that is shared out again, what is expected.
    shares, factors = aligned(most + 3, topics), np.zeros(most)
    nothing, weights, expected = shares[most], shares[most + 1], shares[most + 2]
    for row in range(first, last):
        begin, words = pointers[row], pointers[row + 1] - pointers[row]
        known, before, factor = False, nothing, 0.0
        expected[:topics] = alpha
        for place in range(words):
            chances, own = phi[columns[begin + place]], shares[place]
            total = weigh_next(expected, before, factor, chances, own, topics)
            # A word that no topic has says nothing.
            factor = counts[begin + place] / total if total > 0.0 else 0.0
            known = known or total > 0.0
            factors[place], before = factor, own
        for topic in range(topics):
            expected[topic] += before[topic] * factor
            weights[topic] = 0.0
        former, former_factor, factor = nothing, 0.0, 0.0
        for step in range(words):
            place = words - 1 - step
            chances, own, count = phi[columns[begin + place]], shares[place], counts[begin + place]
            total = weigh_again(
                expected,
                weights,
                factor,
                former,
                former_factor,
                own,
                factors[place],
                1.0 / count,
                chances,
                topics,
            )
            factor = count / total if total > 0.0 else 0.0
            former, former_factor = own, factors[place]
        for topic in range(topics):
            share = weights[topic] * factor - former[topic] * former_factor
            out[row - first, topic] = expected[topic] + share if known else 0.0


@kernel
def row_sums(values: Floats, rows: Whole, sums: Floats) -> None:
    """The sum of each row in the order of its numbers; of eight at a time, as each has to wait."""
    whole = rows - rows % LANES
    for row in range(0, whole, LANES):
        a = b = c = d = e = f = g = h = 0.0
        for at in range(values.shape[1]):
            a += values[row, at]
            b += values[row + 1, at]
            c += values[row + 2, at]
            d += values[row + 3, at]
            e += values[row + 4, at]
            f += values[row + 5, at]
            g += values[row + 6, at]
            h += values[row + 7, at]
        sums[row], sums[row + 1], sums[row + 2], sums[row + 3] = a, b, c, d
        sums[row + 4], sums[row + 5], sums[row + 6], sums[row + 7] = e, f, g, h
    for row in range(whole, rows):
        sums[row] = 0.0
        for at in range(values.shape[1]):
            sums[row] += values[row, at]


@unchecked_kernel
def topic_shares(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    phi: NDArray[np.float32],
    alpha: Floats,
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """Theta of each post; all zero for a post without a known word."""
    expected, totals = np.empty((BLOCK, alpha.size)), np.empty(BLOCK)
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        fold_in(pointers, columns, counts, phi, alpha, begin, end, expected)
        row_sums(expected, end - begin, totals)
        for row in range(end - begin):
            total = totals[row]
            if total > 0.0:
                for topic in range(out.shape[1]):
                    out[begin + row, topic] = expected[row, topic] / total


@unchecked_kernel
def cosines_with_dimensions(
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    phi: NDArray[np.float32],
    alpha: Floats,
    set_pointers: NDArray[np.int64],
    sets: NDArray[np.int64],
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """Cosine of each post's theta with the indicator of each set of dimensions."""
    expected, squared = np.empty((BLOCK, alpha.size)), np.empty((BLOCK, alpha.size))
    squares, chosen = np.empty(BLOCK), set_pointers.size - 1
    inside, norms = np.empty(chosen), np.empty(chosen)
    single = sets.size == chosen
    for number in range(chosen):
        single &= set_pointers[number + 1] - set_pointers[number] == 1
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        fold_in(pointers, columns, counts, phi, alpha, begin, end, expected)
        for row in range(end - begin):
            for topic in range(alpha.size):
                squared[row, topic] = expected[row, topic] * expected[row, topic]
        row_sums(squared, end - begin, squares)
        for row in range(end - begin):
            if squares[row] > 0.0:
                values, found = expected[row], out[begin + row]
                if single:
                    _dimension_cosines(values, squares[row], sets, inside, found)
                else:
                    _set_cosines(values, squares[row], set_pointers, sets, norms, inside, found)


@unchecked_kernel
def _dimension_cosines(
    values: Floats, square: Whole, sets: NDArray[np.int64], inside: Floats, found: Floats
) -> None:
    """With sets of one dimension each, whose norm is the same for all."""
    norm = np.sqrt(square)
    for number in range(inside.size):
        inside[number] = values[sets[number]]
    for number in range(inside.size):
        found[number] = min(1.0, inside[number] / norm)


@unchecked_kernel
def _set_cosines(
    values: Floats,
    square: Whole,
    set_pointers: NDArray[np.int64],
    sets: NDArray[np.int64],
    norms: Floats,
    inside: Floats,
    found: Floats,
) -> None:
    for number in range(inside.size):
        begin, end = set_pointers[number], set_pointers[number + 1]
        norms[number], inside[number] = np.sqrt((end - begin) * square), 0.0
        for place in range(begin, end):
            inside[number] += values[sets[place]]
    for number in range(inside.size):
        found[number] = min(1.0, inside[number] / norms[number])
