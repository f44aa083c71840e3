"""Compiled sums over the positive cells of a release.

With counts c ~ Poisson(mu) and noise of weight alpha^|z-c|, the terms of a positive cell z are
t_0 = 1, t_c = t_(c-1) (mu/c) / alpha up to c = z and t_(c-1) (mu/c) alpha beyond: E[c | z] is their
mean, ln sum t_c - mu their log-likelihood up to a constant of z, and a count is drawn from them.
Cells at or below zero have the log-likelihood -(1 - alpha) mu up to such a constant.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.compiled import Whole, kernel

_NEGLIGIBLE = 1e-8
_LARGE = 1e200
_LOG_LARGE = 200 * math.log(10)
MOST_TERMS = 2048
"""Room for the terms of one cell; a release's largest cell has half as many."""
_INVERSES = 1 / np.maximum(np.arange(MOST_TERMS), 1.0)
"""To multiply by: a division takes several times as long."""


@kernel
def cell_terms(
    z: Whole, mu: float, alpha: float, terms: Floats
) -> tuple[Whole, float, float, float]:
    """The terms of one cell: how many, their sum, the sum of c t_c, and the log of their unit.

    They rise to the largest and then fall, so that the first negligible one ends them.
    """
    raised, lowered = mu / alpha, mu * alpha
    term, total, mean, unit = 1.0, 1.0, 0.0, 0.0
    terms[0] = 1.0
    c = 0
    while c < MOST_TERMS - 1 and term > _NEGLIGIBLE * total:
        c += 1
        term *= (raised if c <= z else lowered) * _INVERSES[c]
        terms[c] = term
        total += term
        mean += c * term
        # The sum, up to e^raised, may be beyond what a float holds.
        if total > _LARGE:
            for before in range(c + 1):
                terms[before] /= _LARGE
            term /= _LARGE
            total /= _LARGE
            mean /= _LARGE
            unit += _LOG_LARGE
    return c + 1, total, mean, unit


@kernel
def sweep_documents(
    pointers: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    topics: Floats,
    theta: Floats,
    alpha: float,
    uniforms: Floats,
    drawn: Floats,
    exposed: Floats,
    used: Floats,
    seen: Floats,
) -> None:
    """One pass over documents: draw each positive cell's count and share it out among the topics.

    Args:
        pointers: where each document's cells begin among ``words`` and ``values``.
        words: of each cell.
        values: of each cell, above zero.
        topics: words x topics.
        theta: documents x topics, how many words each document has of each topic.
        alpha: of the noise.
        uniforms: a number in [0, 1) for each cell.
        drawn: adds documents x topics, the tokens drawn for each topic.
        exposed: adds documents x topics, the share of each topic's words in positive cells.
        used: adds words x topics, the *expected* tokens in positive cells.
        seen: adds words x topics, theta summed over the documents where the word is positive.
    """
    count = topics.shape[1]
    whole = count - count % 4
    terms, parts = np.empty(MOST_TERMS), np.empty(count)
    for document in range(pointers.size - 1):
        own, tokens, share = theta[document], drawn[document], exposed[document]
        for cell in range(pointers[document], pointers[document + 1]):
            word = words[cell]
            weights, here, there = topics[word], used[word], seen[word]
            # As in `_mix_topics`, whose call would take a sixth of the time of a sweep.
            one, two, three, four = 1e-12, 0.0, 0.0, 0.0
            for k in range(count):
                parts[k] = own[k] * weights[k]
            for k in range(0, whole, 4):
                one += parts[k]
                two += parts[k + 1]
                three += parts[k + 2]
                four += parts[k + 3]
            for k in range(whole, count):
                one += parts[k]
            mu = (one + two) + (three + four)
            size, total, mean, _unit = cell_terms(values[cell], mu, alpha, terms)
            ratio = mean / (total * mu)
            for k in range(count):
                here[k] += parts[k] * ratio
            for k in range(count):
                there[k] += own[k]
            for k in range(count):
                share[k] += weights[k]
            if uniforms[cell] * total >= terms[0]:
                _share_out(terms, size, total, parts, mu, uniforms[cell], tokens)


@kernel
def _mix_topics(own: Floats, weights: Floats, parts: Floats) -> float:
    """A word's mean in one document, never zero; what each topic has of it goes into ``parts``."""
    for k in range(parts.size):
        parts[k] = own[k] * weights[k]
    one, two, three, four = 1e-12, 0.0, 0.0, 0.0
    whole = parts.size - parts.size % 4
    for k in range(0, whole, 4):
        one += parts[k]
        two += parts[k + 1]
        three += parts[k + 2]
        four += parts[k + 3]
    for k in range(whole, parts.size):
        one += parts[k]
    return (one + two) + (three + four)


@kernel
def _share_out(
    terms: Floats,
    size: Whole,
    total: float,
    parts: Floats,
    mu: float,
    uniform: float,
    tokens: Floats,
) -> None:
    """Draw a count above 0 by its terms, and a topic for each of its tokens, from one uniform.

    What is left of it after a choice, in units of what was chosen, is uniform again.
    """
    left = uniform * total
    c = 0
    while c < size - 1 and left >= terms[c]:
        left -= terms[c]
        c += 1
    left = min(left / terms[c], 1.0)
    for _ in range(c):
        left *= mu
        k = 0
        while k < parts.size - 1 and left >= parts[k]:
            left -= parts[k]
            k += 1
        tokens[k] += 1
        left = min(left / parts[k], 1.0) if parts[k] > 0 else 0.5


@kernel
def settle_documents(
    pointers: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    topics: Floats,
    alpha: float,
    prior: float,
    scale: float,
    rounds: Whole,
    theta: Floats,
) -> None:
    """How many words each document has of each topic, by expectation and maximisation.

    Args:
        pointers: where each document's cells begin.
        words: of each cell.
        values: of each cell, above zero.
        topics: words x topics; words that are not looked at have zeros, and no cells.
        alpha: of the noise.
        prior: tokens that every topic has beforehand.
        scale: of the prior; prior/scale words are expected of each topic.
        rounds: how many; each document's figures depend on its own cells alone.
        theta: documents x topics, taken from where they stand.
    """
    count = topics.shape[1]
    base = topics.sum(axis=0)
    terms, parts = np.empty(MOST_TERMS), np.empty(count)
    tokens, share = np.empty(count), np.empty(count)
    for document in range(pointers.size - 1):
        own = theta[document]
        for turn in range(rounds):
            tokens[:] = 0.0
            for cell in range(pointers[document], pointers[document + 1]):
                weights = topics[words[cell]]
                mu = _mix_topics(own, weights, parts)
                _size, total, mean, _unit = cell_terms(values[cell], mu, alpha, terms)
                ratio = mean / (total * mu)
                for k in range(count):
                    tokens[k] += parts[k] * ratio
            if turn == 0:
                share[:] = (1 - alpha) * base
                for cell in range(pointers[document], pointers[document + 1]):
                    for k in range(count):
                        share[k] += alpha * topics[words[cell], k]
            for k in range(count):
                own[k] = (prior + tokens[k]) / (scale + share[k])


@kernel
def log_likelihoods(
    pointers: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    topics: Floats,
    theta: Floats,
    alpha: float,
    out: Floats,
) -> None:
    """Adds, for each document, the log-likelihood of its cells less that without any words.

    Cells at or below zero have -(1 - alpha) mu together; a positive one has ln sum t_c - mu.
    """
    base = topics.sum(axis=0)
    terms, parts = np.empty(MOST_TERMS), np.empty(topics.shape[1])
    for document in range(pointers.size - 1):
        own = theta[document]
        told = 0.0
        for k in range(own.size):
            told -= (1 - alpha) * own[k] * base[k]
        for cell in range(pointers[document], pointers[document + 1]):
            mu = _mix_topics(own, topics[words[cell]], parts)
            _size, total, _mean, unit = cell_terms(values[cell], mu, alpha, terms)
            told += math.log(total) + unit - alpha * mu
        out[document] += told


@kernel
def pair_sums(
    pointers: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    read: Floats,
    part: Whole,
    parts: Whole,
    sums: Floats,
    pairs: Floats,
) -> None:
    """Adds over documents: read_i read_j to ``pairs``, j >= i, and read_i to ``sums``.

    For i = part mod parts. ``read`` is words x cells: what a word's cell of each value counts for.
    A row is summed by one caller, document after document, so that its bits do not depend on the
    number of ``parts``.
    """
    largest = read.shape[1] - 1
    held = np.empty(pairs.shape[0])
    for document in range(pointers.size - 1):
        first, last = pointers[document], pointers[document + 1]
        for cell in range(first, last):
            held[cell - first] = read[words[cell], min(values[cell], largest)]
        for cell in range(first, last):
            word = words[cell]
            if word % parts == part:
                row, mine = pairs[word], held[cell - first]
                sums[word] += mine
                for other in range(cell, last):
                    row[words[other]] += mine * held[other - first]


@kernel
def read_into(
    pointers: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    read: Floats,
    out: Floats,
) -> None:
    """Puts what each positive cell counts for into ``out``, documents x words."""
    largest = read.shape[1] - 1
    for document in range(pointers.size - 1):
        row = out[document]
        for cell in range(pointers[document], pointers[document + 1]):
            row[words[cell]] = read[words[cell], min(values[cell], largest)]


@kernel
def keep_positive(
    pointers: Integers,
    columns: NDArray[np.int32],
    cells: Integers,
    largest: Whole,
    kept: Integers,
    words: NDArray[np.uint16],
    values: NDArray[np.uint16],
    totals: Floats,
    lengths: Floats,
) -> None:
    """Sorts out the cells above zero, row by row, and adds up all of them by column and by row.

    Args:
        pointers: where each row's cells begin among ``columns`` and ``cells``.
        columns: of each cell.
        cells: their values, of either sign.
        largest: what a larger value is kept as.
        kept: set to where each row begins among the positive cells.
        words: set to their columns.
        values: set to their values.
        totals: adds the sum of each column.
        lengths: adds the sum of each row.
    """
    found = 0
    for row in range(pointers.size - 1):
        for place in range(pointers[row], pointers[row + 1]):
            value = cells[place]
            totals[columns[place]] += value
            lengths[row] += value
            if value > 0:
                words[found] = columns[place]
                values[found] = min(value, largest)
                found += 1
        kept[row + 1] = found
