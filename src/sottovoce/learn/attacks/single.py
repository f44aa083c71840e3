"""Single documents from X'X, one after the other; each that is read is taken off.

Two columns that differ in one document: the difference of their rows of X'X is that document. The
constant, labels and nothing at all are columns too, so that a word of one document is such a pair.
In fewer dimensions than columns: two words of one document name it, and a linear programme finds it
among the combinations of rows. Both work on differences of sums too, where some documents count -1.
"""

import time
from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy.optimize import linprog

from sottovoce.arrays import Floats
from sottovoce.learn.attacks.opening import OpenedSums

_RANK = 1e-8  # of the largest eigenvalue: below there are none
_TOLERANCE = 1e-4


def read_one_by_one(opening: OpenedSums, seconds: float) -> Floats:
    """The documents that give themselves away, in processor time that is bounded."""
    until, width, read = time.process_time() + seconds, len(opening.words), []
    if not opening.has_pairs:
        return np.zeros((0, width))
    labels = np.diag(opening.sizes.astype(np.float64))
    gram = np.block([[opening.products, opening.totals.T], [opening.totals, labels]])
    while time.process_time() < until:
        ways = chain(_told_by_pairs(gram, width), _in_row_space(gram, width, until))
        row, sign = next(ways, (None, 0))
        if row is None:
            break
        gram = gram - sign * np.outer(row, row)
        read.append(row[:width])
    return np.array(read).reshape(-1, width)


def _told_by_pairs(gram: Floats, width: int) -> Iterator[tuple[Floats, int]]:
    """Documents in which alone two columns differ, and whether they count 1 or -1."""
    every = np.zeros((len(gram) + 2, len(gram)))
    every[: len(gram)] = np.eye(len(gram))
    every[-2, width:] = 1  # the constant; the last column is nothing
    rows = every @ gram
    inner = rows @ every.T
    apart = np.diag(inner)[:, None] + np.diag(inner)[None, :] - 2 * inner
    for one, other in np.argwhere(np.triu(np.abs(np.abs(apart) - 1) < _TOLERANCE, 1)):
        row = rows[one] - rows[other]
        row = np.rint(row if row.sum() >= 0 else -row)
        if _is_document(row, width):
            yield row, int(np.sign(apart[one, other]))


def _in_row_space(gram: Floats, width: int, until: float) -> Iterator[tuple[Floats, int]]:
    """Documents that two words name, among the combinations of the rows, if those are few."""
    values, vectors = np.linalg.eigh(gram)
    real = np.abs(values) > _RANK * np.abs(values).max(initial=0)
    if not real.any() or real.all():
        return
    basis = vectors[:, real]
    inverse = (basis / values[real]) @ basis.T
    one_label = np.r_[np.zeros(width), np.ones(len(gram) - width)] @ basis
    for pair in np.argwhere(np.triu(np.abs(np.abs(gram[:width, :width]) - 1) < _TOLERANCE)):
        if time.process_time() > until:
            return
        bounds = np.vstack([basis, -basis]), np.r_[np.ones(len(gram)), np.zeros(len(gram))]
        fixed = np.vstack([basis[pair], one_label])
        solved = linprog(
            basis.sum(axis=0), *bounds, fixed, np.ones(len(fixed)), (None, None), method="highs"
        )
        row = np.rint(basis @ solved.x) if solved.success else np.zeros(len(gram))
        sign = row @ inverse @ row  # of a row among independent ones: 1 or -1
        near = solved.success and np.abs(basis @ solved.x - row).max() < _TOLERANCE
        if near and abs(abs(sign) - 1) < _TOLERANCE and _is_document(row, width):
            yield row, int(np.sign(sign))


def _is_document(row: Floats, width: int) -> bool:
    binary = bool(np.isin(row, (0.0, 1.0)).all())
    return binary and bool(row[:width].any()) and int(row[width:].sum()) == 1
