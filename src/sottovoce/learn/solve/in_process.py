"""Whole hidden solves in one process: for studies, benches and to see how they behave."""

from dataclasses import dataclass

import numpy as np

from sottovoce.learn.paillier import PrivateKey, SlotPlan, encrypt_integers, generate_key
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PublicKey
from sottovoce.learn.party import Exchange, StalledError, Traffic, new_session
from sottovoce.learn.solve.chebyshev import (
    ChebyshevCoordinator,
    ChebyshevKeyHolder,
    ChebyshevPlan,
    ChebyshevTerms,
)
from sottovoce.learn.solve.dealer import DealtPlan, DealtTerms, SolveDealer, triangle
from sottovoce.learn.solve.dealt import DealtCoordinator, DealtKeyHolder
from sottovoce.learn.solve.masked import SolveCoordinator, SolveKeyHolder
from sottovoce.learn.solve.masked_terms import SolveTerms
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
    return HiddenSolution(
        _known(coordinator.share), _known(holder.share), traffic, coordinator.retries
    )


def dealt_solution(
    system: IntegerSystem, plan: DealtPlan, *, key: PrivateKey | None = None
) -> HiddenSolution:
    """Encrypt a system and run the solve with a dealer; ``key`` is the key holder's."""
    held = key or generate_key(plan.key_bits)
    terms = DealtTerms(new_session(), "dealer", "coordinator", "key holder", plan)
    numbers = np.array(triangle(system), dtype=object)
    coordinator = DealtCoordinator(terms, encrypt_integers(numbers, plan.sent, held.public))
    holder = DealtKeyHolder(terms, held)
    traffic = Exchange([SolveDealer(terms), coordinator, holder]).run()
    return HiddenSolution(_known(coordinator.share), _known(holder.share), traffic)


def chebyshev_solution(
    system: IntegerSystem,
    plan: ChebyshevPlan,
    *,
    keys: tuple[PrivateKey, PrivateKey] | None = None,
) -> HiddenSolution:
    """Encrypt a system and iterate on shares; ``keys`` are the coordinator's, the holder's."""
    own, held = keys or (generate_key(plan.key_bits), generate_key(plan.key_bits))
    terms = ChebyshevTerms(new_session(), "coordinator", "key holder", plan)
    numbers = encrypted_system(system, plan.slots, held.public)
    coordinator = ChebyshevCoordinator(terms, own, *numbers)
    holder = ChebyshevKeyHolder(terms, held)
    traffic = Exchange([coordinator, holder]).run()
    return HiddenSolution(_known(coordinator.share), _known(holder.share), traffic)


def _known(share: Share | None) -> Share:
    if share is None:
        raise StalledError("a solve ended without a share.")
    return share
