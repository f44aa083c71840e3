"""The dealer variant of the masked solve: one peer deals the randomness, nobody multiplies powers.

The dealer knows R, r and U, and sees nothing of A and b. Coordinator C opens A + S and b + s to
the key holder K under masks of its own; then both products of the masked solve are done with
Beaver's triples, dealt in advance: K's A + S times C's [R | r], and C's [eR | -er] times K's
solution. Everything but one masked opening is matrix arithmetic modulo one prime.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier import (
    EncryptedArray,
    PrivateKey,
    Program,
    SlotPlan,
    array_from_bytes,
    array_to_bytes,
    decrypt_integers,
    mask_bound,
    plan_slots,
)
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.plan import Stage
from sottovoce.learn.party import (
    DamagedMessageError,
    Inbox,
    Leakage,
    Learns,
    Message,
    UnexpectedMessageError,
    Value,
)
from sottovoce.learn.randomness import random_below
from sottovoce.learn.solve.field import (
    Matrix,
    Vector,
    added,
    is_public_prime,
    product,
    random_invertible,
    random_matrix,
    random_public_prime,
    random_vector,
    solved,
    subtracted,
)
from sottovoce.learn.solve.plan import needed_bits
from sottovoce.learn.solve.refusals import SingularSystemError
from sottovoce.learn.solve.shares import Share, residues_from_bytes, residues_to_bytes
from sottovoce.learn.solve.system import IntegerSystem, PublicBounds

LEAKAGE = Leakage(
    "exact masked solve with a dealer",
    (
        Learns("dealer", "nothing but that a solve runs, and its size"),
        Learns("coordinator", "ciphertexts, uniform residues, and a uniform share of y"),
        Learns(
            "key holder",
            "A and b under statistical masks, a uniform matrix and vector, a uniform share of y",
        ),
    ),
    collusion=(
        "the dealer with the key holder learns A, b and theta; with the coordinator it learns "
        "them too; coordinator and key holder together likewise: no two of the three may collude"
    ),
    assumes=(
        "honest but curious parties, authenticated private channels, Paillier's assumption, and "
        "masks that hide each number but for a chance of 2^-64"
    ),
)

DEALT, MASKED, REDUCED, MIXED, SOLUTION = range(1, 6)


@dataclass(frozen=True)
class DealtPlan:
    """What is agreed on before a solve with a dealer.

    Attributes:
        bounds: what is public of the system.
        key_bits: the length of the key holder's key.
        prime_bits: the length of the one prime.
        determinant: whether shares of det(A) are made too.
    """

    bounds: PublicBounds
    key_bits: int
    prime_bits: int
    determinant: bool = False

    @property
    def size(self) -> int:
        """The number of unknowns, d."""
        return self.bounds.size

    @property
    def outputs(self) -> int:
        """How many numbers are shared in the end."""
        return self.size + self.determinant

    @property
    def numbers(self) -> int:
        """How many numbers A's upper triangle and b have."""
        return self.size * (self.size + 1) // 2 + self.size

    @property
    def largest(self) -> int:
        """The largest size of a number of A and b."""
        return max(self.bounds.entry, self.bounds.right)

    @property
    def sent(self) -> SlotPlan:
        """The slots of the encrypted triangle of A and b."""
        first = self.largest
        stages = (Stage(first, 0), Stage(first + mask_bound(first), 0))
        return plan_slots(Program(stages), key_bits=self.key_bits)


def plan_dealt(
    bounds: PublicBounds,
    *,
    key_bits: int,
    score: int = 1 << 22,
    slack_bits: int = 64,
    determinant: bool = False,
) -> DealtPlan:
    """A prime that holds y'x for all ||x||_1 <= ``score``, with room to cut shares."""
    bits = needed_bits(bounds, score=score, slack_bits=slack_bits, determinant=determinant)
    return DealtPlan(bounds, key_bits, bits + 1, determinant)


@dataclass(frozen=True)
class DealtTerms:
    """Who takes part in a solve with a dealer."""

    session: bytes
    dealer: str
    coordinator: str
    key_holder: str
    plan: DealtPlan

    def __post_init__(self) -> None:
        if len({self.dealer, self.coordinator, self.key_holder}) != 3:  # noqa: PLR2004 - all three
            raise ParameterError(
                "the dealer, the coordinator and the key holder must be three parties: any two of "
                "them together read the system."
            )


def triangle(system: IntegerSystem) -> list[int]:
    """A's upper triangle row by row, then b: what peers encrypt for this solve."""
    upper = [entry for at, row in enumerate(system.matrix) for entry in row[at:]]
    return [*upper, *system.vector]


class SolveDealer:
    """Deals R, r and the triples, and hears nothing."""

    def __init__(self, terms: DealtTerms) -> None:
        self.name = terms.dealer
        self.finished = False
        self._terms = terms

    def start(self) -> list[Message]:
        """Deal to both."""
        plan = self._terms.plan
        prime = random_public_prime(plan.prime_bits)
        to_coordinator, to_holder = dealt(plan, prime)
        self.finished = True
        return [
            self._message(self._terms.coordinator, prime, to_coordinator),
            self._message(self._terms.key_holder, prime, to_holder),
        ]

    def receive(self, message: Message) -> list[Message]:
        """Nobody talks to the dealer: refuses by name."""
        Inbox(self._terms.session, self.name).take(message)
        return []

    def time_out(self) -> list[Message]:
        """Nothing to wait for."""
        return []

    def _message(self, receiver: str, prime: int, parts: dict[str, Matrix]) -> Message:
        payload: dict[str, Value] = {name: _flat(part, prime) for name, part in parts.items()}
        payload["prime"] = prime
        return Message(self._terms.session, self.name, receiver, DEALT, "dealt", payload)


def dealt(plan: DealtPlan, prime: int) -> tuple[dict[str, Matrix], dict[str, Matrix]]:
    """What the coordinator and the key holder are dealt.

    U [R | r] = Z_C + Z_K and N t = z_C + z_K, where N = [eR | -er] and e = det(R)^-1, U, t and
    one summand of each product uniform.
    """
    d = plan.size
    matrix, determinant = random_invertible(d, prime)
    mixing = [[*row, extra] for row, extra in zip(matrix, random_vector(d, prime), strict=True)]
    factor = pow(int(determinant), -1, prime)
    left, held = random_matrix(d, d, prime), random_matrix(d, d + 1, prime)
    vector, share = random_matrix(d + 1, 1, prime), random_matrix(plan.outputs, 1, prime)
    final = product(final_matrix(mixing, factor, prime, plan), vector, prime)
    to_coordinator = {
        "mixing": mixing,
        "factor": [[factor]],
        "product": subtracted(product(left, mixing, prime), held, prime),
        "final": subtracted(final, share, prime),
    }
    return to_coordinator, {"left": left, "product": held, "vector": vector, "final": share}


def final_matrix(mixing: Matrix, factor: int, prime: int, plan: DealtPlan) -> Matrix:
    """[eR | -er] from [R | r], and [0 | e] below it for the determinant."""
    rows = [
        [factor * entry % prime for entry in row[:-1]] + [-factor * row[-1] % prime]
        for row in mixing
    ]
    return [*rows, [0] * plan.size + [factor]] if plan.determinant else rows


class DealtCoordinator:
    """C: holds the encrypted triangle of A and b, and ends with a share of y."""

    def __init__(self, terms: DealtTerms, numbers: EncryptedArray) -> None:
        plan = terms.plan
        if numbers.shape != (plan.numbers,) or numbers.plan != plan.sent:
            raise InputError(
                f"a solve of {plan.size} unknowns needs {plan.numbers} numbers, encrypted in the "
                "slots of its plan."
            )
        self.name = terms.coordinator
        self.share: Share | None = None
        self._terms, self._numbers = terms, numbers
        self._dealt: _Dealt | None = None
        self._masks: list[int] = []
        self._inbox = Inbox(terms.session, self.name)

    @property
    def finished(self) -> bool:
        """Whether the share is known."""
        return self.share is not None

    def start(self) -> list[Message]:
        """Wait for the dealer."""
        self._inbox.expect(DEALT, "dealt", [self._terms.dealer])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Mask, mix, or note the share."""
        if message.kind == "dealt":
            return self._note_dealt(message)
        own = _awaited(self._dealt, self._inbox, message)
        if message.kind == "reduced":
            return self._mix(message, own)
        return self._end(message, own)

    def time_out(self) -> list[Message]:
        """Nobody can be done without."""
        return []

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
        return [self._said(MIXED, "mixed", _flat(mixed, prime))]

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

    def _said(self, step: int, kind: str, data: bytes) -> Message:
        receiver = self._terms.key_holder
        return Message(self._terms.session, self.name, receiver, step, kind, {"data": data})


class DealtKeyHolder:
    """K: opens masked numbers, solves a uniform system, and ends with a share of y."""

    def __init__(self, terms: DealtTerms, key: PrivateKey) -> None:
        if key.public.bits != terms.plan.key_bits:
            raise InputError(f"the solve is planned for a key of {terms.plan.key_bits} bits.")
        self.name = terms.key_holder
        self.share: Share | None = None
        self._terms, self._key = terms, key
        self._dealt: _Dealt | None = None
        self._right: Vector = []
        self._inbox = Inbox(terms.session, self.name)

    @property
    def finished(self) -> bool:
        """Whether the share is known."""
        return self.share is not None

    def start(self) -> list[Message]:
        """Wait for the dealer."""
        self._inbox.expect(DEALT, "dealt", [self._terms.dealer])
        return []

    def receive(self, message: Message) -> list[Message]:
        """Open, then solve."""
        if message.kind == "dealt":
            return self._note_dealt(message)
        own = _awaited(self._dealt, self._inbox, message)
        if message.kind == "masked":
            return self._reduce(message, own)
        return self._solve(message, own)

    def time_out(self) -> list[Message]:
        """Nobody can be done without."""
        return []

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
        return [self._said(REDUCED, "reduced", _flat(reduced, own.prime))]

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
        return [self._said(SOLUTION, "solution", _flat(said, prime))]

    def _said(self, step: int, kind: str, data: bytes) -> Message:
        receiver = self._terms.coordinator
        return Message(self._terms.session, self.name, receiver, step, kind, {"data": data})


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


def _flat(matrix: Matrix, prime: int) -> bytes:
    return residues_to_bytes([entry for row in matrix for entry in row], prime)


def _unfolded(numbers: Sequence[int], size: int) -> tuple[Matrix, Vector]:
    """The symmetric matrix and the vector that `triangle` laid out."""
    upper, vector = numbers[:-size], numbers[-size:]
    matrix = np.zeros((size, size), dtype=object)
    matrix[np.triu_indices(size)] = upper
    matrix.T[np.triu_indices(size)] = upper
    return matrix.tolist(), list(vector)


def _share(column: Matrix, prime: int, plan: DealtPlan) -> Share:
    return Share(int(prime), tuple(int(row[0]) for row in column), plan.determinant)
