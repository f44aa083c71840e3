"""Three ways to learn from rados: boosting, gradient descent, and the M-loss in closed form.

RadoBoost takes one feature a round; the descent is on the exponential loss; the M-loss has a
closed-form minimiser (`m_loss_minimiser`), and so have block rados (`block_minimiser`).
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn._examples import symmetric
from sottovoce.learn.rados.rados import RadoMoments, loss_gradient, regularised_loss
from sottovoce.learn.ridge import LinearModel, Standard

LARGEST_EDGE = 1 - 1e-6


class BoostingRound(NamedTuple):
    """A round's feature, its step, and the rados' weights after it."""

    feature: int
    step: float
    weights: Floats


def boosting_rounds(rados: Floats, rounds: int) -> Iterator[BoostingRound]:
    """Rado boosting (Nock, Patrini, Friedman, ICML 2015, algorithm 1), round by round.

    Each round takes the feature with the largest edge r, moves theta there by
    ln((1 + r)/(1 - r)) / (2 pi*), and reweighs every rado by (1 - r pi/pi*) / (1 - r^2), where
    pi* is the feature's largest absolute value over the rados.
    """
    if rounds < 1:
        raise ParameterError(f"rounds must be >= 1, got {rounds}.")
    largest = np.abs(rados).max(axis=0)
    scaled = np.divide(rados, largest, out=np.zeros_like(rados), where=largest > 0)
    w = np.full(len(rados), 1 / len(rados))
    for _ in range(rounds):
        edges = w @ scaled
        k = int(np.abs(edges).argmax())
        r = float(np.clip(edges[k], -LARGEST_EDGE, LARGEST_EDGE))
        if r == 0:
            return
        w *= (1 - r * scaled[:, k]) / (1 - r * r)
        w /= w.sum()
        yield BoostingRound(k, float(np.arctanh(r) / largest[k]), w.copy())


def boost(rados: Floats, rounds: int) -> Floats:
    """The classifier after so many rounds."""
    theta = np.zeros(rados.shape[1])
    for done in boosting_rounds(rados, rounds):
        theta[done.feature] += done.step
    return theta


_DECREASE = 1e-4  # Armijo's share of the decrease that the gradient promises
_ROUNDING = 1e-13  # near the end the loss moves by less than its last digits


class Descent(NamedTuple):
    """Where a descent ended, and after how many steps."""

    theta: Floats
    steps: int


def descend(
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
        length = _shorten_step(theta, gradient, rados, weights, length or 1 / size)
        change = -length * gradient
        theta = theta + change
        following = loss_gradient(theta, rados, weights)
        length, gradient = _next_length(change, following - gradient, length), following
    warnings.warn(f"not converged after {most_steps} steps; raise most_steps.", stacklevel=2)
    return Descent(theta, most_steps)


def _shorten_step(
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


# The M-loss weighs theta' Gamma theta by m/4, which is ridge's lambda = 2.
PAPER_PENALTY = 2.0


def confidence_weights(
    width: int, *, low_confidence: Sequence[int] = (), epsilon: float = 0.01
) -> Floats:
    """The diagonal of Gamma: 1, and epsilon for columns of low confidence.

    Private Text Classification, eq. 13.
    """
    if not 0 < epsilon <= 1:
        raise ParameterError(f"epsilon must be > 0 and <= 1, got {epsilon}.")
    if any(not 0 <= column < width for column in low_confidence):
        raise ParameterError(f"low_confidence must hold columns 0 to {width - 1}.")
    weights = np.ones(width)
    weights[list(low_confidence)] = epsilon
    return weights


def m_loss_minimiser(
    moments: RadoMoments, examples: int, weights: Floats, *, penalty: float = PAPER_PENALTY
) -> Floats:
    """Where the gradient of the M-loss vanishes.

    Over all 2^m rados it is twice the minimiser of the ridge loss
    (1/m) sum (y - theta'x)^2 + lambda theta' Gamma theta of the examples.
    """
    _check(examples, penalty)
    ridge = np.diag(examples * penalty / 4 * weights)
    return _solve(moments.covariance + ridge, moments.mean)


def block_minimiser(moments: RadoMoments, weights: Floats) -> Floats:
    """(B B' + n Gamma)^-1 B 1, the columns of B being n rados.

    Private Text Classification, eq. 14. It uses the second moment where the M-loss has the
    covariance: the same direction as (Cov + Gamma)^-1 mu, for the same Gamma.
    """
    return _solve(moments.products + moments.count * np.diag(weights), moments.total)


def _check(examples: int, penalty: float) -> None:
    if examples < 1:
        raise ParameterError(f"the number of examples must be >= 1, got {examples}.")
    if not penalty >= 0:
        raise ParameterError(f"penalty must be >= 0, got {penalty}.")


def _solve(matrix: Floats, vector: Floats) -> Floats:
    try:
        solution: Floats = np.linalg.solve(matrix, vector).astype(np.float64, copy=False)
    except np.linalg.LinAlgError as error:
        raise ParameterError(
            "the rados do not determine a classifier; raise the penalty or make more of them."
        ) from error
    return solution


def rado_solutions(
    total: Floats, standard: Standard, penalty: float, labels: int
) -> list[LinearModel]:
    """Each label's classifier: one covariance for all, and each further label's shifted mean."""
    d, rest = standard.width, (labels - 1) * standard.width
    mean, covariance, shifts = np.split(total, [d, total.size - rest])
    means = [mean, *(mean + shift for shift in shifts.reshape(-1, d))]
    return [rado_solution(np.append(each, covariance), standard, penalty) for each in means]


def rado_solution(total: Floats, standard: Standard, penalty: float) -> LinearModel:
    """The minimiser of the M-loss of rados of all peers' rows, on the scale of ridge's theta.

    Private Text Classification, Definition 4. The rados came divided by the root of m, the number
    of rows: that leaves (Cov + (lambda/4) Gamma)^-1 mu over the same root, which is twice ridge's.
    """
    d = standard.width
    mean, covariance = total[:d], symmetric(total[d:], d)
    moments = RadoMoments(1, mean, covariance + np.outer(mean, mean))
    weights = confidence_weights(d, low_confidence=[d - 1])
    theta = m_loss_minimiser(moments, 1, weights, penalty=penalty)
    return standard.undone(theta / (2 * np.sqrt(standard.count)))
