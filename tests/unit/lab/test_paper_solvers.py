"""The paper's arithmetic, solvers and rados between two parties give what plain ones give."""

import math
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sottovoce_lab.learn.paper.solvers import Descent, make_rados, solve_rados
from sottovoce_lab.learn.paper.two_parties import TwoParties, newton_steps, rounded_exponential
from support.paillier_keys import insecure_key_for_tests
from support.secure_arithmetic import WIDE_KEY

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn import LeakError
from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.rados.rados import SealedSignatures, descend, log_exponential_loss

if TYPE_CHECKING:
    from collections.abc import Callable

CHANCE = np.random.default_rng(3)
FEW = settings(max_examples=8, deadline=None)
NUMBERS = st.lists(st.floats(-9, 9) | st.sampled_from([0.0, 9.0, -9.0]), min_size=6, max_size=6)


@pytest.fixture
def parties() -> TwoParties:
    return TwoParties(WIDE_KEY)


def rounded(values: Floats, places: int) -> Floats:
    return np.ldexp(np.rint(np.ldexp(values, places)), -places)


@FEW
@given(NUMBERS, NUMBERS)
def test_secure_products_are_the_plain_ones(left: list[float], right: list[float]) -> None:
    parties = TwoParties(WIDE_KEY)
    x, y = rounded(np.array(left), 10), rounded(np.array(right), 12)
    a, b = parties.encrypt(x, 9.0, 10), parties.encrypt(y, 9.0, 12)
    for found, plain in (
        (parties.multiply(a, b), x * y),
        (parties.inner_product(a, b), x @ y),
        (parties.outer_product(a, b), np.outer(x, y)),
        (parties.matmul(a.reshape(2, 3), b.reshape(3, 2)), x.reshape(2, 3) @ y.reshape(3, 2)),
    ):
        np.testing.assert_array_equal(parties.decrypt(found), plain)
        assert found.fraction_bits == 22


@FEW
@given(NUMBERS, st.integers(1, 20))
def test_a_rescaled_number_is_within_a_unit_of_its_last_place(
    numbers: list[float], dropped: int
) -> None:
    parties = TwoParties(WIDE_KEY)
    found = parties.rescale(parties.encrypt(numbers, 9.0, 20), dropped)
    assert found.fraction_bits == 20 - dropped
    off = np.abs(parties.decrypt(found) - rounded(np.array(numbers), 20))
    assert off.max() < 2.0 ** (dropped - 20)


@FEW
@given(st.lists(st.floats(-6, 6) | st.sampled_from([0.0, 6.0, -6.0]), min_size=1, max_size=6))
def test_an_exponential_is_within_two_units_of_its_last_place(exponents: list[float]) -> None:
    parties = TwoParties(WIDE_KEY)
    found = parties.exponentiate(parties.encrypt(exponents, 6.0, 24), 30)
    units = decrypt_integers(found, WIDE_KEY).astype(np.float64)
    exact = np.exp(rounded(np.array(exponents), 24)) * 2.0**30
    assert np.abs(units - exact).max() < 1.5


@pytest.mark.parametrize("exponent", [-(40 << 20), -1, 0, 1, 12345678, 20 << 20])
def test_exponentials_are_rounded_from_enough_digits(exponent: int) -> None:
    with localcontext(prec=200):
        exact = (Decimal(exponent) / 2**20).exp() * 2**200
        assert abs(rounded_exponential(exponent, 20, 200) - exact) <= 0.5


def test_a_logarithm_is_within_units_of_its_last_place(parties: TwoParties) -> None:
    numbers = np.array([[0.125, 1.0], [7.9, 8.0]])
    found = parties.take_logarithm(parties.encrypt(numbers, 8.0, 40), 0.125, 16)
    assert np.abs(parties.decrypt(found) - np.log(numbers)).max() < 3 * 2.0**-16


def ridge_matrix(size: int) -> Floats:
    rows = CHANCE.normal(size=(30, size))
    matrix: Floats = rows.T @ rows / 30 + 0.1 * np.eye(size)
    return rounded(matrix, 30)


@pytest.mark.parametrize("size", [1, 2])
def test_newton_gives_the_inverse_and_solves(parties: TwoParties, size: int) -> None:
    matrix, column = ridge_matrix(size), rounded(CHANCE.normal(size=size), 30)
    a, b = parties.encrypt(matrix, 4.0, 30), parties.encrypt(column, 4.0, 30)
    exact = np.linalg.inv(matrix)
    found = parties.decrypt(parties.invert(a, 4.0 * size, 0.1))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-9 * np.abs(exact).max() + 2.0**-34)
    solution = parties.decrypt(parties.solve(a, b, 4.0 * size, 0.1))
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, column), rtol=0, atol=1e-7)


def test_too_few_steps_do_not_reach_the_inverse(parties: TwoParties) -> None:
    """So that the test above can fail: one bit less of the trace over the eigenvalue is missed."""
    assert newton_steps(8.0, 0.1, 0.5) == math.ceil(math.log2(math.log(2) * 80))
    found = parties.invert(parties.encrypt(np.diag([0.1, 4.0]), 4.0, 30), 8.0, 0.1, tolerance=0.5)
    assert 1e-4 < abs(parties.decrypt(found)[0, 0] - 10) / 10 <= 0.5


def test_the_key_holder_sees_numbers_under_fresh_masks(parties: TwoParties) -> None:
    hidden = parties.encrypt([1.0, -1.0], 1.0, 20)
    for _ in range(2):
        parties.rescale(hidden, 4)
    first, again = (view.ravel().tolist() for view in parties.views)
    assert min(abs(x - y) for x, y in zip(first, again, strict=True)) > 1 << 40
    assert parties.traffic.rounds == 4
    assert parties.traffic.bytes > 4 * WIDE_KEY.public.ciphertext_bytes


def test_what_makes_no_sense_is_refused(parties: TwoParties) -> None:
    pair, square = parties.encrypt([1.0, 2.0], 256.0, 10), parties.encrypt(np.eye(2), 2.0, 10)
    refused: dict[str, Callable[[], object]] = {
        "scale them": lambda: parties.exponentiate(pair, 10),
        "smallest number": lambda: parties.take_logarithm(pair, 0.0, 10),
        "at most the bound": lambda: parties.take_logarithm(pair, 257.0, 10),
        "square matrices": lambda: parties.invert(pair, 1.0, 0.5),
        "0 < smallest": lambda: parties.invert(square, 1.0, 2.0),
        "cannot be dropped": lambda: parties.rescale(pair, 11),
        "do not fit": lambda: parties.matmul(square, pair),
        "positive definite": lambda: solve_rados(parties, square, np.array([0.1, 0.0])),
        "steps must be": lambda: Descent(norm=1.0, steps=0),
        "norm and weight": lambda: Descent(norm=0.0),
        "longer key": lambda: parties.multiply(*[parties.encrypt([1.0], 2.0**500, 0)] * 2),
    }
    for reason, attempt in refused.items():
        with pytest.raises(ParameterError, match=reason):
            attempt()
    with pytest.raises(ParameterError, match="do not fit"):
        parties.multiply(pair, square)
    with pytest.raises(InputError, match="another key"):
        parties.rescale(TwoParties(insecure_key_for_tests(1024, 1)).encrypt([1.0], 2.0, 9), 1)


def small_rados(count: int, features: int = 3) -> Floats:
    rows = np.random.default_rng(4).normal((0.6, -0.2, 0.0)[:features], size=(count, features))
    rados: Floats = rows / np.linalg.norm(rows, axis=1).max()
    return rados


def test_a_secure_descent_is_the_plain_one_and_predicts_the_same(parties: TwoParties) -> None:
    rados, descent = small_rados(3, 2), Descent(norm=1.0, weight=0.5, steps=7)
    hidden = descent.encrypt(parties, rados)
    sealed = descent.run(parties, hidden)
    theta = parties.decrypt(sealed)
    np.testing.assert_allclose(theta, descent.run_in_clear(rados), rtol=0, atol=1e-7)
    twin = descend(rados, np.full(2, 0.5)).theta
    assert np.abs(theta - twin).max() < 1e-3
    queries = CHANCE.normal(size=(500, 2))
    assert ((queries @ theta > 0) == (queries @ twin > 0)).mean() > 0.995
    loss = parties.decrypt(descent.log_loss(parties, hidden, sealed))
    assert abs(loss - log_exponential_loss(theta, rados)) < 1e-7


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_bounds_of_a_descent_hold_on_the_way(scale: float) -> None:
    rados = small_rados(8) * scale
    rados[:] = rados[0]  # all alike: theta grows as far as it can
    for steps in range(1, 40):
        descent = Descent(norm=scale, weight=0.5, steps=steps)
        theta = descent.run_in_clear(rados)
        assert np.linalg.norm(theta) <= descent.largest_theta
        assert np.abs(rados @ theta).max() <= descent.largest_score
        assert np.exp(-rados @ theta).sum() >= descent.smallest_sum(8)


def test_the_secure_rado_solver_gives_eq_14(parties: TwoParties) -> None:
    weights = np.array([0.2, 0.3, 0.2])
    b = rounded(np.random.default_rng(7).normal(0, 0.25, (3, 6)).clip(-1, 1), 16)
    plain = np.linalg.solve(b @ b.T + 6 * np.diag(weights), b.sum(axis=1))
    found = parties.decrypt(solve_rados(parties, parties.encrypt(b, 1.0, 16), weights))
    np.testing.assert_allclose(found, plain, atol=1e-8)
    # As printed, "first row of V B": not eq. 14.
    printed = (np.linalg.inv(b @ b.T + 6 * np.diag(weights)) @ b)[0]
    assert printed.shape != plain.shape


ROWS = rounded(CHANCE.uniform(-1, 1, (6, 3)), 30)
SIGNS = CHANCE.choice([-1.0, 1.0], 6)


def test_rados_by_a_secure_product_are_the_plain_ones(parties: TwoParties) -> None:
    signatures = SealedSignatures(4, 6)
    rows, labels = parties.encrypt(ROWS, 1.0, 30), parties.encrypt(SIGNS, 1.0, 0)
    rados = make_rados(parties, signatures, rows, labels)
    expected = (signatures._signatures + SIGNS) @ ROWS / 2
    np.testing.assert_array_equal(parties.decrypt(rados), expected)


def test_signatures_meet_ciphertexts_of_their_examples_only(parties: TwoParties) -> None:
    rows, labels = parties.encrypt(ROWS, 1.0, 30), parties.encrypt(SIGNS, 1.0, 0)
    for clear in ((ROWS, SIGNS), (rows, SIGNS), (ROWS, labels)):
        with pytest.raises(LeakError, match="ciphertexts only"):
            make_rados(parties, SealedSignatures(4, 6), *clear)
    with pytest.raises(InputError, match="6 examples"):
        make_rados(parties, SealedSignatures(4, 5), rows, labels)
