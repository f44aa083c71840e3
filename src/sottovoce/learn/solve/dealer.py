"""The dealer variant of the masked solve: one peer deals the randomness, nobody multiplies powers.

The dealer knows R, r and U, and sees nothing of A and b. Coordinator C opens A + S and b + s to
the key holder K under masks of its own; then both products of the masked solve are done with
Beaver's triples, dealt in advance: K's A + S times C's [R | r], and C's [eR | -er] times K's
solution. Everything but one masked opening is matrix arithmetic modulo one prime.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sottovoce.errors import ParameterError
from sottovoce.learn.paillier.slots import (
    SLACK_BITS,
    Program,
    SlotPlan,
    SlotStage,
    mask_bound,
    plan_slots,
)
from sottovoce.learn.solve.field import (
    Matrix,
    product,
    random_invertible,
    random_matrix,
    random_public_prime,
    random_vector,
    subtracted,
)
from sottovoce.learn.solve.plan import (
    check_prime_bits,
    fewest_prime_bits,
    needed_bits,
    residues_to_bytes,
)
from sottovoce.learn.solve.system import IntegerSystem, PublicBounds
from sottovoce.learn.wire.machine import Leakage, Learns
from sottovoce.learn.wire.message import Inbox, Message

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

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

    def __post_init__(self) -> None:
        check_prime_bits(self.prime_bits, self.key_bits)

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
        stages = (SlotStage(first, 0), SlotStage(first + mask_bound(first), 0))
        return plan_slots(Program(stages), key_bits=self.key_bits)


def plan_dealt(
    bounds: PublicBounds,
    *,
    key_bits: int,
    score: int = 1 << 22,
    slack_bits: int = SLACK_BITS,
    determinant: bool = False,
) -> DealtPlan:
    """A prime that holds y'x for all ||x||_1 <= ``score``, with room to cut shares."""
    bits = needed_bits(bounds, score=score, slack_bits=slack_bits, determinant=determinant)
    prime_bits = max(bits + 1, fewest_prime_bits(key_bits))
    return DealtPlan(bounds, key_bits, prime_bits, determinant)


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
        payload: dict[str, Value] = {
            name: flat_residues(part, prime) for name, part in parts.items()
        }
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


def flat_residues(matrix: Matrix, prime: int) -> bytes:
    """A matrix as it travels, row by row."""
    return residues_to_bytes([entry for row in matrix for entry in row], prime)
