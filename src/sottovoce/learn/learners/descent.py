"""Gradient descent on the exponential loss of rados."""

import warnings
from typing import NamedTuple

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.rados.loss import loss_gradient, regularised_loss

_DECREASE = 1e-4  # Armijo's share of the decrease that the gradient promises
_ROUNDING = 1e-13  # near the end the loss moves by less than its last digits


class Descent(NamedTuple):
    """Where a descent ended, and after how many steps."""

    theta: Floats
    steps: int


def descended(
    rados: Floats, weights: Floats, *, most_steps: int = 500, tolerance: float = 1e-6
) -> Descent:
    """Minimise the loss of Private Text Classification, Problem 1, by its gradient (eq. 10).

    Steps are as long as the last change of the gradient suggests (Barzilai and Borwein), halved
    until the loss falls.
    """
    if most_steps < 1:
        raise ParameterError(f"most_steps must be >= 1, got {most_steps}.")
    theta, length = np.zeros(rados.shape[1]), 0.0
    gradient = loss_gradient(theta, rados, weights)
    for step in range(most_steps):
        size = float(np.abs(gradient).max())
        if size <= tolerance:
            return Descent(theta, step)
        length = _accepted(theta, gradient, rados, weights, length or 1 / size)
        change = -length * gradient
        theta = theta + change
        following = loss_gradient(theta, rados, weights)
        length, gradient = _next_length(change, following - gradient, length), following
    warnings.warn(f"not converged after {most_steps} steps; raise most_steps.", stacklevel=2)
    return Descent(theta, most_steps)


def _accepted(
    theta: Floats, gradient: Floats, rados: Floats, weights: Floats, length: float
) -> float:
    start, slope = regularised_loss(theta, rados, weights), float(gradient @ gradient)
    slack = _ROUNDING * (1 + abs(start))
    # It ends: at length zero, at the latest, the loss is what it was.
    while True:
        reached = regularised_loss(theta - length * gradient, rados, weights)
        if reached <= start - _DECREASE * length * slope + slack:
            return length
        length /= 2


def _next_length(change: Floats, bend: Floats, length: float) -> float:
    curvature = float(change @ bend)
    return float(change @ change) / curvature if curvature > 0 else length
