"""Coordinator and key holder of a solve with a dealer, whom `dealer` describes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sottovoce.errors import (
    DamagedMessageError,
    InputError,
    SingularSystemError,
    UnexpectedMessageError,
)
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import mask_bound
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes, decrypt_integers
from sottovoce.learn.solve.dealer import (
    DEALT,
    MASKED,
    MIXED,
    REDUCED,
    SOLUTION,
    DealtPlan,
    DealtTerms,
    final_matrix,
    flat_residues,
)
from sottovoce.learn.solve.field import (
    Matrix,
    Vector,
    added,
    is_public_prime,
    product,
    solved,
    subtracted,
)
from sottovoce.learn.solve.plan import Share, residues_from_bytes
from sottovoce.learn.wire.message import Inbox, Message
from sottovoce.privacy.randomness import random_below

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value


class _DealtTo:
    """What both parties have in common: the dealer speaks first, then they answer each other."""

    def __init__(self, terms: DealtTerms, name: str, other: str) -> None:
        self.name = name
        self.share: Share | None = None
        self._terms, self._other = terms, other
        self._dealt: _Dealt | None = None
        self._inbox = Inbox(terms.session, name)

    @property
    def finished(self) -> bool:
        """Whether the share is known."""
        return self.share is not None

    def start(self) -> list[Message]:
        """Wait for the dealer."""
        self._inbox.expect(DEALT, "dealt", [self._terms.dealer])
        return []

    def time_out(self) -> list[Message]:
        """Nobody can be done without."""
        return []

    def _said(self, step: int, kind: str, data: bytes) -> Message:
        payload: dict[str, Value] = {"data": data}
        return Message(self._terms.session, self.name, self._other, step, kind, payload)


class DealtCoordinator(_DealtTo):
    """C: holds the encrypted triangle of A and b, and ends with a share of y."""

    def __init__(self, terms: DealtTerms, numbers: EncryptedArray) -> None:
        plan = terms.plan
        if numbers.shape != (plan.numbers,) or numbers.plan != plan.sent:
            raise InputError(
                f"a solve of {plan.size} unknowns needs {plan.numbers} numbers, encrypted in the "
                "slots of its plan."
            )
        super().__init__(terms, terms.coordinator, terms.key_holder)
        self._numbers = numbers
        self._masks: list[int] = []

    def receive(self, message: Message) -> list[Message]:
        """Mask, mix, or note the share."""
        if message.kind == "dealt":
            return self._note_dealt(message)
        own = _awaited(self._dealt, self._inbox, message)
        if message.kind == "reduced":
            return self._mix(message, own)
        return self._end(message, own)

    def _note_dealt(self, message: Message) -> list[Message]:
        plan = self._terms.plan
        d = plan.size
        found = _read_dealt(
            message,
            plan,
            {"mixing": (d, d + 1), "factor": (1, 1), "product": (d, d + 1)}
            | {"final": (plan.outputs, 1)},
        )
        self._inbox.take(message)
        self._dealt = found
        self._inbox.expect(REDUCED, "reduced", [self._terms.key_holder])
        half = mask_bound(plan.largest) // 2
        self._masks = [random_below(2 * half) - half for _ in range(plan.numbers)]
        masked = self._numbers.plus_integers(
            as_grid(self._masks, (plan.numbers,)), bound=mask_bound(plan.largest)
        )
        return [self._said(MASKED, "masked", array_to_bytes(masked))]

    def _mix(self, message: Message, own: "_Dealt") -> list[Message]:
        """(A + S - U - S)[R | r] + Z_C - [0 | s]: A [R | r] for who knows Z_K and b + s."""
        plan, prime = self._terms.plan, own.prime
        reduced = _read_matrix(message, (plan.size, plan.size), prime)
        self._inbox.take(message)
        masks, right = _unfolded(self._masks, plan.size)
        known = subtracted(reduced, masks, prime)
        mixed = added(product(known, own.parts["mixing"], prime), own.parts["product"], prime)
        for row, mask in zip(mixed, right, strict=True):
            row[-1] = (row[-1] - mask) % prime
        self._inbox.expect(SOLUTION, "solution", [self._terms.key_holder])
        return [self._said(MIXED, "mixed", flat_residues(mixed, prime))]

    def _end(self, message: Message, own: "_Dealt") -> list[Message]:
        """N (v - t) + z_C: a share of N v."""
        plan, prime = self._terms.plan, own.prime
        solution = _read_matrix(message, (plan.size + 1, 1), prime)
        self._inbox.take(message)
        self._inbox.close()
        mixing, factor = own.parts["mixing"], own.parts["factor"][0][0]
        final = final_matrix(mixing, factor, prime, plan)
        share = added(product(final, solution, prime), own.parts["final"], prime)
        self.share = _share(share, own.prime, plan)
        self._dealt, self._masks = None, []
        return []


class DealtKeyHolder(_DealtTo):
    """K: opens masked numbers, solves a uniform system, and ends with a share of y."""

    def __init__(self, terms: DealtTerms, key: PrivateKey) -> None:
        if key.public.bits != terms.plan.key_bits:
            raise InputError(f"the solve is planned for a key of {terms.plan.key_bits} bits.")
        super().__init__(terms, terms.key_holder, terms.coordinator)
        self._key = key
        self._right: Vector = []

    def receive(self, message: Message) -> list[Message]:
        """Open, then solve."""
        if message.kind == "dealt":
            return self._note_dealt(message)
        own = _awaited(self._dealt, self._inbox, message)
        if message.kind == "masked":
            return self._reduce(message, own)
        return self._solve(message, own)

    def _note_dealt(self, message: Message) -> list[Message]:
        plan = self._terms.plan
        d = plan.size
        shapes = {"left": (d, d), "product": (d, d + 1)}
        shapes |= {"vector": (d + 1, 1), "final": (plan.outputs, 1)}
        found = _read_dealt(message, plan, shapes)
        self._inbox.take(message)
        self._dealt = found
        self._inbox.expect(MASKED, "masked", [self._terms.coordinator])
        return []

    def _reduce(self, message: Message, own: "_Dealt") -> list[Message]:
        """Open A + S and b + s; say A + S - U."""
        plan = self._terms.plan
        array = array_from_bytes(message.item("data", bytes), self._key.public, plan=plan.sent)
        if array.shape != (plan.numbers,):
            raise InputError(f"{plan.numbers} masked numbers must come, got {array.shape}.")
        self._inbox.take(message)
        opened = decrypt_integers(array, self._key)
        matrix, self._right = _unfolded([int(each) for each in opened], plan.size)
        reduced = subtracted(matrix, own.parts["left"], own.prime)
        self._inbox.expect(MIXED, "mixed", [self._terms.coordinator])
        return [self._said(REDUCED, "reduced", flat_residues(reduced, own.prime))]

    def _solve(self, message: Message, own: "_Dealt") -> list[Message]:
        """M and c of the masked solve, their solution v = (det(M) w, det(M)); say v - t."""
        plan, prime = self._terms.plan, own.prime
        mixed = _read_matrix(message, (plan.size, plan.size + 1), prime)
        self._inbox.take(message)
        system = added(mixed, own.parts["product"], prime)
        right = [(row[-1] + extra) % prime for row, extra in zip(system, self._right, strict=True)]
        solution, determinant = solved([row[:-1] for row in system], right, prime)
        if determinant == 0:
            raise SingularSystemError(
                "the system is singular modulo a large random prime: it must be positive "
                "definite; raise the penalty."
            )
        self._inbox.close()
        weights = [[determinant * entry % prime] for entry in solution] + [[determinant]]
        self.share = _share(own.parts["final"], prime, plan)
        said = subtracted(weights, own.parts["vector"], prime)
        self._dealt, self._right = None, []
        return [self._said(SOLUTION, "solution", flat_residues(said, prime))]


@dataclass(frozen=True)
class _Dealt:
    """What the dealer dealt to one party; never printed."""

    prime: int
    parts: dict[str, Matrix] = field(repr=False)


def _awaited(own: _Dealt | None, inbox: Inbox, message: Message) -> _Dealt:
    """What the dealer dealt; before it spoke and after the end the inbox refuses every other."""
    if own is None:
        inbox.take(message)
        raise UnexpectedMessageError(f"the dealer must speak first, got {message.kind}.")
    return own


def _read_dealt(message: Message, plan: DealtPlan, shapes: dict[str, tuple[int, int]]) -> _Dealt:
    prime = message.item("prime", int)
    if not is_public_prime(prime, plan.prime_bits):
        raise DamagedMessageError(f"the dealer must deal a prime of {plan.prime_bits} bits.")
    return _Dealt(
        prime, {name: _read_matrix(message, shapes[name], prime, name) for name in shapes}
    )


def _read_matrix(
    message: Message, shape: tuple[int, int], prime: int, name: str = "data"
) -> Matrix:
    rows, columns = shape
    flat = residues_from_bytes(message.item(name, bytes), rows * columns, prime)
    return [flat[at : at + columns] for at in range(0, len(flat), columns)]


def _unfolded(numbers: Sequence[int], size: int) -> tuple[Matrix, Vector]:
    """The symmetric matrix and the vector that `triangle` laid out."""
    upper, vector = numbers[:-size], numbers[-size:]
    matrix = np.zeros((size, size), dtype=object)
    matrix[np.triu_indices(size)] = upper
    matrix.T[np.triu_indices(size)] = upper
    return matrix.tolist(), list(vector)


def _share(column: Matrix, prime: int, plan: DealtPlan) -> Share:
    return Share(int(prime), tuple(int(row[0]) for row in column), plan.determinant)
