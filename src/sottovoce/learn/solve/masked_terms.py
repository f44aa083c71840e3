"""What the parties of a masked solve agree on, and what each checks of the other's messages."""

from dataclasses import dataclass

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    PublicKey,
    array_from_bytes,
    public_key_from_text,
)
from sottovoce.learn.party import DamagedMessageError, Message
from sottovoce.learn.solve.field import is_public_prime
from sottovoce.learn.solve.plan import WEIGHT_PARTS, SolvePlan


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
    if any(array.plan != plan.sent for array in (matrix, vector)):
        raise InputError("the system must be encrypted in the slots of the solve's plan.")


def check_key(plan: SolvePlan, public: PublicKey) -> None:
    if public.bits != plan.key_bits:
        raise InputError(f"the solve is planned for keys of {plan.key_bits} bits.")


@dataclass(frozen=True)
class Asked:
    """A masked system as it came, checked."""

    primes: tuple[int, ...]
    masked: EncryptedArray
    columns: EncryptedArray


def read_masked(message: Message, plan: SolvePlan, own: PublicKey) -> Asked:
    primes = message.item("primes", tuple)
    if len(set(primes)) != len(primes) or not all(
        isinstance(prime, int) and is_public_prime(prime, plan.prime_bits) for prime in primes
    ):
        raise DamagedMessageError(f"a masked system needs primes of {plan.prime_bits} bits.")
    other = public_key_from_text(message.item("key", str))
    check_key(plan, other)
    if other == own:
        raise InputError("coordinator and key holder must have keys of their own.")
    masked = array_from_bytes(message.item("masked", bytes), own, plan=plan.sent)
    columns = array_from_bytes(message.item("columns", bytes), other, plan=plan.returned)
    rows = (len(primes), plan.size + 1)
    if masked.shape != (*rows, plan.size) or columns.shape != (*rows, plan.outputs):
        raise InputError("a masked system must have the shapes of its plan.")
    return Asked(primes, masked, columns)


def read_answer(
    message: Message, plan: SolvePlan, asked: int, own: PublicKey
) -> tuple[list[bool], EncryptedArray | None]:
    fine = message.array("solved", "|b1")
    if fine.size != asked:
        raise DamagedMessageError("an answer must say of every prime whether it was solved.")
    if not fine.any():
        return fine.tolist(), None
    array = array_from_bytes(message.item("answers", bytes), own, plan=plan.returned)
    if array.shape != (int(fine.sum()), WEIGHT_PARTS, plan.outputs):
        raise InputError("an answer must have the shape of its plan.")
    return fine.tolist(), array
