"""Whole hidden solves in one process: for studies, benches and to see how they behave."""

from dataclasses import dataclass

import numpy as np

from sottovoce.learn.paillier import PrivateKey, SlotPlan, encrypt_integers, generate_key
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PublicKey
from sottovoce.learn.party import Exchange, Traffic, new_session
from sottovoce.learn.solve.masked import SolveCoordinator, SolveKeyHolder, SolveTerms
from sottovoce.learn.solve.plan import SolvePlan
from sottovoce.learn.solve.shares import Share
from sottovoce.learn.solve.system import IntegerSystem


@dataclass(frozen=True)
class HiddenSolution:
    """Two shares, and what they cost on the wire."""

    coordinator: Share
    key_holder: Share
    traffic: Traffic
    retries: int = 0


def encrypted_system(
    system: IntegerSystem, plan: SlotPlan, public: PublicKey
) -> tuple[EncryptedArray, EncryptedArray]:
    """Enc(A), row by row in slots, and Enc(b)."""
    matrix = np.array(system.matrix, dtype=object)
    vector = np.array(system.vector, dtype=object)
    return encrypt_integers(matrix, plan, public), encrypt_integers(vector, plan, public)


def masked_solution(
    system: IntegerSystem,
    plan: SolvePlan,
    *,
    keys: tuple[PrivateKey, PrivateKey] | None = None,
) -> HiddenSolution:
    """Encrypt a system and run the masked solve; ``keys`` are the coordinator's, the holder's."""
    own, held = keys or (generate_key(plan.key_bits), generate_key(plan.key_bits))
    terms = SolveTerms(new_session(), "coordinator", "key holder", plan)
    coordinator = SolveCoordinator(terms, own, *encrypted_system(system, plan.sent, held.public))
    holder = SolveKeyHolder(terms, held)
    traffic = Exchange([coordinator, holder]).run()
    assert coordinator.share is not None  # noqa: S101 - the exchange ran to its end
    assert holder.share is not None  # noqa: S101 - likewise
    return HiddenSolution(coordinator.share, holder.share, traffic, coordinator.retries)
