"""What holds of all rados of any small set of examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sottovoce_lab.learn.paper.solvers import m_loss, m_loss_gradient

from sottovoce.learn.rados.rados import (
    RadoMaker,
    RadoMoments,
    block_minimiser,
    boosting_rounds,
    confidence_weights,
    log_exponential_loss,
    m_loss_minimiser,
)

Floats = NDArray[np.float64]


@st.composite
def examples(draw: st.DrawFn, rows: int | None = None) -> tuple[Floats, Floats]:
    m, d = rows or draw(st.integers(1, 10)), draw(st.integers(1, 5))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    return chance.normal(size=(m, d)), chance.choice([-1.0, 1.0], m)


def ridge(rows: Floats, signs: Floats, penalty: float, weights: Floats) -> Floats:
    """The minimiser of (1/m) sum (y - theta'x)^2 + lambda theta' Gamma theta, by least squares."""
    stacked = np.vstack([rows, np.diag(np.sqrt(len(rows) * penalty * weights))])
    target = np.concatenate([signs, np.zeros(weights.size)])
    theta: Floats = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return theta


@given(examples())
def test_mean_and_covariance_of_all_rados(case: tuple[Floats, Floats]) -> None:
    rows, signs = case
    moments = RadoMoments.from_rados(RadoMaker(rows, signs).all())
    np.testing.assert_allclose(moments.mean, signs @ rows / 2, atol=1e-10)
    np.testing.assert_allclose(moments.covariance, rows.T @ rows / 4, atol=1e-9)


@given(examples(), st.floats(-3, 3))
def test_the_logistic_loss_is_a_function_of_the_exponential_rado_loss(
    case: tuple[Floats, Floats], scale: float
) -> None:
    rows, signs = case
    theta = scale * np.linspace(-1, 1, rows.shape[1])
    over_rados = log_exponential_loss(theta, RadoMaker(rows, signs).all())
    expected = np.logaddexp(0.0, -signs * (rows @ theta)).mean()
    assert np.log(2) + over_rados / len(rows) == pytest.approx(expected, abs=1e-10)


@given(examples(rows=12), st.floats(0.01, 10), st.floats(0.001, 1))
@settings(max_examples=25)
def test_the_m_loss_over_all_rados_is_minimised_by_twice_ridge(
    case: tuple[Floats, Floats], penalty: float, epsilon: float
) -> None:
    rows, signs = case
    moments = RadoMoments.from_rados(RadoMaker(rows, signs).all())
    weights = confidence_weights(rows.shape[1], low_confidence=[0], epsilon=epsilon)
    theta = m_loss_minimiser(moments, 12, weights, penalty=penalty)
    np.testing.assert_allclose(theta, 2 * ridge(rows, signs, penalty, weights), atol=1e-8)


@given(examples(rows=8), st.floats(0.1, 10))
def test_no_neighbour_of_the_minimiser_has_a_smaller_m_loss(
    case: tuple[Floats, Floats], penalty: float
) -> None:
    rows, signs = case
    moments = RadoMoments.from_rados(RadoMaker(rows, signs).sample(40))
    weights = np.ones(rows.shape[1])
    theta = m_loss_minimiser(moments, 8, weights, penalty=penalty)
    slope = m_loss_gradient(theta, moments, 8, weights, penalty=penalty)
    np.testing.assert_allclose(slope, 0, atol=1e-9)
    least = m_loss(theta, moments, 8, weights, penalty=penalty)
    for step in (*np.eye(rows.shape[1]), *-np.eye(rows.shape[1])):
        assert m_loss(theta + 0.01 * step, moments, 8, weights, penalty=penalty) > least


@given(examples(rows=8))
def test_equation_14_points_where_the_covariance_form_does(case: tuple[Floats, Floats]) -> None:
    rows, signs = case
    moments = RadoMoments.from_rados(RadoMaker(rows, signs).sample(40))
    weights = np.ones(rows.shape[1])
    printed = block_minimiser(moments, weights)
    covariance = np.linalg.solve(moments.covariance + np.eye(rows.shape[1]), moments.mean)
    np.testing.assert_allclose(
        printed / np.linalg.norm(printed), covariance / np.linalg.norm(covariance), atol=1e-9
    )


@given(examples(), st.integers(1, 60))
@settings(max_examples=50)
def test_the_weights_of_boosting_stay_a_distribution(
    case: tuple[Floats, Floats], rounds: int
) -> None:
    rados = RadoMaker(*case).sample(30)
    for done in boosting_rounds(rados, rounds):
        assert done.weights.min() >= 0
        assert done.weights.sum() == pytest.approx(1, abs=1e-12)
