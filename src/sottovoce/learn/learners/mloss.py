"""The M-loss of rados, its gradient and its closed-form minimiser."""

from collections.abc import Sequence

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.rados.moments import RadoMoments

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


def m_loss(
    theta: Floats,
    moments: RadoMoments,
    examples: int,
    weights: Floats,
    *,
    penalty: float = PAPER_PENALTY,
) -> float:
    """Minus the mean margin, plus half its variance, plus (m lambda / 8) theta' Gamma theta.

    Private Text Classification, Definition 4 (eq. 12), which has lambda = 2.
    """
    mean, variance = theta @ moments.mean, theta @ moments.covariance @ theta
    return float(-(mean - variance / 2) + examples * penalty / 8 * (weights @ theta**2))


def m_loss_gradient(
    theta: Floats,
    moments: RadoMoments,
    examples: int,
    weights: Floats,
    *,
    penalty: float = PAPER_PENALTY,
) -> Floats:
    """The gradient of the M-loss: -mu + Cov theta + (m lambda / 4) Gamma theta.

    Private Text Classification, eqs. 15 and 16, which confuse the sum of rados with their mean.
    """
    ridge = examples * penalty / 4 * weights * theta
    return -moments.mean + moments.covariance @ theta + ridge


def m_loss_minimiser(
    moments: RadoMoments, examples: int, weights: Floats, *, penalty: float = PAPER_PENALTY
) -> Floats:
    """Where the gradient of the M-loss vanishes.

    Over all 2^m rados it is twice the minimiser of the ridge loss
    (1/m) sum (y - theta'x)^2 + lambda theta' Gamma theta of the examples.
    """
    _check(examples, penalty)
    ridge = np.diag(examples * penalty / 4 * weights)
    return _solved(moments.covariance + ridge, moments.mean)


def block_minimiser(moments: RadoMoments, weights: Floats) -> Floats:
    """(B B' + n Gamma)^-1 B 1, the columns of B being n rados.

    Private Text Classification, eq. 14. It uses the second moment where the M-loss has the
    covariance: the same direction as (Cov + Gamma)^-1 mu, for the same Gamma.
    """
    return _solved(moments.products + moments.count * np.diag(weights), moments.total)


def _check(examples: int, penalty: float) -> None:
    if examples < 1:
        raise ParameterError(f"the number of examples must be >= 1, got {examples}.")
    if not penalty >= 0:
        raise ParameterError(f"penalty must be >= 0, got {penalty}.")


def _solved(matrix: Floats, vector: Floats) -> Floats:
    try:
        solution: Floats = np.linalg.solve(matrix, vector).astype(np.float64, copy=False)
    except np.linalg.LinAlgError as error:
        raise ParameterError(
            "the rados do not determine a classifier; raise the penalty or make more of them."
        ) from error
    return solution
