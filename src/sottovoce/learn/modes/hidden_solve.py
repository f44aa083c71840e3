"""The two hidden solves behind one interface: how peers encrypt for each, and its machines.

And what each party of a hidden training checks of the others' messages, and how shares are sent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DisagreementError, InputError, ParameterError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.key_files import KnownKeys, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import (
    SLACK_BITS,
    Program,
    SlotPlan,
    SlotStage,
    encode,
    plan_slots,
)
from sottovoce.learn.paillier.slots import SlotStage as Bound
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes, encrypt_integers
from sottovoce.learn.ridge import Standard
from sottovoce.learn.solve.chebyshev import (
    ChebyshevPlan,
    answer_chebyshev,
    ask_chebyshev,
    plan_chebyshev,
)
from sottovoce.learn.solve.field import masked_bound
from sottovoce.learn.solve.masked import answer_masked, ask_masked
from sottovoce.learn.solve.plan import (
    PublicBounds,
    Share,
    SolvePlan,
    plan_solve,
    standardised_bounds,
)
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, Recipe, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import PartyMaker, ScriptedParty

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
        match self.recipe.solver:
            case "chebyshev":
                # The intercept's eigenvalue is 1 whatever lambda is.
                return plan_chebyshev(self.bounds, key_bits=bits, penalty=min(self.penalty, 1.0))
            case "masked":
                return plan_solve(self.bounds, key_bits=bits, score=SCORE)
            case _:
                assert_never(self.recipe.solver)

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

    @cached_property
    def summand_slots(self) -> SlotPlan:
        """The same slots, for one peer's part: its squares are at most those of all peers."""
        one = (1 << self.recipe.fraction_bits) + 1
        stages = (
            SlotStage(one, 0),
            SlotStage(one * len(self.peers), 0),
            SlotStage(self.plan.slots.value_bound, 0),
        )
        return replace(self.plan.slots, program=Program(stages))

    def quantise(self, rows: Floats, signs: Floats, count: float) -> tuple[Integers, Integers]:
        """One peer's part of A and b, rounded once."""
        places = self.recipe.fraction_bits
        return encode(rows.T @ rows / count, places), encode(signs @ rows / count, places)

    def ridge(self) -> Integers:
        """Lambda on the diagonal, but for the intercept."""
        weights = np.append(np.full(self.width - 1, self.penalty), 0.0)
        return np.diag(np.asarray(encode(weights, self.recipe.fraction_bits)))

    def encrypt_part(
        self, parts: Sequence[Integers], public: PublicKey
    ) -> tuple[EncryptedArray, ...]:
        """A peer's part of A and b, or of b alone."""
        return tuple(encrypt_integers(each, self.summand_slots, public) for each in parts)

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
        bound = self.plan.slots.value_bound
        return tuple(replace(total, plan=self.plan.slots, bound=bound) for total in totals)

    def with_vector(
        self, first: tuple[EncryptedArray, ...], parts: list[tuple[EncryptedArray, ...]]
    ) -> tuple[EncryptedArray, ...]:
        """The system of a further label: the first one's A, and the sum of the peers' own b."""
        total, *others = (part[0] for part in parts)
        for other in others:
            total = total + other
        return first[0], replace(total, plan=self.plan.slots, bound=self.plan.slots.value_bound)

    def coordinator(self, key: PrivateKey, arrays: tuple[EncryptedArray, ...]) -> PartyMaker:
        """C's machine, from the summed system."""
        plan, (matrix, vector) = self.plan, arrays

        def make(session: bytes) -> ScriptedParty[Share]:
            ask = (
                ask_chebyshev(plan, key, matrix, vector)
                if isinstance(plan, ChebyshevPlan)
                else ask_masked(plan, key, matrix, vector)
            )
            return ScriptedParty(COORDINATOR, KEY_HOLDER, session, ask)

        return make

    def key_holder(self, key: PrivateKey) -> PartyMaker:
        """K's machine."""
        plan = self.plan

        def make(session: bytes) -> ScriptedParty[Share]:
            answer = (
                answer_chebyshev(plan, key)
                if isinstance(plan, ChebyshevPlan)
                else answer_masked(plan, key)
            )
            return ScriptedParty(KEY_HOLDER, COORDINATOR, session, answer)

        return make


def modulus_bits(plan: SolvePlan) -> int:
    """The length of the modulus of the exact solve's shares."""
    return plan.prime_bits * plan.primes


def _largest_theta(plan: ChebyshevPlan) -> int:
    return math.ceil(plan.right_norm / plan.lowest) << plan.fraction_bits


def hidden_solve(terms: TrainingTerms, standard: Standard, peers: tuple[str, ...]) -> HiddenSolve:
    """The solve of a training, once it is known which features are kept."""
    solve = HiddenSolve(terms.recipe, checked_penalty(terms), standard.width, peers)
    check_room(solve)
    return solve


def check_room(solve: HiddenSolve) -> None:
    """Refuse a system whose shares would not fit a plaintext, before it is solved."""
    plan = solve.plan
    bits = plan.share_bits if isinstance(plan, ChebyshevPlan) else modulus_bits(plan)
    try:
        share_slots((1 << bits) - 1, solve.recipe.key_bits, len(solve.peers))
    except ParameterError as error:
        raise ParameterError(
            f"{solve.width} unknowns at {solve.recipe.fraction_bits} binary places have shares of "
            f"{bits} bits, too long for keys of {solve.recipe.key_bits}; use solver='chebyshev', "
            "fewer places or longer keys."
        ) from error


def checked_penalty(terms: TrainingTerms) -> float:
    """Lambda, which the hidden mode takes as agreed: it is chosen from sums that are not opened."""
    if terms.recipe.penalty is None or terms.recipe.statistics != "exact":
        raise ParameterError(
            "the hidden mode needs a penalty that is agreed on, and exact statistics: choosing "
            "the penalty would open the sums."
        )
    return terms.recipe.penalty


def check_keys(terms: TrainingTerms, key: PrivateKey) -> None:
    """Refuse a key of another length than was agreed on, and a penalty that was not."""
    checked_penalty(terms)
    if key.public.bits != terms.recipe.key_bits:
        raise InputError(f"keys of {terms.recipe.key_bits} bits were agreed on.")


def told_agreed_key(message: Message, recipe: Recipe, known: KnownKeys) -> PublicKey:
    """A public key from outside, proven, and of the length that was agreed on."""
    public = public_key_from_text(message.item("key", str), needs_proof=True, known=known)
    if public.bits != recipe.key_bits:
        raise InputError(f"keys of {recipe.key_bits} bits were agreed on.")
    return public


def told_shape(message: Message, terms: TrainingTerms) -> tuple[int, tuple[str, ...]]:
    """How many features are kept, with the intercept, and who takes part."""
    width, names = message.item("width", int), message.item("peers", tuple)
    peers = tuple(str(name) for name in names)
    if not 2 <= width <= len(terms.features) + 1:  # noqa: PLR2004 - a feature and the intercept
        raise DamagedMessageError("a system must have a feature and an intercept at least.")
    if not set(peers) <= set(terms.peers) or len(set(peers)) != len(peers):
        raise DisagreementError("a training is among its own peers.")
    return width, peers


def told_summand(
    message: Message, shapes: tuple[tuple[int, ...], ...], solve: HiddenSolve, public: PublicKey
) -> tuple[EncryptedArray, ...]:
    """A peer's part of the system, checked against the plan."""
    parts = message.item("arrays", tuple)
    if len(parts) != len(shapes) or not all(isinstance(part, bytes) for part in parts):
        raise DamagedMessageError(f"a summand must be {len(shapes)} encrypted arrays.")
    arrays = tuple(
        array_from_bytes(bytes(part), public, plan=solve.summand_slots) for part in parts
    )
    if tuple(array.shape for array in arrays) != shapes:
        raise InputError("a summand's encrypted arrays must have the shapes of the solve.")
    return arrays


def share_slots(modulus: int, key_bits: int, peers: int) -> SlotPlan:
    """A plaintext for each number of a share, with room for a masked score of each peer."""
    bits = modulus.bit_length()
    scored = masked_bound(SCORE, bits)
    stages = (Bound(modulus - 1, 0), Bound(SCORE << bits, 0), Bound(scored, 0))
    program = Program((*stages, Bound(scored * peers, 0)))
    return plan_slots(program, key_bits=key_bits, packed=False)


def share_pieces(
    share: Share, key: PrivateKey, key_text: str, peers: tuple[str, ...]
) -> dict[str, dict[str, Value]]:
    """A share of theta under its holder's own key, for every peer."""
    plan = share_slots(share.modulus, key.public.bits, len(peers))
    values = as_grid(list(share.values), (len(share.values),))
    array = encrypt_integers(values, plan, key)
    return {
        peer: {"key": key_text, "modulus": share.modulus, "array": array_to_bytes(array.blind())}
        for peer in peers
    }


def told_share(
    message: Message, solve: HiddenSolve, known: KnownKeys
) -> tuple[int, EncryptedArray]:
    """The modulus, which must be the plan's, and a share under its holder's key."""
    public, modulus = told_agreed_key(message, solve.recipe, known), message.item("modulus", int)
    solve.check_modulus(modulus)
    plan = share_slots(modulus, public.bits, len(solve.peers))
    array = array_from_bytes(message.item("array", bytes), public, plan=plan)
    if array.shape != (solve.width,):
        raise InputError(f"a share of theta must have {solve.width} numbers, got {array.shape}.")
    return modulus, array
