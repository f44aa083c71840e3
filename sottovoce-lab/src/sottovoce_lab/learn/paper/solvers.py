"""The paper's solvers on encrypted rados, and rados by a secure product."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.rados.rados import PAPER_PENALTY, RadoMoments, SealedSignatures, loss_gradient
from sottovoce_lab.learn.paper.shown import Outline, settle
from sottovoce_lab.learn.paper.two_parties import TwoParties

_MARGIN = 1.0 + 2.0**-6  # rounding may carry numbers a little beyond their exact bounds
_RATE_BITS = 40


def make_rados(
    owner: TwoParties, signatures: SealedSignatures, rows: object, labels: object
) -> EncryptedArray:
    """Rados under the owner's key, made by a blind intermediary who never opens them.

    Private Text Classification, Protocol 1, in the paper's own, interactive form: with labels that
    are encrypted apart, phi = sigma + y and 2 pi = S.INNERPROD(phi, x). Protocol 1 multiplies phi
    by 1/2, which is no integer: 2 pi is made, and read with one binary place more. Signatures meet
    ciphertexts only.
    """
    if not isinstance(rows, EncryptedArray) or not isinstance(labels, EncryptedArray):
        raise LeakError("an intermediary's signatures are applied to ciphertexts only.")
    if not signatures.shape[1] == len(rows) == len(labels):
        raise InputError(f"the signatures must be of {len(rows)} examples each.")
    phi = settle(signatures.add_labels(labels), Outline(signatures.shape, 2))
    doubled = owner.matmul(phi, rows)
    return replace(doubled, fraction_bits=rows.fraction_bits + 1)


def solve_rados(
    parties: TwoParties, columns: EncryptedArray, weights: Floats, *, places: int = 48
) -> EncryptedArray:
    """Theta = V (B 1) with V = S.INV(B B' + n Gamma): eq. 14 wholly under encryption.

    Private Text Classification, Protocol 4, which returns "first row of V B": not eq. 14.

    Args:
        parties: coordinator and key holder.
        columns: B, d features by n rados.
        weights: the diagonal of Gamma.
        places: binary places of the inverse.
    """
    d, n = columns.shape
    if np.shape(weights) != (d,) or not np.all(weights > 0):
        raise ParameterError(f"Gamma must be positive definite: {d} weights > 0.")
    ridge = np.diag(n * np.asarray(weights, np.float64))
    matrix = parties.matmul(columns, columns.T).plus(ridge)
    trace = d * n * Outline.of_array(columns).magnitude ** 2 + float(np.trace(ridge))
    smallest = float(np.diag(ridge).min())
    return parties.solve(matrix, columns.sum(axis=1), trace, smallest, places=places)


@dataclass(frozen=True)
class Descent:
    """Gradient descent on the exponential loss of encrypted rados.

    Private Text Classification, section 2.5.2: theta <- theta - eta grad J(theta) with

        grad J = - sum_j w_j pi_j / sum_j w_j + 2 c theta,   w_j = exp(-theta' pi_j)  (eqs. 10, 11)

    Eq. 11 as printed leaves out the sum of the weights, which changes the minimiser. Everything is
    bounded by the public norm R: the step 1 / (R^2 + 2 c) is one over the largest curvature, so
    that |theta| <= R / c and |theta' pi| <= R^2 / c.

    Attributes:
        norm: R, at least the norm of every rado; scale rados down to about 1.
        weight: c, of theta' theta.
        steps: how many.
        places: binary places of numbers.
    """

    norm: float
    weight: float = 1.0
    steps: int = 30
    places: int = 30

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ParameterError("steps must be >= 1.")
        if not (0 < self.norm < math.inf and 0 < self.weight < math.inf):
            raise ParameterError("norm and weight must be finite and > 0.")

    @property
    def rate(self) -> float:
        """The length of a step, as a multiple of 2^-40."""
        exact = 1 / (self.norm**2 + 2 * self.weight)
        return math.floor(math.ldexp(exact, _RATE_BITS)) / 2.0**_RATE_BITS

    @property
    def largest_theta(self) -> float:
        """No number of theta is larger."""
        return self.norm / self.weight * _MARGIN

    @property
    def largest_score(self) -> float:
        """No theta' pi is larger."""
        return self.norm**2 / self.weight * _MARGIN

    def smallest_sum(self, rados: int) -> float:
        """No sum of weights is below this."""
        return rados * math.exp(-self.largest_score) / _MARGIN

    def encrypt(self, parties: TwoParties, rados: Floats) -> EncryptedArray:
        """Rados as this descent takes them."""
        return parties.encrypt(rados, self.norm * _MARGIN, self.places)

    def run(self, parties: TwoParties, rados: EncryptedArray) -> EncryptedArray:
        """Theta after all steps from zero, which neither party sees.

        Private Text Classification, Problem 1, by its gradient (eq. 10) under encryption (eq. 11).
        """
        d = rados.shape[1]
        theta = parties.encrypt(np.zeros((d, 1)), self.largest_theta, self.places)
        kept = 1 - 2 * self.weight * self.rate
        for _ in range(self.steps):
            mean = self._mean(parties, rados, self._weights(parties, rados, theta))
            moved = theta.times(kept, fraction_bits=_RATE_BITS) + mean.times(
                self.rate, fraction_bits=_RATE_BITS
            )
            bounds = (d, 1), self.largest_theta, self.places + _RATE_BITS
            rounded = parties.rescale(settle(moved, Outline.of_numbers(*bounds)), _RATE_BITS)
            theta = settle(rounded, Outline.of_array(theta))
        return theta.reshape(-1)

    def log_loss(
        self, parties: TwoParties, rados: EncryptedArray, theta: EncryptedArray
    ) -> EncryptedArray:
        """The logarithm of the mean of exp(-theta' pi) (eq. 7), encrypted."""
        total = _total(self._weights(parties, rados, theta.reshape(-1, 1)))
        found = parties.take_logarithm(total, self.smallest_sum(len(rados)), self.places)
        return (found - math.log(len(rados))).reshape()

    def run_in_clear(self, rados: Floats) -> Floats:
        """The same steps in clear, to compare with."""
        theta = np.zeros(rados.shape[1])
        weights = np.full(len(theta), self.weight)
        for _ in range(self.steps):
            theta = theta - self.rate * loss_gradient(theta, rados, weights)
        return theta

    def _weights(
        self, parties: TwoParties, rados: EncryptedArray, theta: EncryptedArray
    ) -> EncryptedArray:
        """w_j = exp(-theta' pi_j), kept to as many places more as they can sink."""
        product = parties.matmul(rados, theta)
        bounds = Outline.of_numbers(product.shape, self.largest_score, product.fraction_bits)
        scores = parties.rescale(settle(product, bounds), self.places)
        sunk = math.ceil(self.largest_score * math.log2(math.e))
        return parties.exponentiate(-scores, self.places + sunk)

    def _mean(
        self, parties: TwoParties, rados: EncryptedArray, weights: EncryptedArray
    ) -> EncryptedArray:
        """The mean of the rados under the weights: sum_j w_j pi_j / sum_j w_j."""
        weighted, total = parties.matmul(rados.T, weights), _total(weights)
        largest = Outline.of_array(total).magnitude
        inverse = parties.invert(
            total,
            largest,
            self.smallest_sum(len(rados)),
            places=2 * self.places + math.ceil(max(0.0, math.log2(largest))),
            tolerance=2.0**-self.places,
        )
        mean = parties.matmul(weighted, inverse)
        bounds = Outline.of_numbers(mean.shape, self.norm * _MARGIN, mean.fraction_bits)
        return parties.rescale(settle(mean, bounds), mean.fraction_bits - self.places)


def _total(weights: EncryptedArray) -> EncryptedArray:
    return weights.sum(axis=0).reshape(1, 1)


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
