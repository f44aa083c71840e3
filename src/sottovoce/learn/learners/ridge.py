"""Exact ridge from summed statistics."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.statistics import ExampleSums

FEWEST_EXAMPLES = 2


@dataclass(frozen=True)
class LinearModel:
    """A score theta'x + c, in the units of the features as they came."""

    coefficients: Floats
    intercept: float

    def scores(self, rows: ArrayLike) -> Floats:
        """Positive for the class 1."""
        return np.asarray(rows, np.float64) @ self.coefficients + self.intercept


def ridge_from_sums(sums: ExampleSums, penalty: float) -> LinearModel:
    """Minimise (1/m) sum (y - theta'x - c)^2 + lambda theta'theta over standardised features.

    Centring and scaling are done on the sums: X'X - m mean mean', and so on.
    """
    if not penalty > 0:
        raise ParameterError(f"penalty must be > 0, got {penalty}.")
    if sums.count < FEWEST_EXAMPLES:
        raise InputError(f"ridge needs at least {FEWEST_EXAMPLES} examples, got {sums.count:g}.")
    m, mean, scale = sums.count, sums.means, sums.scales
    label_mean = sums.label_total / m
    covariance = (sums.products / m - np.outer(mean, mean)) / np.outer(scale, scale)
    cross = (sums.cross / m - label_mean * mean) / scale
    theta = np.linalg.solve(covariance + penalty * np.eye(mean.size), cross) / scale
    return LinearModel(theta, label_mean - float(theta @ mean))


def squared_error_from_sums(model: LinearModel, sums: ExampleSums) -> float:
    """The sum of (y - theta'x - c)^2 over examples known by their sums only."""
    theta, c = model.coefficients, model.intercept
    square = theta @ sums.products @ theta + 2 * c * (theta @ sums.totals) + sums.count * c * c
    return float(sums.count - 2 * (theta @ sums.cross + c * sums.label_total) + square)
