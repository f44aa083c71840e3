"""What a rado is, its losses and moments, and how rados are made without giving examples away.

Whoever knows the signatures and about m clear rados solves for the examples exactly, and sparse
text falls to far fewer (tests show both). So signatures are sealed: they can be applied, not read.
The owner of examples applies them to its own rows and gives away clear rados without signatures
(`RadoMaker`); an intermediary applies its own to ciphertexts only (`SealedSignatures` refuses
clear rows of anybody but an owner). The plain functions here take observations and signatures
together: they are the owner's own computations.

The exponential loss over rados stands for the logistic loss of the examples. What peers send of
their rados is `RadoMoments`: how many, their sum, and the sum of their outer products.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax

from sottovoce.arrays import Floats
from sottovoce.errors import LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
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
