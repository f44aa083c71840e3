"""What a rado is, how rados are made without giving examples away, and how to learn from them.

Whoever knows the signatures and about m clear rados solves for the examples exactly, and sparse
text falls to far fewer (tests show both). So signatures are sealed: they can be applied, not read.
The owner of examples applies them to its own rows and gives away clear rados without signatures
(`RadoMaker`); an intermediary applies its own to ciphertexts only (`SealedSignatures` refuses
clear rows of anybody but an owner). The plain functions here take observations and signatures
together: they are the owner's own computations.

The exponential loss over rados stands for the logistic loss of the examples. What peers send of
their rados is `RadoMoments`: how many, their sum, and the sum of their outer products.

Learners: boosting takes one feature a round; the descent is on the exponential loss; the M-loss has
a closed-form minimiser (`m_loss_minimiser`).
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from sottovoce.arrays import Floats
from sottovoce.errors import LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs, symmetric
from sottovoce.learn.ridge import LinearModel, Standard
from sottovoce.privacy.randomness import random_bytes

if TYPE_CHECKING:
    from sottovoce.learn.paillier.array import EncryptedArray

MOST_EXAMPLES_FOR_ALL = 20


def rademacher_observations(rows: Floats, signs: Floats, signatures: NDArray[np.int8]) -> Floats:
    """Rados, one per signature: half the sum of (sigma_i + y_i) x_i over the m examples.

    Private Text Classification, Definition 2, whose sum is printed to n and runs to m.
    """
    x, y, sigma = rows, signs, signatures
    return 0.5 * (sigma.astype(np.float64) @ x + y @ x)


def all_signatures(examples: int) -> NDArray[np.int8]:
    """Every sigma in {-1, 1}^m, for small m."""
    if not 1 <= examples <= MOST_EXAMPLES_FOR_ALL:
        raise ParameterError(
            f"all signatures are listed for 1 to {MOST_EXAMPLES_FOR_ALL} examples, got {examples}."
        )
    numbers = np.arange(1 << examples)[:, None]
    return (2 * (numbers >> np.arange(examples) & 1) - 1).astype(np.int8)


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


def fresh_signatures(number: int, examples: int) -> NDArray[np.int8]:
    """Uniform signatures from the operating system's randomness."""
    bits = np.unpackbits(np.frombuffer(random_bytes(-(-number * examples // 8)), np.uint8))
    return (2 * bits[: number * examples].reshape(number, examples).astype(np.int8)) - np.int8(1)


class SealedSignatures:
    """Signatures that can be applied but not read, printed, copied or sent."""

    __slots__ = ("_signatures",)

    def __init__(self, number: int, examples: int) -> None:
        _check_number(number)
        self._signatures = fresh_signatures(number, examples)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rados they make, of how many examples."""
        return self._signatures.shape

    def combine(self, ciphertexts: "EncryptedArray") -> "EncryptedArray":
        """Sums of encrypted rows with these signs; what is clear has no such method."""
        return ciphertexts.combine(self._signatures, weight=self.shape[1])

    def add_labels(self, labels: "EncryptedArray") -> "EncryptedArray":
        """Each signature plus the encrypted labels, a row for each rado."""
        return labels.reshape(1, -1).plus_integers(self._signatures, bound=1)

    def __repr__(self) -> str:
        """Their number only."""
        number, examples = self.shape
        return f"<{number} sealed signatures of {examples} examples>"

    def __reduce__(self) -> NoReturn:
        raise LeakError("sealed signatures must not leave their maker.")


class RadoMaker:
    """The owner of examples, who makes rados of them and gives the rados away, never the rest."""

    def __init__(self, rows: Rows, labels: ArrayLike) -> None:
        self._rows = checked_rows(rows)
        self._signs = checked_signs(labels, len(self._rows))

    def __repr__(self) -> str:
        """The size of what it holds only."""
        return f"<maker of rados from {len(self._rows)} examples>"

    def __reduce__(self) -> NoReturn:
        raise LeakError("a maker of rados must not leave its process: it holds the examples.")

    def sample(self, number: int) -> Floats:
        """Clear rados under fresh signatures, which are forgotten at once."""
        _check_number(number)
        signatures = fresh_signatures(number, len(self._rows))
        return rademacher_observations(self._rows, self._signs, signatures)

    def all(self) -> Floats:
        """All 2^m rados, in an order that says nothing; for at most 20 examples.

        Together they determine the examples' second moments, as `sums` of the examples would.
        """
        rados = rademacher_observations(self._rows, self._signs, all_signatures(len(self._rows)))
        order = np.frombuffer(random_bytes(8 * len(rados)), np.uint64).argsort()
        return rados[order]


def _check_number(number: int) -> None:
    if number < 1:
        raise ParameterError(f"the number of rados must be >= 1, got {number}.")


@dataclass(frozen=True)
class RadoMoments:
    """A set of rados by its first two sums.

    Private Text Classification, Definition 5, in the form that needs no global mean: peers send
    S1 = sum pi and S2 = sum pi pi', and sum (pi - b)(pi - b)' = S2 - n b b'.

    Attributes:
        count: n, how many rados.
        total: S1 (eq. 17).
        products: S2.
    """

    count: int
    total: Floats
    products: Floats

    @classmethod
    def from_rados(cls, rados: ArrayLike) -> Self:
        """The sums of one peer's rados."""
        pi = checked_rows(rados)
        return cls(len(pi), pi.sum(axis=0), pi.T @ pi)

    @property
    def width(self) -> int:
        """d, the number of features."""
        return self.total.size

    @property
    def mean(self) -> Floats:
        """B of eq. 15, which prints a sum and means the mean."""
        return self.total / self.count

    @property
    def covariance(self) -> Floats:
        """The sum of eq. 18 over all peers, divided by n."""
        return self.products / self.count - np.outer(self.mean, self.mean)


def vector_size(width: int) -> int:
    """How many numbers the moments of ``width`` features take."""
    return 1 + width + width * (width + 1) // 2


def extra_rado(rows: Floats, signs: Floats) -> tuple[Floats, int]:
    """A peer's part of the common extra rado of Protocol 3, and how many rows it is made from."""
    rado = rademacher_observations(rows, signs, fresh_signatures(1, len(rows)))[0]
    rado[-1] = 0.0  # the intercept is the asker's to add
    return rado, len(rows)


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
    return standard.unstandardise(theta / (2 * np.sqrt(standard.count)))
