"""The two hidden solves behind one interface: how peers encrypt for each, and its machines."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import SLACK_BITS, Program, SlotPlan, SlotStage, encode
from sottovoce.learn.paillier.wire import encrypt_integers
from sottovoce.learn.solve.chebyshev import (
    ChebyshevCoordinator,
    ChebyshevKeyHolder,
    ChebyshevPlan,
    ChebyshevTerms,
    plan_chebyshev,
)
from sottovoce.learn.solve.masked import SolveCoordinator, SolveKeyHolder, SolveTerms
from sottovoce.learn.solve.plan import SolvePlan, plan_solve
from sottovoce.learn.solve.system import IntegerSystem, PublicBounds, standardised_bounds
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, Recipe
from sottovoce.learn.wire.stages import PartyMaker

QUERY_BITS = 24  # binary places of a standardised row that is classified
QUERY_SUM = 1 << 12  # the largest sum of its numbers' sizes
_FEWEST_QUERY_BITS = 8
SCORE = QUERY_SUM << QUERY_BITS
Integers: TypeAlias = NDArray[Any]
Plan: TypeAlias = SolvePlan | ChebyshevPlan


@dataclass(frozen=True)
class HiddenSolve:
    """One system of ``width`` unknowns, the last one the intercept, summed over the peers.

    A = X'X/m + lambda I and b = X'y/m of standardised rows with a last column of ones, whose
    diagonal entry takes no lambda, so that the intercept is not shrunk.
    """

    recipe: Recipe
    penalty: float
    width: int
    peers: tuple[str, ...]

    @cached_property
    def bounds(self) -> PublicBounds:
        """What is public of the sum."""
        return standardised_bounds(
            self.width, self.recipe.fraction_bits, self.penalty, peers=len(self.peers)
        )

    @cached_property
    def plan(self) -> Plan:
        """What the solve's parties agree on."""
        bits = self.recipe.key_bits
        if self.recipe.solver == "chebyshev":
            # The intercept's eigenvalue is 1 whatever lambda is.
            return plan_chebyshev(self.bounds, key_bits=bits, penalty=min(self.penalty, 1.0))
        return plan_solve(self.bounds, key_bits=bits, score=SCORE)

    @cached_property
    def query_bits(self) -> int:
        """Binary places of rows to classify: as many as leave the scores' sign tellable.

        The exact solve plans for scores of at most 2^-65 of their modulus. Chebyshev's theta is at
        most ||b|| / lambda in size, at its own binary places, and its modulus does not know rows.
        """
        plan = self.plan
        if not isinstance(plan, ChebyshevPlan):
            return QUERY_BITS
        room = (plan.modulus >> (SLACK_BITS + 1)) // (_largest_theta(plan) * QUERY_SUM)
        places = min(QUERY_BITS, room.bit_length() - 1)
        if places < _FEWEST_QUERY_BITS:
            raise ParameterError("shares of theta leave no room for a score; lower the tolerance.")
        return places

    @cached_property
    def score_bound(self) -> int:
        """The largest size of a score of ``QUERY_SUM`` at ``query_bits``, as it was planned."""
        plan = self.plan
        if isinstance(plan, ChebyshevPlan):
            return _largest_theta(plan) * QUERY_SUM << self.query_bits
        return self.bounds.largest_solution * (QUERY_SUM << self.query_bits)

    def check_modulus(self, modulus: int) -> None:
        """Refuse shares of another modulus than the plan has."""
        plan = self.plan
        if isinstance(plan, ChebyshevPlan):
            planned = modulus == plan.modulus
        else:
            planned = self.score_bound << (SLACK_BITS + 1) <= modulus < 1 << modulus_bits(plan)
        if not planned:
            raise InputError("shares of theta must be modulo a number that the plan has room for.")

    @property
    def slots(self) -> SlotPlan:
        """Those of the summed system."""
        return self.plan.slots if isinstance(self.plan, ChebyshevPlan) else self.plan.sent

    @cached_property
    def summand_slots(self) -> SlotPlan:
        """The same slots, for one peer's part: its squares are at most those of all peers."""
        one = (1 << self.recipe.fraction_bits) + 1
        stages = (
            SlotStage(one, 0),
            SlotStage(one * len(self.peers), 0),
            SlotStage(self.slots.value_bound, 0),
        )
        return replace(self.slots, program=Program(stages))

    def quantise(self, rows: Floats, signs: Floats, count: float) -> tuple[Integers, Integers]:
        """One peer's part of A and b, rounded once."""
        places = self.recipe.fraction_bits
        return encode(rows.T @ rows / count, places), encode(signs @ rows / count, places)

    def ridge(self) -> Integers:
        """Lambda on the diagonal, but for the intercept."""
        weights = np.append(np.full(self.width - 1, self.penalty), 0.0)
        return np.diag(np.asarray(encode(weights, self.recipe.fraction_bits)))

    def system(self, matrix: Integers, vector: Integers) -> IntegerSystem:
        """The summed integers with lambda added: what is solved, to the last bit."""
        left = (matrix + self.ridge()).tolist()
        return IntegerSystem(
            [[int(entry) for entry in row] for row in left],
            [int(entry) for entry in vector],
            self.recipe.fraction_bits,
        )

    def encrypt_part(
        self, matrix: Integers, vector: Integers, public: PublicKey
    ) -> tuple[EncryptedArray, ...]:
        """A peer's part."""
        arrays = (matrix, vector)
        return tuple(encrypt_integers(each, self.summand_slots, public) for each in arrays)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the arrays that `encrypted` makes."""
        return ((self.width, self.width), (self.width,))

    def add_parts(self, parts: list[tuple[EncryptedArray, ...]]) -> tuple[EncryptedArray, ...]:
        """All peers' parts, with lambda, in the slots and bounds of the solve.

        Each part alone is within the bounds of the sum, so that the public bounds hold for honest
        peers; a sum beyond them is found when it is opened or makes the solve singular.
        """
        first, *others = parts
        totals = list(first)
        for part in others:
            totals = [here + there for here, there in zip(totals, part, strict=True)]
        ridge = self.ridge()
        totals[0] = totals[0].plus_integers(ridge, bound=int(ridge.max()))
        bound = self.slots.value_bound
        return tuple(replace(total, plan=self.slots, bound=bound) for total in totals)

    def with_vector(
        self, first: tuple[EncryptedArray, ...], parts: list[tuple[EncryptedArray, ...]]
    ) -> tuple[EncryptedArray, ...]:
        """The system of a further label: the first one's A, and the sum of the peers' own b."""
        total, *others = (part[0] for part in parts)
        for other in others:
            total = total + other
        return first[0], replace(total, plan=self.slots, bound=self.slots.value_bound)

    def coordinator(self, key: PrivateKey, arrays: tuple[EncryptedArray, ...]) -> PartyMaker:
        """C's machine, from the summed system."""
        plan = self.plan
        if isinstance(plan, ChebyshevPlan):
            return lambda session: ChebyshevCoordinator(
                ChebyshevTerms(session, COORDINATOR, KEY_HOLDER, plan), key, *arrays
            )
        return lambda session: SolveCoordinator(
            SolveTerms(session, COORDINATOR, KEY_HOLDER, plan), key, *arrays
        )

    def key_holder(self, key: PrivateKey) -> PartyMaker:
        """K's machine."""
        plan = self.plan
        if isinstance(plan, ChebyshevPlan):
            return lambda session: ChebyshevKeyHolder(
                ChebyshevTerms(session, COORDINATOR, KEY_HOLDER, plan), key
            )
        return lambda session: SolveKeyHolder(
            SolveTerms(session, COORDINATOR, KEY_HOLDER, plan), key
        )


def modulus_bits(plan: SolvePlan) -> int:
    """The length of the modulus of the exact solve's shares."""
    return plan.prime_bits * plan.primes


def _largest_theta(plan: ChebyshevPlan) -> int:
    return math.ceil(plan.right_norm / plan.lowest) << plan.fraction_bits
