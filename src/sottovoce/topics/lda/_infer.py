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

from sottovoce._arrays import Floats
from sottovoce._compiled import Whole, kernel
from sottovoce.topics._rows import lane_sum, longest

# A block of posts stays in the cache between inference and what is made of it.
BLOCK = 64


# One function on purpose: a helper called for each word would count references to its arrays.
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

    ``phi`` has a row for each word.
    """
    topics = alpha.size
    weight, expected = np.empty(topics), np.empty(topics)
    shares = np.empty((longest(pointers, first, last), topics))
    for row in range(first, last):
        begin, words = pointers[row], pointers[row + 1] - pointers[row]
        known = False
        for topic in range(topics):
            expected[topic] = alpha[topic]
        # Counted from 0, so that the compiler sees that no place is counted from the end.
        for place in range(words):
            word, count = columns[begin + place], counts[begin + place]
            for topic in range(topics):
                weight[topic] = phi[word, topic] * expected[topic]
            total = lane_sum(weight, topics)
            # A word that no topic has says nothing.
            factor = count / total if total > 0.0 else 0.0
            known = known or total > 0.0
            for topic in range(topics):
                part = weight[topic] * factor
                shares[place, topic] = part
                expected[topic] += part
        for step in range(words):
            place = words - 1 - step
            word, count = columns[begin + place], counts[begin + place]
            one = 1.0 / count
            for topic in range(topics):
                others = expected[topic] - one * shares[place, topic]
                weight[topic] = phi[word, topic] * others
            total = lane_sum(weight, topics)
            factor = count / total if total > 0.0 else 0.0
            for topic in range(topics):
                expected[topic] += weight[topic] * factor - shares[place, topic]
        for topic in range(topics):
            out[row - first, topic] = expected[topic] if known else 0.0


@kernel
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
    expected = np.empty((BLOCK, alpha.size))
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        fold_in(pointers, columns, counts, phi, alpha, begin, end, expected)
        for row in range(begin, end):
            total = expected[row - begin].sum()
            if total > 0.0:
                for topic in range(out.shape[1]):
                    out[row, topic] = expected[row - begin, topic] / total


@kernel
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
    expected = np.empty((BLOCK, alpha.size))
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        fold_in(pointers, columns, counts, phi, alpha, begin, end, expected)
        for row in range(begin, end):
            square = 0.0
            for topic in range(alpha.size):
                square += expected[row - begin, topic] ** 2
            if square > 0.0:
                for chosen in range(set_pointers.size - 1):
                    size = set_pointers[chosen + 1] - set_pointers[chosen]
                    inside = 0.0
                    for place in range(set_pointers[chosen], set_pointers[chosen + 1]):
                        inside += expected[row - begin, sets[place]]
                    out[row, chosen] = min(1.0, inside / np.sqrt(size * square))
