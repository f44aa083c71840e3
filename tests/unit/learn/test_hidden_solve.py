"""Who gets what in a hidden solve, and what is refused on the way."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sottovoce_lab.learn.systems import (
    IntegerSystem,
    check_system,
    opened_fractions,
    opened_integers,
    opened_theta,
    scaled_system,
    solved_exactly,
)
from support.hidden_systems import (
    BITS,
    gram_system,
    ionosphere,
    small_keys_allowed,
    tight_bounds,
    two_keys,
)
from support.paillier_keys import insecure_key_for_tests

from sottovoce.errors import (
    DamagedMessageError,
    InputError,
    ParameterError,
    SingularSystemError,
    StalledError,
)
from sottovoce.learn.paillier.keys import generate_key
from sottovoce.learn.solve import masked
from sottovoce.learn.solve.chebyshev import ChebyshevPlan, answer_chebyshev, ask_chebyshev, cut
from sottovoce.learn.solve.field import random_public_prime
from sottovoce.learn.solve.masked import answer_masked, ask_masked
from sottovoce.learn.solve.plan import (
    PublicBounds,
    Share,
    SolvePlan,
    needed_bits,
    plan_solve,
    standardised_bounds,
)
from sottovoce.learn.wire.exchange import Exchange, Faults
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Pairing, ScriptedParty, run_together

SYSTEM = gram_system([[3, 1, -2], [0, 5, 1], [2, 2, 2]], [7, -4, 9], 3)
BOUNDS = tight_bounds(SYSTEM)
PLAN = plan_solve(BOUNDS, key_bits=BITS, score=100, determinant=True)
THETA = np.array([float(x) for x in solved_exactly(SYSTEM).theta])
Parties = tuple[ScriptedParty[Share], ScriptedParty[Share]]


@pytest.fixture(autouse=True, scope="module")
def _small_keys() -> Iterator[None]:
    with small_keys_allowed():
        yield


def masked_parties(plan: SolvePlan = PLAN, system: IntegerSystem = SYSTEM) -> Parties:
    own, held = two_keys()
    numbers = system.encrypt(plan.slots, held.public)
    pair = Pairing()
    return pair.asking(ask_masked(plan, own, *numbers)), pair.answering(answer_masked(plan, held))


def chebyshev_parties(tolerance: float = 1e-3) -> Parties:
    own, held = two_keys()
    plan = ChebyshevPlan(BOUNDS, BITS, 3.0, BOUNDS.trace, tolerance)
    numbers = SYSTEM.encrypt(plan.slots, held.public)
    pair = Pairing()
    return pair.asking(ask_chebyshev(plan, own, *numbers)), pair.answering(
        answer_chebyshev(plan, held)
    )


def opened(parties: Parties) -> list[int]:
    return opened_integers(parties[0].result, parties[1].result)


def test_a_share_alone_is_neither_the_solution_nor_twice_the_same() -> None:
    seen = set()
    for _ in range(3):
        parties = masked_parties()
        traffic = Exchange(parties).run()
        assert (traffic.rounds, traffic.messages) == (2, 2)
        seen.add(parties[0].result.values)
        assert parties[0].result.values[:3] != tuple(solved_exactly(SYSTEM).adjugate)
    assert len(seen) == 3


def test_a_prime_that_divides_the_determinant_is_redrawn_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # det = 61441 * 1, a prime of 16 bits that begins with four ones.
    system = IntegerSystem([[61441, 0], [0, 1]], [3, 5], 0)
    plan = SolvePlan(tight_bounds(system), BITS, 4, 16, determinant=True)
    drawn = iter([61441])
    honest = random_public_prime
    monkeypatch.setattr(
        masked, "random_public_prime", lambda bits: next(drawn, None) or honest(bits)
    )
    parties = masked_parties(plan, system)
    assert Exchange(parties).run().rounds == 4
    assert parties[0].result.modulus % 61441 != 0
    exact = solved_exactly(system)
    assert opened(parties) == [*exact.adjugate, exact.determinant]


def test_a_singular_system_is_refused_by_name_without_its_numbers() -> None:
    singular = IntegerSystem([[1234567, 0], [0, 0]], [1, 1], 0)
    plan = plan_solve(tight_bounds(singular), key_bits=BITS, score=10)
    with pytest.raises(SingularSystemError, match="after 0 redraws.*positive definite") as refused:
        Exchange(masked_parties(plan, singular)).run()
    assert "1234567" not in str(refused.value)


def test_redraws_come_to_an_end() -> None:
    plan = replace(PLAN, primes=3)
    masked.check_retries(masked.MOST_RETRIES - 1, 1, plan)
    with pytest.raises(SingularSystemError, match="1 of 3 random primes after 4 redraws"):
        masked.check_retries(masked.MOST_RETRIES, 1, plan)


@pytest.mark.parametrize("made", [masked_parties, chebyshev_parties])
@pytest.mark.parametrize("seed", range(4))
def test_a_faulty_wire_changes_no_result_that_is_reached(
    made: Callable[[], Parties], seed: int
) -> None:
    parties = made()
    faults = Faults(duplicate=0.3, reorder=0.3, flip=0.05, seed=seed)
    try:
        Exchange(parties, faults=faults).run()
    except StalledError:
        return
    theta = opened_theta(parties[0].result, parties[1].result)
    np.testing.assert_allclose(theta, THETA, rtol=1e-2)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-6])
def test_chebyshev_comes_as_near_as_it_was_told_to(tolerance: float) -> None:
    parties = chebyshev_parties(tolerance)
    rounds = Exchange(parties).run().rounds
    theta = opened_theta(parties[0].result, parties[1].result)
    assert np.linalg.norm(theta - THETA) <= tolerance * max(1.0, float(np.linalg.norm(THETA)))
    assert rounds == ChebyshevPlan(BOUNDS, BITS, 3.0, BOUNDS.trace, tolerance).iterations + 1


def test_chebyshev_with_too_few_steps_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChebyshevPlan, "iterations", 2)
    parties = chebyshev_parties(1e-4)
    Exchange(parties).run()
    theta = opened_theta(parties[0].result, parties[1].result)
    assert np.linalg.norm(theta - THETA) > 1e-2 * np.linalg.norm(THETA)


@pytest.mark.parametrize("value", [0, 1, -1, 1000, -1000, 123456789, -123456789])
def test_cut_shares_are_off_by_one_unit_at_most(value: int) -> None:
    modulus = 1 << 100
    generator = np.random.default_rng(5)
    for _ in range(200):
        own = int.from_bytes(generator.bytes(12), "little") % modulus
        other = (value - own) % modulus
        parts = cut(own, 8, modulus, first=True) + cut(other, 8, modulus, first=False)
        found = parts % modulus
        signed = found - modulus * (2 * found > modulus)
        assert abs(signed - value / 256) <= 1


def test_returns_are_solved_to_the_places_asked_for(some_data: Path) -> None:
    """The quantised integers' exact solution against the floating-point one."""
    matrix, right = ionosphere(0.1)
    expected = np.linalg.solve(matrix, right)
    off = {}
    for places in (14, 20, 30):
        bounds = standardised_bounds(34, places, 0.1, peers=4)
        exact = solved_exactly(scaled_system(matrix, right, bounds))
        off[places] = np.abs(np.array([float(x) for x in exact.theta]) - expected).max()
        assert max(map(abs, exact.adjugate)) <= bounds.largest_solution
    assert off[30] < 1e-6 < off[20] < 1e-4
    assert off[20] < off[14] < 1e-3


@pytest.mark.long
def test_returns_hidden_are_the_plain_solve_of_the_same_integers(some_data: Path) -> None:
    matrix, right = ionosphere(0.1)
    bounds = standardised_bounds(34, 30, 0.1, peers=4)
    system = scaled_system(matrix, right, bounds)
    plan = plan_solve(bounds, key_bits=2048, determinant=True)
    own, held = generate_key(2048), generate_key(2048)
    numbers = system.encrypt(plan.slots, held.public)
    found = run_together(ask_masked(plan, own, *numbers), answer_masked(plan, held))
    exact = solved_exactly(system)
    shares = found.asked, found.answered
    assert opened_fractions(*shares) == exact.theta
    np.testing.assert_allclose(opened_theta(*shares), np.linalg.solve(matrix, right), atol=1e-6)


NAN = [[float("nan"), 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("matrix", "right", "match"),
    [
        ([[2.0, 0.5], [0.25, 2.0]], [0.5, 0.5], "symmetric"),
        ([[0.5, 1.5], [1.5, 0.5]], [0.5, 0.5], "positive definite"),
        ([[0.0, 0.0], [0.0, 0.0]], [0.5, 0.5], "positive definite"),
        ([[2.0, 0.0], [0.0, 9.0]], [0.5, 0.5], "public bounds"),
        ([[2.0, 0.0], [0.0, 2.0]], [0.5, 0.5, 0.5], "2 unknowns"),
        ([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], [0.5, 0.5], "2 unknowns"),
        (NAN, [0.5, 0.5], "finite"),
        ([[2.0, 0.0], [0.0, 2.0]], [np.inf, 0.5], "finite"),
    ],
)
def test_an_unfit_system_is_refused_without_its_numbers(
    matrix: list[list[float]], right: list[float], match: str
) -> None:
    bounds = PublicBounds(2, 10, 2 << 10, 4 << 10, 1 << 10)
    with pytest.raises(ParameterError, match=match) as refused:
        scaled_system(matrix, right, bounds)
    assert "0.25" not in str(refused.value)
    assert "1.5" not in str(refused.value)


def test_a_penalty_that_rounding_outweighs_is_refused() -> None:
    with pytest.raises(ParameterError, match="positive definite at 8 binary places"):
        standardised_bounds(34, 8, 0.1, peers=4)
    with pytest.raises(ParameterError, match="penalty must be finite and > 0"):
        standardised_bounds(34, 8, float("nan"))


def test_rounded_summands_stay_positive_definite_and_within_their_bounds() -> None:
    """Four peers round their parts; the least penalty allowed keeps every sum definite."""
    generator = np.random.default_rng(3)
    places, peers, size = 6, 4, 3
    penalty = (size + 1) * (peers + 1) / 2 / 2**places + 1e-3
    bounds = standardised_bounds(size, places, penalty, peers=peers)
    for _ in range(50):
        x = generator.normal(size=(40, size)) @ generator.normal(size=(size, size))
        x[:, 1] = x[:, 0]
        x = (x - x.mean(axis=0)) / x.std(axis=0)
        y = np.sign(generator.normal(size=40))
        parts = [(x[at::peers].T @ x[at::peers] / 40, x[at::peers].T @ y[at::peers] / 40)
                 for at in range(peers)]  # fmt: skip
        matrix = sum(np.rint(part * 2**places) for part, _ in parts)
        matrix = matrix + np.rint(penalty * 2**places) * np.eye(size)
        right = sum(np.rint(part * 2**places) for _, part in parts)
        system = IntegerSystem(
            [[int(v) for v in row] for row in matrix], [int(v) for v in right], places
        )
        check_system(system, bounds)
        largest = max(map(abs, solved_exactly(system).adjugate))
        assert largest <= bounds.largest_solution


def test_bounds_and_plans_out_of_range_are_refused() -> None:
    with pytest.raises(ParameterError, match="bounds must be >= 1"):
        PublicBounds(0, 0, 1, 1, 1)
    with pytest.raises(ParameterError, match="too short for a solve"):
        plan_solve(PublicBounds(2, 30, 1 << 600, 2 << 600, 1 << 600), key_bits=BITS)
    for primes, bits, words in ((4, 89, "at least 90 bits, got 89"), (0, 90, "at least 1 prime")):
        with pytest.raises(ParameterError, match=words):
            SolvePlan(BOUNDS, 2048, primes, bits)
    with pytest.raises(ParameterError, match="at least 16 bits"):
        SolvePlan(BOUNDS, BITS, 1, 8)
    for lowest, highest in ((0.0, 1.0), (2.0, 1.0), (1.0, np.inf), (float("nan"), 1.0)):
        with pytest.raises(ParameterError, match="eigenvalue bounds"):
            ChebyshevPlan(BOUNDS, BITS, lowest, highest)
    with pytest.raises(ParameterError, match="tolerance must be"):
        ChebyshevPlan(BOUNDS, BITS, 1.0, 2.0, 0.0)
    with pytest.raises(ParameterError, match="too short for this tolerance"):
        ChebyshevPlan(BOUNDS, 256, 1e-9, 2.0, 1e-9)


@pytest.mark.parametrize("key_bits", [2048, 3072])
@pytest.mark.parametrize("places", [14, 20, 30])
def test_the_plan_holds_every_score_and_every_slot(places: int, key_bits: int) -> None:
    bounds = standardised_bounds(34, places, 0.1, peers=4)
    plan = plan_solve(bounds, key_bits=key_bits)
    needed = needed_bits(bounds, score=1 << 22, slack_bits=64, determinant=False)
    smallest = (15 << (plan.prime_bits - 4)) ** plan.primes
    assert smallest >= 1 << needed
    assert plan.prime_bits >= 90, "else one divides a determinant by chance"
    assert smallest > 2 * (bounds.largest_solution << 22) << 63
    # M + p rho, with rho of 64 bits more than the quotient it hides.
    largest = (34 * bounds.entry + bounds.right) * (1 << plan.prime_bits)
    assert plan.slots.capacity >= largest << 64
    assert plan.answer_slots.capacity >= (35 << (3 * plan.prime_bits // 2)) << 64
    others = [
        SolvePlan(bounds, key_bits, primes, max(-(-needed // primes) + 1, 90))
        for primes in (1, 2, 6, 10)
    ]
    assert all(plan.cost <= other.cost for other in others if 2 * other.prime_bits + 80 < key_bits)


@pytest.mark.parametrize("slack", [0, 63])
def test_a_plan_with_less_slack_than_its_masks_is_refused(slack: int) -> None:
    with pytest.raises(ParameterError, match=f"slack_bits must be >= 64, got {slack}"):
        plan_solve(BOUNDS, key_bits=BITS, slack_bits=slack)


def test_a_systems_numbers_are_not_printed() -> None:
    system = IntegerSystem([[424242, 1], [1, 424242]], [535353, 2], 0)
    assert "424242" not in repr(system)
    assert "535353" not in repr(system)
    assert "77" not in repr(Share(101, (77, 77)))


def test_inputs_of_another_shape_key_or_plan_are_refused() -> None:
    own, held = two_keys()
    longer = insecure_key_for_tests(BITS + 64, 3)
    matrix, vector = SYSTEM.encrypt(PLAN.slots, held.public)
    other = plan_solve(replace(BOUNDS, entry=2 * BOUNDS.entry), key_bits=BITS)
    plan = ChebyshevPlan(BOUNDS, BITS, 3.0, BOUNDS.trace)
    numbers = SYSTEM.encrypt(plan.slots, held.public)
    wrong = {
        "3 unknowns": ask_masked(PLAN, own, matrix[:2], vector),
        "key holder's key": ask_masked(PLAN, held, matrix, vector),
        "slots of the solve's plan": ask_masked(
            PLAN, own, *SYSTEM.encrypt(other.slots, held.public)
        ),
        f"for keys of {BITS} bits": answer_masked(PLAN, longer),
        f"keys of {BITS} bits": answer_chebyshev(plan, longer),
        "in the slots of the solve's": ask_chebyshev(plan, own, matrix, vector),
        "3 x 3 matrix": ask_chebyshev(plan, own, numbers[0][:2], numbers[1]),
        "under the key holder's key": ask_chebyshev(plan, held, *numbers),
    }
    for match, script in wrong.items():
        with pytest.raises(InputError, match=match):
            next(script)


def changed(message: Message, **payload: object) -> Message:
    return replace(message, payload={**message.payload, **payload})  # type: ignore[dict-item] # any value


def test_a_masked_system_that_breaks_its_plan_is_refused_and_the_true_one_taken() -> None:
    coordinator, holder = masked_parties(replace(PLAN, primes=3))
    holder.start()
    true = coordinator.start()[0]
    primes = true.item("primes", tuple)
    even = (primes[0] + 1, *primes[1:])
    for wrong, match in (
        ({"primes": even}, "primes of"),
        ({"primes": (7, *primes[1:])}, "primes of"),
        ({"primes": (primes[0],) * len(primes)}, "primes of"),
        ({"primes": primes[1:]}, "shapes of its plan"),
        ({"masked": true.payload["columns"]}, "another key"),
        ({"key": "x"}, "key"),
    ):
        with pytest.raises((DamagedMessageError, InputError), match=match):
            holder.receive(changed(true, **wrong))
    answer = holder.receive(true)[0]
    with pytest.raises(DamagedMessageError, match="every prime"):
        coordinator.receive(changed(answer, solved=np.array([True])[:0]))
    coordinator.receive(answer)
    assert opened((coordinator, holder))[:3] == solved_exactly(SYSTEM).adjugate
