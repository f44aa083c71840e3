"""The secure rado solver, and rados under encryption in the paper's own, interactive form.

Private Text Classification, Protocol 4, eq. 14 wholly under encryption, between coordinator and key
holder: T = B B' + n Gamma, V = S.INV(T), theta = V (B 1), the columns of B being n encrypted rados.
The paper returns "first row of V B", which is not eq. 14; V (B 1) is. It is the reference for small
systems; the exact masked solve is what the hidden mode runs.

Private Text Classification, Protocol 1, between the owner of the examples, who has the key, and the
blind intermediary, who has the signatures and sees ciphertexts. The labels are encrypted on their
own, so that a secure product with the owner's help is needed:

    phi = sigma + y,    2 pi = S.INNERPROD(phi, x) for each rado and feature.

Protocol 1 multiplies phi by 1/2, which is no integer: 2 pi is made, and read with one binary place
more. `_rados.intermediary` has the form that needs no help, and is much cheaper.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
from sottovoce.learn.arithmetic.shown import Outline, check_outline, settled
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import scaled_bound
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    encrypt,
    encrypt_integers,
)
from sottovoce.learn.paper._inverse import InversePlan, answer_solution, ask_solution
from sottovoce.learn.paper._products import (
    MATRIX,
    ProductPlan,
    answer_matrix_product,
    answer_product,
    ask_matrix_product,
    ask_product,
)
from sottovoce.learn.rados.rados import SealedSignatures
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.script import Hear, Say, Script

SOLVER_LEAKAGE = Leakage(
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


INTERACTIVE_LEAKAGE = Leakage(
    "encrypted rados by a secure product",
    (
        Learns("owner of the examples", "how many rados there are; labels plus signatures under "
               "masks, within 2^-64 of uniform"),
        Learns("intermediary", "how many examples and features there are; its own signatures; "
               "ciphertexts of rados"),
    ),
    collusion="the intermediary and whoever the owner opens rados for hold signatures and clear "
    "rados together and reconstruct the examples: keep them apart",
)  # fmt: skip


@dataclass(frozen=True)
class InteractiveTerms:
    """What both know of one making of rados.

    Attributes:
        examples: m.
        features: d.
        rados: n.
        bound: the largest absolute value in the examples.
        fraction_bits: how many binary places of it are kept.
    """

    examples: int
    features: int
    rados: int
    bound: float
    fraction_bits: int = 30

    def __post_init__(self) -> None:
        if min(self.examples, self.features, self.rados) < 1:
            raise ParameterError("examples, features and rados must be >= 1.")

    @property
    def rows(self) -> Outline:
        """The outline of the examples."""
        return Outline.of_numbers((self.examples, self.features), self.bound, self.fraction_bits)

    @property
    def labels(self) -> Outline:
        """The outline of the labels."""
        return Outline((self.examples,), 1)

    @property
    def phi(self) -> Outline:
        """The outline of signatures plus labels."""
        return Outline((self.rados, self.examples), 2)

    @property
    def result(self) -> Outline:
        """The outline of rados: 2 pi with one binary place more than the examples."""
        bound = 2 * self.examples * self.rows.bound
        return Outline((self.rados, self.features), bound, self.fraction_bits + 1)


def ask_rados(signatures: SealedSignatures, terms: InteractiveTerms) -> Script[EncryptedArray]:
    """The intermediary's part: rados under the owner's key, which stay closed to it.

    Private Text Classification, Protocol 1.
    """
    if signatures.shape != (terms.rados, terms.examples):
        raise InputError(f"the signatures must be {terms.rados} of {terms.examples} examples each.")
    public = yield Hear("key", _told_key)
    rows, labels = yield Hear("examples", lambda message: _examples(message, public, terms))
    return (yield from ask_rados_of(signatures, rows, labels, terms))


def ask_rados_of(
    signatures: SealedSignatures, rows: object, labels: object, terms: InteractiveTerms
) -> Script[EncryptedArray]:
    """The intermediary's part where it has the encrypted examples already.

    Clear rows are refused: signatures only meet ciphertexts.
    """
    if not isinstance(rows, EncryptedArray) or not isinstance(labels, EncryptedArray):
        raise LeakError("an intermediary's signatures are applied to ciphertexts only.")
    check_outline(rows, terms.rows)
    check_outline(labels, terms.labels)
    phi = settled(signatures.added(labels), terms.phi)
    doubled = yield from ask_product(phi, rows, ProductPlan(terms.phi, terms.rows, MATRIX))
    return settled(doubled, terms.result)


def answer_rados(
    rows: Rows, labels: ArrayLike, terms: InteractiveTerms, key: PrivateKey
) -> Script[None]:
    """The owner's part: hands out encrypted examples, and multiplies masked numbers."""
    matrix = checked_rows(rows)
    signs = checked_signs(labels, len(matrix))
    if matrix.shape != terms.rows.shape:
        raise InputError(
            f"the examples must be {terms.examples} x {terms.features}, got "
            f"{matrix.shape[0]} x {matrix.shape[1]}."
        )
    bits = key.public.bits
    hidden = encrypt(matrix, terms.rows.plan(bits), key)
    hidden_signs = encrypt_integers(signs.astype(np.int64), terms.labels.plan(bits), key)
    yield Say("key", {"key": proven_key_to_text(key)})
    parts = {"rows": array_to_bytes(hidden), "labels": array_to_bytes(hidden_signs)}
    yield Say("examples", parts)
    yield from answer_product(terms.phi, terms.rows, MATRIX, key)


def _told_key(message: Message) -> PublicKey:
    return public_key_from_text(message.item("key", str), needs_proof=True)


def _examples(
    message: Message, public: PublicKey, terms: InteractiveTerms
) -> tuple[EncryptedArray, EncryptedArray]:
    return _part(message, "rows", public, terms.rows), _part(
        message, "labels", public, terms.labels
    )


def _part(message: Message, name: str, public: PublicKey, outline: Outline) -> EncryptedArray:
    plan = outline.plan(public.bits)
    array = array_from_bytes(message.item(name, bytes), public, plan=plan)
    if array.shape != outline.shape:
        raise InputError(f"encrypted {name} must have shape {outline.shape}, got {array.shape}.")
    return array
