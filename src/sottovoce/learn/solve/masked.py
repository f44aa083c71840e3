"""The exact masked solve: shares of y = adj(A) b in one round trip, to the last bit.

Extends the masking of Giacomelli, Jha, Joye, Page and Yoon (ACNS 2018) so that theta stays hidden
from both. For each public random prime p the coordinator C draws R uniform in GL(d, p) and r
uniform; the key holder K sees M = A R and c = b + A r modulo p, both uniform whatever A and b are.
K's w = M^-1 c satisfies A (R w - r) = b, and det(M) = det(A) det(R), so that
y = det(A) theta = det(M) (e R w - e r) with e = det(R)^-1. K works that product out under C's key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sottovoce.errors import DamagedMessageError, InputError, SingularSystemError
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
from sottovoce.learn.solve.field import (
    Matrix,
    Objects,
    Vector,
    as_array,
    is_public_prime,
    mask_half_range,
    mixed_rows,
    multiple_masks,
    random_invertible,
    random_public_prime,
    random_vector,
    solve_system,
)
from sottovoce.learn.solve.plan import WEIGHT_PARTS, Share, SolvePlan, join_residues
from sottovoce.learn.wire.message import Leakage, Learns, Message
from sottovoce.learn.wire.stages import Hear, PairScript, Say

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

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


@dataclass(frozen=True)
class PrimeMask:
    """C's secrets for one prime; never printed."""

    prime: int
    matrix: Matrix = field(repr=False)
    vector: Vector = field(repr=False)
    factor: int = field(repr=False)

    @classmethod
    def draw(cls, plan: SolvePlan, known: Sequence[int]) -> "PrimeMask":
        """A prime that is not among the ``known`` ones, R and r for it, and e = det(R)^-1."""
        while (prime := random_public_prime(plan.prime_bits)) in known:
            pass
        matrix, determinant = random_invertible(plan.size, prime)
        factor = pow(int(determinant), -1, prime)
        return cls(prime, matrix, random_vector(plan.size, prime), factor)

    @property
    def exponents(self) -> Matrix:
        """The rows of R' and r: combining A's rows by them gives (A R)' and (A r)'."""
        return [[*column] for column in zip(*self.matrix, strict=True)] + [self.vector]

    def columns(self, *, determinant: bool) -> Matrix:
        """The columns of [eR | -er], and of [0 | e] below it for the determinant."""
        e, p = self.factor, self.prime
        scaled = [[e * entry % p for entry in column] for column in self.exponents]
        scaled[-1] = [-entry % p for entry in scaled[-1]]
        if not determinant:
            return scaled
        return [[*column, 0] for column in scaled[:-1]] + [[*scaled[-1], e]]


def weights_of(system: Objects, prime: int) -> Vector | None:
    """(det(M) w, det(M)) of an opened system, w = M^-1 c; None if the prime divides det(A)."""
    *transposed, right = [[int(entry) % prime for entry in row] for row in system]
    matrix = [[*row] for row in zip(*transposed, strict=True)]
    solution, determinant = solve_system(matrix, right, prime)
    if determinant == 0:
        return None
    return [determinant * entry % prime for entry in solution] + [determinant]


def weight_parts(weights: Vector, plan: SolvePlan) -> Matrix:
    """Each weight cut into parts of ``plan.part_bits`` bits, lowest first."""
    low = (1 << plan.part_bits) - 1
    return [
        [int(weight) >> (part * plan.part_bits) & low for weight in weights]
        for part in range(WEIGHT_PARTS)
    ]


def joined_parts(parts: Objects, plan: SolvePlan, prime: int) -> list[int]:
    """What products with `weight_parts` come to together, modulo the prime."""
    return [
        sum(int(each) << (at * plan.part_bits) for at, each in enumerate(column)) % prime
        for column in zip(*parts.tolist(), strict=True)
    ]


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
    if any(array.plan != plan.slots for array in (matrix, vector)):
        raise InputError("the system must be encrypted in the slots of the solve's plan.")


def check_key(plan: SolvePlan, public: PublicKey) -> None:
    if public.bits != plan.key_bits:
        raise InputError(f"the solve is planned for keys of {plan.key_bits} bits.")


class MaskedSystem(NamedTuple):
    """A masked system as it came, checked."""

    primes: tuple[int, ...]
    masked: EncryptedArray
    columns: EncryptedArray


def read_masked(
    message: Message, plan: SolvePlan, own: PublicKey, asked: int, tried: set[int]
) -> MaskedSystem:
    """A masked system for so many primes, none of which was ``tried`` before."""
    primes = message.item("primes", tuple)
    if len(set(primes)) != len(primes) or not all(
        isinstance(prime, int) and is_public_prime(prime, plan.prime_bits) for prime in primes
    ):
        raise DamagedMessageError(f"a masked system needs primes of {plan.prime_bits} bits.")
    other = public_key_from_text(message.item("key", str), needs_proof=True)
    check_key(plan, other)
    if other == own:
        raise InputError("coordinator and key holder must have keys of their own.")
    masked = array_from_bytes(message.item("masked", bytes), own, plan=plan.slots)
    columns = array_from_bytes(message.item("columns", bytes), other, plan=plan.answer_slots)
    rows = (len(primes), plan.size + 1)
    if masked.shape != (*rows, plan.size) or columns.shape != (*rows, plan.outputs):
        raise InputError("a masked system must have the shapes of its plan.")
    if len(primes) != asked:
        raise DamagedMessageError("a masked system must come for every open prime.")
    if tried & set(primes):
        raise DamagedMessageError("a masked system must come with primes of its own.")
    return MaskedSystem(primes, masked, columns)


def read_answer(
    message: Message, plan: SolvePlan, asked: int, own: PublicKey
) -> tuple[list[bool], EncryptedArray | None]:
    """For each prime whether it was solved, and the answers for those that were."""
    fine = message.array("solved", "|b1")
    if fine.size != asked:
        raise DamagedMessageError("an answer must say of every prime whether it was solved.")
    if not fine.any():
        return fine.tolist(), None
    array = array_from_bytes(message.item("answers", bytes), own, plan=plan.answer_slots)
    if array.shape != (int(fine.sum()), WEIGHT_PARTS, plan.outputs):
        raise InputError("an answer must have the shape of its plan.")
    return fine.tolist(), array


def ask_masked(
    plan: SolvePlan, key: PrivateKey, matrix: EncryptedArray, vector: EncryptedArray
) -> PairScript[Share]:
    """C: masks Enc_K(A) and Enc_K(b), again where a prime divides det(A), for a share of y."""
    check_inputs(plan, key, matrix, vector)
    residues: dict[int, list[int]] = {}
    tried: list[int] = []
    missing = plan.primes
    redraws = 0
    while True:
        masks = draw_masks(plan, missing, tried)
        yield Say(
            "masked",
            {
                "key": proven_key_to_text(key),
                "primes": tuple(mask.prime for mask in masks),
                "masked": array_to_bytes(mask_system(plan, matrix, vector, masks)),
                "columns": array_to_bytes(encrypt_columns(plan, key, masks)),
            },
        )
        read = partial(read_answer, plan=plan, asked=missing, own=key.public)
        fine, array = yield Hear("answer", read)
        if array is not None:
            good = [mask.prime for mask, solved in zip(masks, fine, strict=True) if solved]
            for prime, answer in zip(good, decrypt_integers(array, key), strict=True):
                residues[prime] = joined_parts(answer, plan, prime)
        missing = plan.primes - len(residues)
        if not missing:
            return share_of(residues, determinant=plan.determinant)
        check_retries(redraws, missing, plan)
        redraws += 1


def answer_masked(plan: SolvePlan, key: PrivateKey) -> PairScript[Share]:
    """K: opens uniform systems, solves them under C's key, and ends with a share of y."""
    check_key(plan, key.public)
    residues: dict[int, list[int]] = {}
    tried: set[int] = set()
    redraws = 0
    while missing := plan.primes - len(residues):
        read = partial(read_masked, plan=plan, own=key.public, asked=missing, tried=tried)
        asked: MaskedSystem = yield Hear("masked", read)
        tried |= set(asked.primes)
        opened = decrypt_integers(asked.masked, key)
        solved = np.zeros(missing, bool)
        answers = []
        for at, (system, prime) in enumerate(zip(opened, asked.primes, strict=True)):
            weights = weights_of(system, prime)
            if weights is not None:
                solved[at] = True
                answer, residues[prime] = answer_prime(plan, asked.columns[at], weights, prime)
                answers.append(answer)
        payload: dict[str, Value] = {"solved": solved}
        if answers:
            grid = np.stack([answer.ciphertexts for answer in answers])
            array = as_array(answers[0], grid, plan.answer_slots, answers[0].bound)
            # In full: it goes back to the owner of the key, who may have chosen its primes.
            payload["answers"] = array_to_bytes(array.blind(full=True))
        if not solved.all():
            check_retries(redraws, int((~solved).sum()), plan)
            redraws += 1
        yield Say("answer", payload)
    return share_of(residues, determinant=plan.determinant)


def draw_masks(plan: SolvePlan, count: int, tried: list[int]) -> list[PrimeMask]:
    """Masks for so many primes, each of which is noted among the ``tried`` ones."""
    masks = []
    for _ in range(count):
        masks.append(PrimeMask.draw(plan, tried))
        tried.append(masks[-1].prime)
    return masks


def mask_system(
    plan: SolvePlan, matrix: EncryptedArray, vector: EncryptedArray, masks: Sequence[PrimeMask]
) -> EncryptedArray:
    """Enc_K of (A R)' and b + A r for each prime, plus multiples of the prime."""
    rows = [row for mask in masks for row in mask.exponents]
    grid = mixed_rows(matrix, rows, plan.prime_bits).reshape(len(masks), plan.size + 1, -1)
    for at in range(len(masks)):
        grid[at, -1] = grid[at, -1] * vector.ciphertexts % vector.public.n_squared
    system = as_array(vector, grid, plan.slots, plan.quotient << plan.prime_bits)
    multiples = [
        multiple_masks((plan.size + 1, plan.size), mask.prime, plan.quotient) for mask in masks
    ]
    return system.plus_integers(np.stack(multiples), bound=_mask_bound(plan, plan.quotient))


def encrypt_columns(plan: SolvePlan, key: PrivateKey, masks: Sequence[PrimeMask]) -> EncryptedArray:
    """Enc_C([eR | -er]) for each prime."""
    columns = [mask.columns(determinant=plan.determinant) for mask in masks]
    flat = [entry for matrix in columns for column in matrix for entry in column]
    array = as_grid(flat, (len(masks), plan.size + 1, plan.outputs))
    return encrypt_integers(array, plan.answer_slots, key)


def answer_prime(
    plan: SolvePlan, columns: EncryptedArray, weights: Vector, prime: int
) -> tuple[EncryptedArray, list[int]]:
    """Enc_C of y's parts, each plus a uniform residue and multiple of the prime; K's share of y."""
    shape = (WEIGHT_PARTS, plan.outputs)
    mixed = mixed_rows(columns, weight_parts(weights, plan), plan.part_bits)
    bound = plan.answer_quotient << plan.prime_bits
    product = as_array(columns, mixed, plan.answer_slots, bound)
    residues = as_grid(random_vector(shape[0] * shape[1], prime), shape)
    masks = multiple_masks(shape, prime, plan.answer_quotient) + residues
    largest = _mask_bound(plan, plan.answer_quotient) + (1 << plan.prime_bits)
    share = [-each % prime for each in joined_parts(residues, plan, prime)]
    return product.plus_integers(masks, bound=largest), share


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
