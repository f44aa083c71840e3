"""Gradient descent on the exponential loss of encrypted rados.

Private Text Classification, section 2.5.2: the ciphertext holder has encrypted rados and theta, the
key holder the key, and neither sees either. Each step is theta <- theta - eta grad J(theta) with

    grad J = - sum_j w_j pi_j / sum_j w_j + 2 c theta,    w_j = exp(-theta' pi_j)    (eqs. 10, 11)

by S.MATPROD for the scores, S.EXP for the weights, S.INV for one over their sum, and S.MATPROD for
the mean rado. Eq. 11 as printed leaves the sum of the weights out, which changes the minimiser.

Everything is bounded by the public norm R of a rado. The step 1 / (R^2 + 2 c) is one over the
largest curvature, so that J never rises from J(0) = 0; then c |theta|^2 <= theta' mean(pi) gives
|theta| <= R / c and |theta' pi| <= R^2 / c. Each step brings J closer to its least value by a
factor 1 - 2 c / (R^2 + 2 c) at least, so that the number of steps is public. Where R^2 / c is
large, scale the rados down to a norm of about 1.
"""

import math
from dataclasses import dataclass

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic.shown import Outline, Seen, Shown, see, settled, show
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.wire import encrypt
from sottovoce.learn.paper._functions import (
    ExponentialPlan,
    LogarithmPlan,
    answer_logarithm,
    ask_logarithm,
    exponentiate,
    exponentiated,
)
from sottovoce.learn.paper._inverse import InversePlan, answer_inverse, ask_inverse
from sottovoce.learn.paper._products import (
    MATRIX,
    ProductPlan,
    answer_product,
    ask_product,
    multiplied,
    multiply,
    rescale,
    rescaled,
)
from sottovoce.learn.rados.rados import loss_gradient
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.script import Script

LEAKAGE = Leakage(
    "secure gradient descent on the exponential loss of rados",
    (
        Learns("ciphertext holder", "nothing: it sees ciphertexts of rados and theta"),
        Learns("key holder", "how many rados and features, the norm's bound, the regulariser and "
               "the number of steps, all public; numbers under masks, and the tests of bitwise "
               "comparisons, within 2^-64 of uniform"),
    ),
    collusion="the two together can open rados and theta",
)  # fmt: skip

_MARGIN = 1.0 + 2.0**-6  # rounding may carry numbers a little beyond their exact bounds
_RATE_BITS = 40


@dataclass(frozen=True)
class DescentPlan:
    """What both know of a descent.

    Attributes:
        rados: how many there are.
        features: how many features they have.
        norm_bound: R, at least the norm of every rado.
        weight: c, the weight of the regulariser theta' theta.
        steps: how many steps are taken.
        fraction_bits: the binary places that numbers are kept to.
    """

    rados: int
    features: int
    norm_bound: float
    weight: float = 1.0
    steps: int = 30
    fraction_bits: int = 30

    def __post_init__(self) -> None:
        if min(self.rados, self.features, self.steps) < 1:
            raise ParameterError("rados, features and steps must be >= 1.")
        if not (0 < self.norm_bound < math.inf and 0 < self.weight < math.inf):
            raise ParameterError("norm_bound and weight must be finite and > 0.")

    @property
    def rate(self) -> float:
        """The length of a step, as a multiple of 2^-40: one over the largest curvature."""
        exact = 1 / (self.norm_bound**2 + 2 * self.weight)
        return math.floor(math.ldexp(exact, _RATE_BITS)) / 2.0**_RATE_BITS

    @property
    def score_bound(self) -> float:
        """The largest size of theta' pi."""
        return self.norm_bound**2 / self.weight * _MARGIN

    @property
    def examples(self) -> Outline:
        """The outline of the rados."""
        return self._outline((self.rados, self.features), self.norm_bound)

    @property
    def theta(self) -> Outline:
        """The outline of theta, as a column."""
        return self._outline((self.features, 1), self.norm_bound / self.weight)

    @property
    def stepped(self) -> Outline:
        """The outline of theta after a step, before it is rescaled."""
        magnitude = self.norm_bound / self.weight
        return self._outline((self.features, 1), magnitude, self.fraction_bits + _RATE_BITS)

    @property
    def unrounded_scores(self) -> Outline:
        """The outline of theta' pi before it is rescaled."""
        places = 2 * self.fraction_bits
        return Outline.of_numbers((self.rados, 1), self.score_bound, places)

    @property
    def scores(self) -> Outline:
        """The outline of theta' pi."""
        bound = (self.unrounded_scores.bound >> self.fraction_bits) + 1
        return Outline((self.rados, 1), bound, self.fraction_bits)

    @property
    def exponential(self) -> ExponentialPlan:
        """The plan of the weights exp(-theta' pi), kept to as many places more as they can sink."""
        sunk = math.ceil(self.score_bound * math.log2(math.e))
        return ExponentialPlan(self.scores, self.fraction_bits + sunk)

    @property
    def sum_of_weights(self) -> Outline:
        """The outline of their sum."""
        weights = self.exponential.result
        return Outline((1, 1), weights.bound * self.rados, weights.fraction_bits)

    @property
    def smallest_sum(self) -> float:
        """No sum of weights is below this."""
        return self.rados * math.exp(-self.score_bound) / _MARGIN

    @property
    def inverse(self) -> InversePlan:
        """The plan of one over the sum of weights."""
        return InversePlan(
            self.sum_of_weights,
            trace_bound=self.sum_of_weights.magnitude,
            smallest=self.smallest_sum,
            fraction_bits=self._inverse_bits,
            tolerance=2.0**-self.fraction_bits,
        )

    @property
    def _inverse_bits(self) -> int:
        largest = self.sum_of_weights.magnitude
        return 2 * self.fraction_bits + math.ceil(max(0.0, math.log2(largest)))

    @property
    def mean_rado(self) -> Outline:
        """The outline of the weighted mean of rados, before it is rescaled."""
        places = self.examples.fraction_bits + self.exponential.fraction_bits + self._inverse_bits
        return self._outline((self.features, 1), self.norm_bound, places)

    @property
    def logarithm(self) -> LogarithmPlan:
        """The plan of the logarithm of the sum of weights."""
        return LogarithmPlan(self.sum_of_weights, self.smallest_sum, self.fraction_bits)

    def _outline(
        self, shape: tuple[int, ...], magnitude: float, fraction_bits: int | None = None
    ) -> Outline:
        places = self.fraction_bits if fraction_bits is None else fraction_bits
        return Outline.of_numbers(shape, magnitude * _MARGIN, places)


def ask_descent(rados: EncryptedArray, plan: DescentPlan) -> Script[EncryptedArray]:
    """The ciphertext holder's part: theta after ``plan.steps`` steps from zero, encrypted.

    Private Text Classification, Problem 1, by its gradient (eq. 10) under encryption (eq. 11).
    """
    shown = yield from show(rados, plan.examples)
    zeros = np.zeros(plan.theta.shape)
    first = encrypt(zeros, plan.theta.plan(rados.public.bits), rados.public)
    theta = yield from show(first, plan.theta)
    for _ in range(plan.steps):
        weights = yield from _ask_weights(shown, theta, plan)
        mean = yield from _ask_mean(shown, weights, plan)
        theta = yield from _ask_update(theta, mean, plan)
    return theta.array.reshape(-1)


def answer_descent(plan: DescentPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of the descent."""
    seen = yield from see(plan.examples, key)
    theta = yield from see(plan.theta, key)
    for _ in range(plan.steps):
        weights = yield from _answer_weights(seen, theta, plan, key)
        yield from _answer_mean(seen, weights, plan, key)
        theta = (yield from rescale(plan.stepped, _RATE_BITS, key)).settled(plan.theta)
    return Outline((plan.features,), plan.theta.bound, plan.theta.fraction_bits)


def _ask_weights(rados: Shown, theta: Shown, plan: DescentPlan) -> Script[Shown]:
    """w_j = exp(-theta' pi_j)."""
    product = yield from multiplied(rados, theta, MATRIX)
    scores = yield from rescaled(
        settled(product, plan.unrounded_scores), plan.unrounded_scores, plan.fraction_bits
    )
    return (yield from exponentiated(-scores.array, plan.exponential))


def _answer_weights(rados: Seen, theta: Seen, plan: DescentPlan, key: PrivateKey) -> Script[Seen]:
    yield from multiply(rados, theta, MATRIX, key)
    yield from rescale(plan.unrounded_scores, plan.fraction_bits, key)
    return (yield from exponentiate(plan.exponential, key))


def _ask_mean(rados: Shown, weights: Shown, plan: DescentPlan) -> Script[EncryptedArray]:
    """The mean of the rados under the weights: sum_j w_j pi_j / sum_j w_j."""
    weighted = yield from multiplied(rados.T, weights, MATRIX)
    total = settled(weights.array.sum(axis=0).reshape(1, 1), plan.sum_of_weights)
    inverse = yield from ask_inverse(total, plan.inverse)
    product = ProductPlan(Outline.of(weighted), plan.inverse.result, MATRIX)  # both are the plan's
    mean = yield from ask_product(weighted, inverse, product)
    unrounded = settled(mean, plan.mean_rado)
    return (yield from rescaled(unrounded, plan.mean_rado, _dropped_of_mean(plan))).array


def _answer_mean(rados: Seen, weights: Seen, plan: DescentPlan, key: PrivateKey) -> Script[None]:
    weighted = yield from multiply(rados.T, weights, MATRIX, key)
    inverse = yield from answer_inverse(plan.inverse, key)
    yield from answer_product(weighted, inverse, MATRIX, key)
    yield from rescale(plan.mean_rado, _dropped_of_mean(plan), key)


def _dropped_of_mean(plan: DescentPlan) -> int:
    return plan.mean_rado.fraction_bits - plan.fraction_bits


def _ask_update(theta: Shown, mean: EncryptedArray, plan: DescentPlan) -> Script[Shown]:
    """The step theta (1 - 2 c eta) + eta mean, with public factors, rescaled."""
    kept = 1 - 2 * plan.weight * plan.rate
    moved = theta.array.times(kept, fraction_bits=_RATE_BITS) + mean.times(
        plan.rate, fraction_bits=_RATE_BITS
    )
    return (yield from rescaled(settled(moved, plan.stepped), plan.stepped, _RATE_BITS)).settled(
        plan.theta
    )


def ask_log_loss(
    rados: EncryptedArray, theta: EncryptedArray, plan: DescentPlan
) -> Script[EncryptedArray]:
    """The ciphertext holder's part: ln of the mean of exp(-theta' pi) (eq. 7), encrypted."""
    shown = yield from show(rados, plan.examples)
    column = yield from show(theta.reshape(-1, 1), plan.theta)
    weights = yield from _ask_weights(shown, column, plan)
    total = settled(weights.array.sum(axis=0).reshape(1, 1), plan.sum_of_weights)
    logarithm = yield from ask_logarithm(total, plan.logarithm)
    return (logarithm - math.log(plan.rados)).reshape()


def answer_log_loss(plan: DescentPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part of the loss."""
    seen = yield from see(plan.examples, key)
    theta = yield from see(plan.theta, key)
    yield from _answer_weights(seen, theta, plan, key)
    return (yield from answer_logarithm(plan.logarithm, key))


def plain_descent(rados: Floats, plan: DescentPlan) -> Floats:
    """The same steps in clear: what the secure descent is checked against."""
    theta = np.zeros(plan.features)
    for _ in range(plan.steps):
        theta = theta - plan.rate * loss_gradient(theta, rados, np.full(len(theta), plan.weight))
    return theta
