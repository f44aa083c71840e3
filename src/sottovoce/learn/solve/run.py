"""Whole hidden solves in one process: for studies, benches and to see how they behave."""

from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from sottovoce.errors import StalledError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey, generate_key
from sottovoce.learn.paillier.slots import SlotPlan
from sottovoce.learn.paillier.wire import encrypt_integers
from sottovoce.learn.solve.chebyshev import (
    ChebyshevCoordinator,
    ChebyshevKeyHolder,
    ChebyshevPlan,
    ChebyshevTerms,
)
from sottovoce.learn.solve.masked import SolveCoordinator, SolveKeyHolder, SolveTerms
from sottovoce.learn.solve.plan import Share, SolvePlan
from sottovoce.learn.solve.system import IntegerSystem
from sottovoce.learn.wire.exchange import Exchange, Traffic
from sottovoce.learn.wire.message import Party, new_session

Keys: TypeAlias = tuple[PrivateKey, PrivateKey]


class ShareHolder(Party, Protocol):
    """A party that ends with a share."""

    share: Share | None


@dataclass(frozen=True)
class HiddenSolution:
    """Two shares, and what they cost on the wire."""

    coordinator: Share
    key_holder: Share
    traffic: Traffic


@dataclass(frozen=True)
class ReadySolve:
    """Parties that hold their inputs and have said nothing yet."""

    coordinator: ShareHolder
    key_holder: ShareHolder

    def run(self) -> HiddenSolution:
        """Run the protocol to its end."""
        traffic = Exchange([self.coordinator, self.key_holder]).run()
        shares = self.coordinator.share, self.key_holder.share
        if shares[0] is None or shares[1] is None:
            raise StalledError("a solve ended without a share.")
        return HiddenSolution(shares[0], shares[1], traffic)


def encrypted_system(
    system: IntegerSystem, plan: SlotPlan, public: PublicKey
) -> tuple[EncryptedArray, EncryptedArray]:
    """Enc(A), row by row in slots, and Enc(b)."""
    matrix = np.array(system.matrix, dtype=object)
    vector = np.array(system.vector, dtype=object)
    return encrypt_integers(matrix, plan, public), encrypt_integers(vector, plan, public)


def ready_masked(system: IntegerSystem, plan: SolvePlan, keys: Keys | None = None) -> ReadySolve:
    """The masked solve of a system; ``keys`` are the coordinator's and the key holder's."""
    own, held = keys or (generate_key(plan.key_bits), generate_key(plan.key_bits))
    terms = SolveTerms(new_session(), "coordinator", "key holder", plan)
    numbers = encrypted_system(system, plan.sent_slots, held.public)
    return ReadySolve(SolveCoordinator(terms, own, *numbers), SolveKeyHolder(terms, held))


def ready_chebyshev(
    system: IntegerSystem, plan: ChebyshevPlan, keys: Keys | None = None
) -> ReadySolve:
    """The iteration on a system; ``keys`` are the coordinator's and the key holder's."""
    own, held = keys or (generate_key(plan.key_bits), generate_key(plan.key_bits))
    terms = ChebyshevTerms(new_session(), "coordinator", "key holder", plan)
    numbers = encrypted_system(system, plan.slots, held.public)
    return ReadySolve(ChebyshevCoordinator(terms, own, *numbers), ChebyshevKeyHolder(terms, held))
