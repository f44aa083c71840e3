"""Inverse, logarithm, descent and rados between two parties."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import WIDE_KEY, hidden_numbers

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn.arithmetic.shown import Outline
from sottovoce.learn.paillier.wire import decrypt, encrypt
from sottovoce.learn.paper._functions import (
    ExponentialPlan,
    LogarithmPlan,
    answer_logarithm,
    ask_logarithm,
    rounded_exponential,
)
from sottovoce.learn.paper._inverse import (
    InversePlan,
    answer_inverse,
    answer_solution,
    ask_inverse,
    ask_solution,
)
from sottovoce.learn.paper.descent import (
    DescentPlan,
    answer_descent,
    answer_log_loss,
    ask_descent,
    ask_log_loss,
    plain_descent,
)
from sottovoce.learn.paper.rado_solver import (
    InteractiveTerms,
    answer_rados,
    ask_rados,
    ask_rados_of,
)
from sottovoce.learn.rados.learners import descended
from sottovoce.learn.rados.rados import SealedSignatures, log_exponential_loss
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.script import Pairing, run_together

KEY = WIDE_KEY
CHANCE = np.random.default_rng(3)


def ridge_matrix(size: int) -> Floats:
    rows = CHANCE.normal(size=(30, size))
    matrix: Floats = rows.T @ rows / 30 + 0.1 * np.eye(size)
    return matrix


@pytest.mark.parametrize("size", [1, 2])
def test_newton_gives_the_inverse_in_two_round_trips_a_step(size: int) -> None:
    matrix = ridge_matrix(size)
    a, outline = hidden_numbers(matrix, 4.0, 30)
    plan = InversePlan(outline, trace_bound=4.0 * size, smallest=0.1)
    run = run_together(ask_inverse(a, plan), answer_inverse(plan, KEY))
    # The bound of the iteration, and a few units of the matrix's and the inverse's last places.
    exact = np.linalg.inv(np.rint(matrix * 2**30) / 2**30)
    allowed = plan.tolerance * np.abs(exact).max() + 64 * 2.0**-plan.fraction_bits
    np.testing.assert_allclose(decrypt(run.asked, KEY), exact, rtol=0, atol=allowed)
    assert Outline.of(run.asked) == run.answered
    assert run.traffic.rounds == 4 * plan.steps + 2


def test_too_few_steps_do_not_reach_the_inverse() -> None:
    """So that the test above can fail: one bit less of the trace over the eigenvalue is missed."""
    matrix = np.diag([0.1, 4.0])
    a, outline = hidden_numbers(matrix, 4.0, 30)
    plan = InversePlan(outline, trace_bound=8.0, smallest=0.1, tolerance=0.5)
    run = run_together(ask_inverse(a, plan), answer_inverse(plan, KEY))
    assert plan.steps == math.ceil(math.log2(math.log(2) * 80))
    error = abs(decrypt(run.asked, KEY)[0, 0] - 10) / 10
    assert 1e-4 < error <= 0.5


def test_a_system_is_solved_by_the_inverse() -> None:
    matrix, column = ridge_matrix(2), CHANCE.normal(size=2)
    (a, of_a), (b, of_b) = hidden_numbers(matrix, 4.0, 30), hidden_numbers(column, 4.0, 30)
    plan = InversePlan(of_a, trace_bound=8.0, smallest=0.1)
    run = run_together(ask_solution(a, b, of_b, plan), answer_solution(of_b, plan, KEY))
    exact = np.linalg.solve(matrix, column)
    np.testing.assert_allclose(decrypt(run.asked, KEY), exact, rtol=0, atol=1e-7)
    assert run.asked.shape == run.answered.shape == (2,)


@pytest.mark.parametrize(
    "changes",
    [
        {"matrix": Outline((2, 3), 9)},
        {"smallest": 0.0},
        {"smallest": 9.0},
        {"tolerance": 0.0},
        {"fraction_bits": 1},
    ],
)
def test_inverses_without_sense_are_refused(changes: dict[str, object]) -> None:
    given: dict[str, object] = {
        "matrix": Outline((2, 2), 9), "trace_bound": 8.0, "smallest": 0.1, **changes
    }  # fmt: skip
    with pytest.raises(ParameterError):
        InversePlan(**given)  # type: ignore[arg-type] # wrong on purpose


def test_a_logarithm_is_within_units_of_its_last_place() -> None:
    numbers = np.array([[0.125, 1.0], [7.9, 8.0]])
    x, outline = hidden_numbers(numbers, 8.0, 40)
    plan = LogarithmPlan(outline, 0.125, 16)
    run = run_together(ask_logarithm(x, plan), answer_logarithm(plan, KEY))
    assert np.abs(decrypt(run.asked, KEY) - np.log(numbers)).max() < 3 * 2.0**-16
    assert Outline.of(run.asked).shape == run.answered.shape
    assert run.traffic.rounds == 8 * plan.steps


def test_functions_without_sense_are_refused() -> None:
    with pytest.raises(ParameterError, match="scale them down"):
        ExponentialPlan(Outline.of_numbers((1,), 256.0, 10), 10)
    with pytest.raises(ParameterError, match="smallest number must be > 0"):
        LogarithmPlan(Outline.of_numbers((1,), 8.0, 10), 0.0, 10)
    with pytest.raises(ParameterError, match="at most the bound"):
        LogarithmPlan(Outline.of_numbers((1,), 8.0, 10), 9.0, 10)
    with pytest.raises(ParameterError, match="longer key"):
        plan = ExponentialPlan(Outline.of_numbers((1,), 100.0, 10), 10)
        plan.factors_plan(512)


@pytest.mark.parametrize("exponent", [-(40 << 20), -1, 0, 1, 12345678, 20 << 20])
def test_exponentials_are_rounded_from_enough_digits(exponent: int) -> None:
    with localcontext(prec=200):
        exact = (Decimal(exponent) / 2**20).exp() * 2**200
        assert abs(rounded_exponential(exponent, 20, 200) - exact) <= 0.5


def small_rados(count: int, features: int = 3) -> Floats:
    rows = np.random.default_rng(4).normal((0.6, -0.2, 0.0)[:features], size=(count, features))
    rados: Floats = rows / np.linalg.norm(rows, axis=1).max()
    return rados


def test_a_secure_descent_is_the_plain_one_and_predicts_the_same() -> None:
    rados = small_rados(3, 2)
    plan = DescentPlan(3, 2, norm_bound=1.0, weight=0.5, steps=7)
    hidden = encrypt(rados, plan.examples.plan(KEY.public.bits), KEY)
    run = run_together(ask_descent(hidden, plan), answer_descent(plan, KEY))
    theta = decrypt(run.asked, KEY)
    np.testing.assert_allclose(theta, plain_descent(rados, plan), rtol=0, atol=1e-7)
    assert Outline.of(run.asked) == run.answered
    twin = descended(rados, np.full(2, 0.5)).theta
    assert np.abs(theta - twin).max() < 1e-3
    queries = CHANCE.normal(size=(500, 2))
    assert ((queries @ theta > 0) == (queries @ twin > 0)).mean() > 0.995
    loss = run_together(ask_log_loss(hidden, run.asked, plan), answer_log_loss(plan, KEY))
    assert abs(decrypt(loss.asked, KEY) - log_exponential_loss(theta, rados)) < 1e-7


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_bounds_of_a_descent_hold_on_the_way(scale: float) -> None:
    rados = small_rados(8) * scale
    rados[:] = rados[0]  # all alike: theta grows as far as it can
    for steps in range(1, 40):
        plan = DescentPlan(8, 3, norm_bound=scale, weight=0.5, steps=steps)
        theta = plain_descent(rados, plan)
        assert np.linalg.norm(theta) <= plan.theta.magnitude
        assert np.abs(rados @ theta).max() <= plan.scores.magnitude
        assert np.exp(-rados @ theta).sum() >= plan.smallest_sum


@pytest.mark.parametrize("changes", [{"steps": 0}, {"norm_bound": 0.0}, {"weight": math.inf}])
def test_descents_without_sense_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ParameterError):
        DescentPlan(**{"rados": 2, "features": 2, "norm_bound": 1.0, **changes})  # type: ignore[arg-type] # wrong on purpose


TERMS = InteractiveTerms(examples=6, features=3, rados=4, bound=1.0)
ROWS = CHANCE.uniform(-1, 1, (6, 3))
SIGNS = CHANCE.choice([-1.0, 1.0], 6)


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the small test key, which an intermediary would refuse."""
    monkeypatch.setattr(
        "sottovoce.learn.paper.rado_solver.public_key_from_text", lambda _, **__: KEY.public
    )


@pytest.mark.usefixtures("trusting")
def test_rados_by_a_secure_product_are_the_plain_ones() -> None:
    signatures = SealedSignatures(4, 6)
    pair = Pairing(ciphertext_holder="intermediary", key_holder="owner")
    intermediary = pair.asking(ask_rados(signatures, TERMS))
    owner = pair.answering(answer_rados(ROWS, SIGNS, TERMS, KEY))
    exchange = Exchange([intermediary, owner])
    traffic = exchange.run()
    rounded = np.rint(ROWS * 2**30) / 2**30
    expected = (signatures._signatures + SIGNS) @ rounded / 2
    np.testing.assert_array_equal(decrypt(intermediary.result, KEY), expected)
    assert intermediary.result.fraction_bits == 31
    assert traffic.rounds == 3
    assert {message.kind for message in exchange.views["owner"]} == {"masked"}
    assert {m.kind for m in exchange.views["intermediary"]} == {"key", "examples", "product"}


@pytest.mark.parametrize("clear", [(ROWS, SIGNS), (ROWS.tolist(), None)])
def test_signatures_do_not_meet_clear_rows_in_a_product(clear: tuple[object, object]) -> None:
    with pytest.raises(LeakError, match="ciphertexts only"):
        next(ask_rados_of(SealedSignatures(4, 6), *clear, TERMS))


def test_an_intermediary_refuses_a_key_that_is_too_small() -> None:
    intermediary = Pairing().asking(ask_rados(SealedSignatures(4, 6), TERMS))
    pair = Pairing(session=intermediary._inbox.session)
    intermediary.start()
    said = pair.answering(answer_rados(ROWS, SIGNS, TERMS, KEY)).start()
    with pytest.raises(ParameterError, match="2048"):
        intermediary.receive(said[0])


def test_rados_of_another_size_are_refused() -> None:
    with pytest.raises(InputError, match="4 of 6 examples"):
        next(ask_rados(SealedSignatures(4, 5), TERMS))
    with pytest.raises(InputError, match="must be 6 x 3"):
        next(answer_rados(ROWS[:, :2], SIGNS, TERMS, KEY))
    with pytest.raises(ParameterError, match=">= 1"):
        InteractiveTerms(0, 3, 4, 1.0)
    rows, _ = hidden_numbers(ROWS, 1.0, 30)
    labels = encrypt(SIGNS[:5], Outline((5,), 1).plan(KEY.public.bits), KEY)
    with pytest.raises(InputError, match="was agreed on"):
        next(ask_rados_of(SealedSignatures(4, 6), rows, labels, TERMS))


def test_an_inverse_under_another_key_is_not_answered() -> None:
    x, outline = hidden_numbers([1.0], 2.0, 10)
    other = insecure_key_for_tests(1024, number=1)
    plan = InversePlan(Outline((1, 1), outline.bound, 10), 2.0, 0.5, fraction_bits=20)
    with pytest.raises(InputError, match="another key"):
        run_together(ask_inverse(x.reshape(1, 1), plan), answer_inverse(plan, other))
