"""The exponential loss over rados, which stands for the logistic loss of the examples."""

import numpy as np
from scipy.special import logsumexp, softmax

from sottovoce.learn.examples import Floats


def log_exponential_loss(theta: Floats, rados: Floats) -> float:
    """The logarithm of the mean of exp(-theta' pi) over the rados.

    Private Text Classification, Lemma 1 (eq. 7). Over all 2^m rados the logistic loss of the
    examples is ln 2 plus one m-th of it, exactly.
    """
    return float(logsumexp(-(rados @ theta)) - np.log(len(rados)))


def regularised_loss(theta: Floats, rados: Floats, weights: Floats) -> float:
    """The loss of Problem 1 with a weight for each square of theta.

    Private Text Classification, Problem 1 (eqs. 8 and 9), where every weight is 1.
    """
    return log_exponential_loss(theta, rados) + float(weights @ theta**2)


def loss_gradient(theta: Floats, rados: Floats, weights: Floats) -> Floats:
    """The gradient of the regularised loss (eq. 10): minus a weighted mean rado, plus 2 theta."""
    shares: Floats = softmax(-(rados @ theta))
    return -(shares @ rados) + 2.0 * weights * theta
