"""Multinomial logistic regression with given intercepts, shrunk towards given weights.

In every class the Hessian of the mean loss is at most X'X/2n (Boehning 1992): with that bound as
the metric of accelerated descent no step is too long, and all penalties share the matrix.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from sottovoce.arrays import Floats, Integers
from sottovoce.release.counts import Weights

Narrow: TypeAlias = NDArray[np.float32]

STEPS = 100
TOLERANCE = 2e-3
ROWS_AT_ONCE = 4_096
# Where more cells are stored than this, a dense matrix is smaller and faster.
_FILLED = 0.2
_MOST_DENSE = 50_000_000


@dataclass(frozen=True, eq=False)
class SoftmaxFit:
    """Weights (words x classes) for one penalty."""

    penalty: float
    weights: Floats


class SoftmaxProblem:
    """Documents with their classes; solved for one penalty after the other.

    Args:
        features: documents x words, what each has above ``shift``.
        shift: of each word, in all documents.
        codes: the class of each document.
        intercepts: of each class; they stay.
    """

    def __init__(
        self, features: Weights, shift: Floats, codes: Integers, intercepts: Floats
    ) -> None:
        self._rows: Any = _handy(features)
        self._shift = shift.astype(np.float32)
        self._intercepts = intercepts.astype(np.float32)
        self._targets = np.eye(len(intercepts), dtype=np.float32)[codes]
        self._bound = _gram(features, self._shift) / 2

    def path(self, centre: Floats, penalties: Sequence[float]) -> Iterator[SoftmaxFit]:
        """Sum of losses + penalty/2 ||weights - centre||^2, minimised; largest penalty first."""
        start = weights = centre.astype(np.float32)
        for penalty in sorted(penalties, reverse=True):
            weights = self._solved(weights, start, penalty / len(self._targets))
            yield SoftmaxFit(penalty, weights.astype(np.float64))

    def _solved(self, weights: Narrow, centre: Narrow, penalty: float) -> Narrow:
        metric = self._metric(penalty)
        ahead, momentum = weights, 1.0
        for _ in range(STEPS):
            slope = self._gradient(ahead) + penalty * (ahead - centre)
            step: Narrow = linalg.cho_solve(metric, slope, check_finite=False)
            stepped = ahead - step
            moved = stepped - weights
            if float((slope * moved).sum()) > 0:  # the momentum leads uphill: begin it again
                momentum = 1.0
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = stepped + np.float32((momentum - 1) / grown) * moved
            weights, momentum = stepped, grown
            if np.abs(moved).max() <= TOLERANCE * np.abs(weights).max():
                break
        return weights

    def _metric(self, penalty: float) -> Any:  # noqa: ANN401 - scipy's pair of factor and side
        bound = self._bound.copy()
        bound[np.diag_indices_from(bound)] += penalty
        return linalg.cho_factor(bound, overwrite_a=True, check_finite=False)

    def _gradient(self, weights: Narrow) -> Narrow:
        scores = self._rows @ weights + (self._intercepts + self._shift @ weights)
        surplus = (special.softmax(scores, axis=1) - self._targets) / np.float32(len(scores))
        return np.asarray(self._rows.T @ surplus + np.outer(self._shift, surplus.sum(axis=0)))


def _handy(features: Weights) -> Any:  # noqa: ANN401 - sparse or dense, whichever is smaller
    narrow = features.astype(np.float32)
    size = features.shape[0] * features.shape[1]
    dense = features.nnz > _FILLED * size and size <= _MOST_DENSE
    return narrow.toarray() if dense else narrow


def _gram(features: Weights, shift: Narrow) -> Narrow:
    """X'X/n, a block of rows at a time."""
    rows, columns = features.shape
    total = np.zeros((columns, columns), np.float32)
    for start in range(0, rows, ROWS_AT_ONCE):
        block = features[start : start + ROWS_AT_ONCE].astype(np.float32).toarray() + shift
        total += block.T @ block
    return total / np.float32(rows)
