"""What each party of Chebyshev's iteration opens is uniform, and each mask cut short shows."""

from collections.abc import Callable, Iterator

import pytest
from support.evenness import evenness
from support.hidden_systems import BITS, gram_system, small_keys_allowed, tight_bounds, two_keys

from sottovoce.learn.paillier.slots import mask_bound
from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.solve import chebyshev, field
from sottovoce.learn.solve.chebyshev import (
    ChebyshevPlan,
    answer_chebyshev,
    ask_chebyshev,
    read_system,
)
from sottovoce.learn.solve.field import Combs, mask_half_range, plan_combs
from sottovoce.learn.solve.plan import Share
from sottovoce.learn.wire.stages import Pairing, ScriptedParty
from sottovoce.privacy.randomness import random_below

SIZE = 5
ROWS = [[1, 2, 0, 0, 3], [0, 1, 0, 2, 0], [5, 0, 0, 0, 1]]
SYSTEM = gram_system(ROWS, [4, 1, 0, -2, 3], 2)
BOUNDS = tight_bounds(SYSTEM)
PLAN = ChebyshevPlan(BOUNDS, BITS, 2.0, BOUNDS.trace, 1e-2)
HALF = mask_bound(PLAN.slots.value_bound) // 2
HONEST, CAUGHT = 1e-6, 1e-12


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def parties() -> tuple[ScriptedParty[Share], ScriptedParty[Share]]:
    own, held = two_keys()
    pair = Pairing()
    numbers = SYSTEM.encrypt(PLAN.slots, held.public)
    return pair.asking(ask_chebyshev(PLAN, own, *numbers)), pair.answering(
        answer_chebyshev(PLAN, held)
    )


def opened_systems(runs: int) -> list[int]:
    """All of A + S and b + s that the key holder opens, raised by half the masks' range."""
    held = two_keys()[1]
    found: list[int] = []
    for _ in range(runs):
        matrix, vector, _masks = read_system(parties()[0].start()[0], PLAN, held.public)
        for array in (matrix, vector):
            found += [int(value) + HALF for value in decrypt_integers(array, held).ravel()]
    return found


def system_evenness(runs: int) -> float:
    values = opened_systems(runs)
    return evenness(values, [2 * HALF] * len(values))


def opened_products(sender: str, step: list[int], draws: int) -> list[int]:
    """What the other opens of A times the sender's share, over and over, for one share."""
    own, held = two_keys()
    key = held if sender == "C" else own
    matrix, _ = SYSTEM.encrypt(PLAN.slots, key.public)
    shape = plan_combs(PLAN.size, PLAN.iterations, PLAN.share_bits)
    combs = [Combs(each.tolist(), matrix.public.n, shape) for each in matrix.ciphertexts.T]
    found: list[int] = []
    while len(found) < draws:
        product, _ = chebyshev.mask_product(PLAN, combs, matrix, step)
        found += [int(value) for value in decrypt_integers(product, key)]
    return found


def product_evenness(sender: str, step: list[int], draws: int) -> float:
    """Of residues, and of quotients raised by half the masks' range and the largest quotient."""
    values = opened_products(sender, step, draws)
    half = mask_half_range(PLAN.quotient)
    residues = evenness([value % PLAN.modulus for value in values], [PLAN.modulus] * len(values))
    over = [value // PLAN.modulus + half for value in values]
    # Quotients beyond the masks' range are as rare as 2^-64.
    return min(residues, evenness(over, [2 * half] * len(over)))


SHARES = {
    "nothing": [0] * SIZE,
    "ones": [1] * SIZE,
    "large": [PLAN.modulus - 1 - at for at in range(SIZE)],
}


@pytest.mark.parametrize("runs", [25, pytest.param(120, marks=pytest.mark.long)])
def test_the_key_holder_opens_a_uniform_system(runs: int) -> None:
    assert system_evenness(runs) > HONEST


@pytest.mark.parametrize("draws", [640, pytest.param(3_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("sender", ["C", "K"])
@pytest.mark.parametrize("share", SHARES)
def test_a_product_is_uniform_whatever_share_it_is_of(sender: str, share: str, draws: int) -> None:
    assert product_evenness(sender, SHARES[share], draws) > HONEST


@pytest.mark.parametrize(
    "cut",
    [
        lambda limit: limit // 2,
        lambda limit: limit // 2 + random_below(512),
        lambda limit: random_below(limit // 256) * 256,
    ],
    ids=["none", "9 bits", "coarse"],
)
def test_a_systems_mask_cut_short_is_caught(
    cut: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chebyshev, "random_below", cut)
    assert system_evenness(3) < CAUGHT


@pytest.mark.parametrize("sender", ["C", "K"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("bits", [0, 9, 60])
def test_a_product_without_its_residue_is_caught(
    sender: str, share: str, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chebyshev, "random_below", lambda limit: random_below(1 << bits))
    assert product_evenness(sender, SHARES[share], 60) < CAUGHT


@pytest.mark.parametrize("sender", ["C", "K"])
def test_a_product_without_its_multiple_is_caught(
    sender: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field, "mask_half_range", lambda quotient: 128)
    assert product_evenness(sender, SHARES["large"], 60) < CAUGHT
