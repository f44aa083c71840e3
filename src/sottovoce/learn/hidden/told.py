"""What each party of a hidden training checks of the others' messages, and how shares are sent."""

from sottovoce.errors import DamagedMessageError, DisagreementError, InputError, ParameterError
from sottovoce.learn.hidden.solvers import SCORE, HiddenSolve, modulus_bits
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.grid import as_grid
from sottovoce.learn.paillier.key_files import KnownKeys, public_key_from_text
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.slots import Program, SlotPlan, plan_slots
from sottovoce.learn.paillier.slots import SlotStage as Bound
from sottovoce.learn.paillier.wire import array_from_bytes, array_to_bytes, encrypt_integers
from sottovoce.learn.ridge import Standard
from sottovoce.learn.solve.chebyshev import ChebyshevPlan
from sottovoce.learn.solve.field import masked_bound
from sottovoce.learn.solve.plan import Share
from sottovoce.learn.training_terms import Recipe, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.message import Message


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
        peer: {
            "key": key_text,
            "modulus": share.modulus,
            "array": array_to_bytes(array.blind()),
        }
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
