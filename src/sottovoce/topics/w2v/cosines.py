"""Cosines in a space of word vectors, without BLAS: a post has the same bits in any batch."""

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import Whole, kernel
from sottovoce.topics.lanes import lane_dot, lane_sum
from sottovoce.topics.rows import longest

# Up to here the words' dot products are less work than a vector for each of a few topics. It does
# not depend on how many topics there are, so neither do a topic's bits.
FEW_WORDS = 32

Floats = NDArray[np.float64]


@kernel
def word_cosines(
    vectors: NDArray[np.float32],
    units: Floats,
    first: Whole,
    last: Whole,
    norms: Floats,
    out: Floats,
) -> None:
    """cos(v, X) of each word with each topic, a column of ``units``; ``norms`` gets ||v||."""
    size, topics = units.shape
    for word in range(first, last):
        square = lane_dot(vectors, word, word, size)
        norms[word] = np.sqrt(square)
        for topic in range(topics):
            out[word, topic] = 0.0
        if square > 0.0:
            for place in range(size):
                number = np.float64(vectors[word, place]) / norms[word]
                for topic in range(topics):
                    out[word, topic] += number * units[place, topic]


# One function on purpose: a helper called for each word would count references to its arrays.
@kernel
def post_cosines(  # noqa: C901, PLR0912 - see above
    pointers: NDArray[np.int64],
    columns: NDArray[np.int32],
    counts: Floats,
    vectors: NDArray[np.float32],
    norms: Floats,
    cosines: Floats,
    positive: bool,
    first: Whole,
    last: Whole,
    out: Floats,
) -> None:
    """cos(P, X) with P the sum of tf cos(v, X) v: R-Susceptibility, section 3.3.1.

    With X of length 1, P X is the sum of tf cos(v, X)^2 ||v||. For ||P||^2 there are two ways: from
    the words' dot products, which all topics share, or from P itself, one topic at a time, which
    is less work for a post of many words. ``positive`` leaves out words of negative cosine.
    """
    size, topics = vectors.shape[1], cosines.shape[1]
    weights = np.empty((longest(pointers, first, last), topics))
    squares, vector = np.empty(topics), np.empty(size)
    for row in range(first, last):
        begin, words = pointers[row], pointers[row + 1] - pointers[row]
        squares[:] = 0.0
        for i in range(words):
            word, count = columns[begin + i], counts[begin + i]
            for topic in range(topics):
                cosine = cosines[word, topic]
                if positive and cosine < 0.0:
                    cosine = 0.0
                weights[i, topic] = count * cosine
                out[row, topic] += count * cosine * cosines[word, topic] * norms[word]
        if words <= FEW_WORDS:
            for i in range(words):
                for j in range(i + 1):
                    one, other = columns[begin + i], columns[begin + j]
                    dot = lane_dot(vectors, one, other, size)
                    twice = dot if i == j else 2.0 * dot
                    for topic in range(topics):
                        squares[topic] += twice * weights[i, topic] * weights[j, topic]
        else:
            for topic in range(topics):
                vector[:] = 0.0
                for i in range(words):
                    weight, word = weights[i, topic], columns[begin + i]
                    if weight != 0.0:
                        for k in range(size):
                            vector[k] += weight * vectors[word, k]
                for k in range(size):
                    vector[k] *= vector[k]
                squares[topic] = lane_sum(vector, size)
        for topic in range(topics):
            if out[row, topic] > 0.0 and squares[topic] > 0.0:
                out[row, topic] = min(1.0, out[row, topic] / np.sqrt(squares[topic]))
            else:
                out[row, topic] = 0.0
