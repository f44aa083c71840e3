"""The exact masked solve: shares of y = adj(A) b in one round trip, to the last bit.

Extends the masking of Giacomelli, Jha, Joye, Page and Yoon (ACNS 2018) so that theta stays hidden
from both. For each public random prime p the coordinator C draws R uniform in GL(d, p) and r
uniform; the key holder K sees M = A R and c = b + A r modulo p, both uniform whatever A and b are.
K's w = M^-1 c satisfies A (R w - r) = b, and det(M) = det(A) det(R), so that
y = det(A) theta = det(M) (e R w - e r) with e = det(R)^-1. K works that product out under C's key.

First what the two agree on and check of each other's messages, then the two; one prime's part of
the algebra is in `_masked_algebra`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.errors import DamagedMessageError, InputError, ParameterError, SingularSystemError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.key_files import proven_key_to_text, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.wire import (
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    encrypt_integers,
)
from sottovoce.learn.solve._masked_algebra import PrimeMask, joined_parts, weight_parts, weights_of
from sottovoce.learn.solve.field import (
    Objects,
    Vector,
    as_array,
    is_public_prime,
    mask_half_range,
    mixed_rows,
    multiple_masks,
    random_vector,
)
from sottovoce.learn.solve.plan import WEIGHT_PARTS, Share, SolvePlan, join_residues
from sottovoce.learn.wire.message import Inbox, Leakage, Learns, Message

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value


@dataclass(frozen=True)
class SolveTerms:
    """What both parties of a masked solve know before it."""

    session: bytes
    coordinator: str
    key_holder: str
    plan: SolvePlan

    def __post_init__(self) -> None:
        if self.coordinator == self.key_holder:
            raise ParameterError(
                "the coordinator and the key holder must be different parties: who holds key and "
                "ciphertexts reads the system."
            )


def check_inputs(
    plan: SolvePlan, key: PrivateKey, matrix: EncryptedArray, vector: EncryptedArray
) -> None:
    check_key(plan, key.public)
    if matrix.shape != (plan.size, plan.size) or vector.shape != (plan.size,):
        raise InputError(
            f"a solve of {plan.size} unknowns needs an encrypted {plan.size} x {plan.size} matrix "
            f"and {plan.size} right-hand sides, got {matrix.shape} and {vector.shape}."
        )
    if matrix.public != vector.public or matrix.public == key.public:
        raise InputError("the system must be under the key holder's key, not the coordinator's.")
    # The arrays' own bounds may be wider, as sums of summands' are: the public bounds hold.
    if any(array.plan != plan.sent_slots for array in (matrix, vector)):
        raise InputError("the system must be encrypted in the slots of the solve's plan.")


def check_key(plan: SolvePlan, public: PublicKey) -> None:
    if public.bits != plan.key_bits:
        raise InputError(f"the solve is planned for keys of {plan.key_bits} bits.")


@dataclass(frozen=True)
class MaskedSystem:
    """A masked system as it came, checked."""

    primes: tuple[int, ...]
    masked: EncryptedArray
    columns: EncryptedArray


def read_masked(message: Message, plan: SolvePlan, own: PublicKey) -> MaskedSystem:
    primes = message.item("primes", tuple)
    if len(set(primes)) != len(primes) or not all(
        isinstance(prime, int) and is_public_prime(prime, plan.prime_bits) for prime in primes
    ):
        raise DamagedMessageError(f"a masked system needs primes of {plan.prime_bits} bits.")
    other = public_key_from_text(message.item("key", str), needs_proof=True)
    check_key(plan, other)
    if other == own:
        raise InputError("coordinator and key holder must have keys of their own.")
    masked = array_from_bytes(message.item("masked", bytes), own, plan=plan.sent_slots)
    columns = array_from_bytes(message.item("columns", bytes), other, plan=plan.answer_slots)
    rows = (len(primes), plan.size + 1)
    if masked.shape != (*rows, plan.size) or columns.shape != (*rows, plan.outputs):
        raise InputError("a masked system must have the shapes of its plan.")
    return MaskedSystem(primes, masked, columns)


def read_answer(
    message: Message, plan: SolvePlan, asked: int, own: PublicKey
) -> tuple[list[bool], EncryptedArray | None]:
    fine = message.array("solved", "|b1")
    if fine.size != asked:
        raise DamagedMessageError("an answer must say of every prime whether it was solved.")
    if not fine.any():
        return fine.tolist(), None
    array = array_from_bytes(message.item("answers", bytes), own, plan=plan.answer_slots)
    if array.shape != (int(fine.sum()), WEIGHT_PARTS, plan.outputs):
        raise InputError("an answer must have the shape of its plan.")
    return fine.tolist(), array


LEAKAGE = Leakage(
    "exact masked solve",
    (
        Learns(
            "coordinator",
            "ciphertexts under the key holder's key, a uniform share of y, and the primes that "
            "divide det(A), if a random one does",
        ),
        Learns(
            "key holder",
            "for each prime a uniform matrix and a uniform vector, a uniform share of y, and the "
            "primes that divide det(A), if a random one does",
        ),
    ),
    collusion="the coordinator and the key holder together learn A, b and theta: keep them apart",
    assumes=(
        "honest but curious parties, authenticated private channels, Paillier's assumption, and "
        "masks that hide each number but for a chance of 2^-64"
    ),
)

MOST_RETRIES = 4


class SolveCoordinator:
    """C: holds Enc_K(A) and Enc_K(b), masks them, and ends with a share of y."""

    def __init__(
        self, terms: SolveTerms, key: PrivateKey, matrix: EncryptedArray, vector: EncryptedArray
    ) -> None:
        check_inputs(terms.plan, key, matrix, vector)
        self.name = terms.coordinator
        self.share: Share | None = None
        self.retries = 0
        self._terms, self._key = terms, key
        self._matrix, self._vector = matrix, vector
        self._masks: list[PrimeMask] = []
        self._waiting: list[PrimeMask] = []
        self._tried: list[int] = []
        self._residues: dict[int, list[int]] = {}
        self._inbox = Inbox(terms.session, self.name)

    @property
    def has_finished(self) -> bool:
        """Whether the share is known."""
        return self.share is not None

    def start(self) -> list[Message]:
        """Send the masked system for all primes."""
        return [self._ask_system(self._terms.plan.primes)]

    def receive(self, message: Message) -> list[Message]:
        """Open the answers; ask again for the primes that divide det(A)."""
        plan = self._terms.plan
        answered, array = read_answer(message, plan, len(self._waiting), self._key.public)
        self._inbox.take(message)
        good = [mask for mask, fine in zip(self._waiting, answered, strict=True) if fine]
        if array is not None:
            self._note(good, decrypt_integers(array, self._key))
        missing = plan.primes - len(self._masks)
        if missing == 0:
            return self._end()
        return self._ask_again(missing)

    def time_out(self) -> list[Message]:
        """Nobody else could answer."""
        return []

    def _note(self, masks: list[PrimeMask], answers: Objects) -> None:
        for mask, answer in zip(masks, answers, strict=True):
            self._residues[mask.prime] = joined_parts(answer, self._terms.plan, mask.prime)
            self._masks.append(mask)

    def _ask_again(self, missing: int) -> list[Message]:
        check_retries(self.retries, missing, self._terms.plan)
        self.retries += 1
        return [self._ask_system(missing)]

    def _end(self) -> list[Message]:
        self._inbox.close()
        self.share = share_of(self._residues, determinant=self._terms.plan.determinant)
        self._masks = self._waiting = []
        return []

    def _ask_system(self, count: int) -> Message:
        plan = self._terms.plan
        self._waiting = []
        for _ in range(count):
            self._waiting.append(PrimeMask.draw(plan, self._tried))
            self._tried.append(self._waiting[-1].prime)
        payload: dict[str, Value] = {
            "key": proven_key_to_text(self._key),
            "primes": tuple(mask.prime for mask in self._waiting),
            "masked": array_to_bytes(self._mask_system(self._waiting)),
            "columns": array_to_bytes(self._columns(self._waiting)),
        }
        step = 2 * self.retries + 1
        self._inbox.expect(step + 1, "answer", [self._terms.key_holder])
        receiver = self._terms.key_holder
        return Message(self._terms.session, self.name, receiver, step, "masked", payload)

    def _mask_system(self, masks: list[PrimeMask]) -> EncryptedArray:
        """Enc_K of (A R)' and b + A r for each prime, plus multiples of the prime."""
        plan = self._terms.plan
        rows = [row for mask in masks for row in mask.exponents]
        mixed = mixed_rows(self._matrix, rows, plan.prime_bits)
        grid = mixed.reshape(len(masks), plan.size + 1, -1)
        for at in range(len(masks)):
            grid[at, -1] = grid[at, -1] * self._vector.ciphertexts % self._vector.public.n_squared
        system = as_array(self._vector, grid, plan.sent_slots, plan.quotient << plan.prime_bits)
        multiples = [
            multiple_masks((plan.size + 1, plan.size), mask.prime, plan.quotient) for mask in masks
        ]
        return system.plus_integers(np.stack(multiples), bound=_mask_bound(plan, plan.quotient))

    def _columns(self, masks: list[PrimeMask]) -> EncryptedArray:
        plan = self._terms.plan
        columns = [mask.columns(determinant=plan.determinant) for mask in masks]
        flat = [entry for matrix in columns for column in matrix for entry in column]
        array = as_grid(flat, (len(masks), plan.size + 1, plan.outputs))
        return encrypt_integers(array, plan.answer_slots, self._key)


class SolveKeyHolder:
    """K: opens uniform systems, solves them, and ends with a share of y."""

    def __init__(self, terms: SolveTerms, key: PrivateKey) -> None:
        check_key(terms.plan, key.public)
        self.name = terms.key_holder
        self.share: Share | None = None
        self.retries = 0
        self._terms, self._key = terms, key
        self._residues: dict[int, list[int]] = {}
        self._tried: set[int] = set()
        self._inbox = Inbox(terms.session, self.name)

    @property
    def has_finished(self) -> bool:
        """Whether the share is known."""
        return self.share is not None

    def start(self) -> list[Message]:
        """Wait for the masked system."""
        self._inbox.expect(1, "masked", [self._terms.coordinator])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Solve for each prime, and answer under the coordinator's key."""
        plan = self._terms.plan
        asked = read_masked(message, plan, self._key.public)
        if len(asked.primes) != plan.primes - len(self._residues):
            raise DamagedMessageError("a masked system must come for every open prime.")
        if self._tried & set(asked.primes):
            raise DamagedMessageError("a masked system must come with primes of its own.")
        self._inbox.take(message)
        self._tried |= set(asked.primes)
        solutions = self._solutions(asked)
        answers = [
            self._answer(asked.columns[at], solution, prime)
            for at, (prime, solution) in enumerate(zip(asked.primes, solutions, strict=True))
            if solution is not None
        ]
        return [self._answer_message(message.step + 1, solutions, answers)]

    def time_out(self) -> list[Message]:
        """Nobody else could ask."""
        return []

    def _solutions(self, asked: MaskedSystem) -> list[Vector | None]:
        opened = decrypt_integers(asked.masked, self._key)
        return [
            weights_of(system, prime) for system, prime in zip(opened, asked.primes, strict=True)
        ]

    def _answer(self, columns: EncryptedArray, weights: Vector, prime: int) -> EncryptedArray:
        """Enc_C of y's parts, each plus a uniform residue and a uniform multiple of the prime."""
        plan, shape = self._terms.plan, (WEIGHT_PARTS, self._terms.plan.outputs)
        mixed = mixed_rows(columns, weight_parts(weights, plan), plan.part_bits)
        product = as_array(
            columns, mixed, plan.answer_slots, plan.answer_quotient << plan.prime_bits
        )
        residues = as_grid(random_vector(shape[0] * shape[1], prime), shape)
        self._residues[prime] = [-each % prime for each in joined_parts(residues, plan, prime)]
        masks = multiple_masks(shape, prime, plan.answer_quotient) + residues
        bound = _mask_bound(plan, plan.answer_quotient) + (1 << plan.prime_bits)
        return product.plus_integers(masks, bound=bound)

    def _answer_message(
        self, step: int, solutions: Sequence[Vector | None], answers: list[EncryptedArray]
    ) -> Message:
        plan = self._terms.plan
        fine = np.array([solution is not None for solution in solutions])
        payload: dict[str, Value] = {"solved": fine}
        if answers:
            grid = np.stack([answer.ciphertexts for answer in answers])
            array = as_array(answers[0], grid, plan.answer_slots, answers[0].bound)
            # In full: it goes back to the owner of the key, who may have chosen its primes.
            payload["answers"] = array_to_bytes(array.blind(full=True))
        if fine.all():
            self._inbox.close()
            self.share = share_of(self._residues, determinant=plan.determinant)
        else:
            check_retries(self.retries, int((~fine).sum()), plan)
            self.retries += 1
            self._inbox.expect(step + 1, "masked", [self._terms.coordinator])
        receiver = self._terms.coordinator
        return Message(self._terms.session, self.name, receiver, step, "answer", payload)


def share_of(residues: Mapping[int, Sequence[int]], *, determinant: bool) -> Share:
    """The share modulo the product of the primes; both parties order them by size."""
    primes = sorted(residues)
    modulus, values = join_residues([residues[prime] for prime in primes], primes)
    return Share(modulus, tuple(values), determinant)


def check_retries(done: int, singular: int, plan: SolvePlan) -> None:
    """Refuse a system that is singular modulo all primes, or modulo too many."""
    if singular == plan.primes or done >= MOST_RETRIES:
        raise SingularSystemError(
            f"the system is singular modulo {singular} of {plan.primes} random primes after "
            f"{done} redraws: it must be positive definite; raise the penalty."
        )


def _mask_bound(plan: SolvePlan, quotient: int) -> int:
    return mask_half_range(quotient) << plan.prime_bits
