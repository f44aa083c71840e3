"""The secure rado solver: eq. 14 wholly under encryption, between coordinator and key holder.

Private Text Classification, Protocol 4: T = B B' + n Gamma, V = S.INV(T), theta = V (B 1), the
columns of B being n encrypted rados. The paper returns "first row of V B", which is not eq. 14;
V (B 1) is. It is the reference for small systems; the exact masked solve is what the hidden mode
runs.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.learn.arithmetic import (
    InversePlan,
    Outline,
    Script,
    answer_matrix_product,
    answer_solution,
    ask_matrix_product,
    ask_solution,
)
from sottovoce.learn.arithmetic.outline import settled
from sottovoce.learn.examples import Floats
from sottovoce.learn.paillier import EncryptedArray, PrivateKey
from sottovoce.learn.paillier.plan import scaled_bound
from sottovoce.learn.party import Leakage, Learns

LEAKAGE = Leakage(
    "secure rado solver",
    (
        Learns("coordinator", "how many rados and features there are; ciphertexts"),
        Learns("key holder", "the same; numbers under masks, within 2^-64 of uniform"),
    ),
    collusion="the two together can open everything",
)


@dataclass(frozen=True)
class RadoSolverPlan:
    """What both know of the solve.

    Attributes:
        rados: the outline of B: d features by n rados.
        weights: the diagonal of Gamma.
        fraction_bits: the binary places of the inverse.
    """

    rados: Outline
    weights: Floats
    fraction_bits: int = 48

    def __post_init__(self) -> None:
        if len(self.rados.shape) != 2 or self.rados.shape[0] != len(self.weights):  # noqa: PLR2004 - a matrix
            raise ParameterError("rados must be a matrix of features by rados, a weight each.")
        if not np.all(self.weights > 0):
            raise ParameterError("Gamma must be positive definite: every weight must be > 0.")

    @property
    def ridge(self) -> Floats:
        """The n Gamma of eq. 14."""
        return np.diag(self.rados.shape[1] * np.asarray(self.weights, np.float64))

    @cached_property
    def products(self) -> Outline:
        """The outline of T = B B' + n Gamma."""
        d, n = self.rados.shape
        places = 2 * self.rados.fraction_bits
        ridge = scaled_bound(float(self.ridge.max()), places)
        return Outline((d, d), n * self.rados.bound**2 + ridge, places)

    @property
    def total(self) -> Outline:
        """The outline of B 1."""
        d, n = self.rados.shape
        return Outline((d,), n * self.rados.bound, self.rados.fraction_bits)

    @property
    def transposed(self) -> Outline:
        """Of the rados' transpose."""
        return replace(self.rados, shape=self.rados.shape[::-1])

    @property
    def inverse(self) -> InversePlan:
        """Of T: its trace from the rados' bound, its smallest eigenvalue from Gamma."""
        d, n = self.rados.shape
        trace = d * n * self.rados.magnitude**2 + float(np.trace(self.ridge))
        smallest = float(np.diag(self.ridge).min())
        return InversePlan(self.products, trace, smallest, fraction_bits=self.fraction_bits)


def ask_rado_solution(rados: EncryptedArray, plan: RadoSolverPlan) -> Script[EncryptedArray]:
    """The coordinator's part: theta under the key holder's key."""
    products = yield from ask_matrix_product(rados, rados.T, plan.rados, plan.transposed)
    matrix = settled(products.plus(plan.ridge), plan.products)
    total = settled(rados.sum(axis=1), plan.total)
    return (yield from ask_solution(matrix, total, plan.total, plan.inverse))


def answer_rado_solution(plan: RadoSolverPlan, key: PrivateKey) -> Script[Outline]:
    """The key holder's part."""
    yield from answer_matrix_product(plan.rados, plan.transposed, key)
    return (yield from answer_solution(plan.total, plan.inverse, key))
