"""Rados: their identities, and what refuses to leave its maker."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn.rados.rados import (
    RadoMaker,
    RadoMoments,
    SealedSignatures,
    all_signatures,
    loss_gradient,
    rademacher_observations,
    regularised_loss,
)

CHANCE = np.random.default_rng(5)
ROWS = CHANCE.normal(size=(9, 3))
SIGNS = CHANCE.choice([-1.0, 1.0], 9)


def test_a_rado_sums_the_rows_whose_signature_agrees_with_their_label() -> None:
    rows = np.array([[1.0, 0.0], [10.0, 1.0], [100.0, 0.0]])
    signs = np.array([1.0, -1.0, -1.0])
    signatures = np.array([[1, 1, 1], [-1, -1, -1], [-1, 1, -1]], np.int8)
    rados = rademacher_observations(rows, signs, signatures)
    np.testing.assert_array_equal(rados, [[1, 0], [-110, -1], [-100, 0]])


def test_all_signatures_are_all() -> None:
    signatures = all_signatures(4)
    assert signatures.shape == (16, 4)
    assert len({tuple(row) for row in signatures.tolist()}) == 16
    assert set(signatures.ravel().tolist()) == {-1, 1}
    for number in (0, 21):
        with pytest.raises(ParameterError):
            all_signatures(number)


def test_sampled_rados_scatter_about_the_mean_of_all() -> None:
    sampled = RadoMoments.from_rados(RadoMaker(ROWS, SIGNS).sample(20_000))
    mean, covariance = SIGNS @ ROWS / 2, ROWS.T @ ROWS / 4
    spread = np.sqrt(np.diag(covariance) / 20_000)
    assert (np.abs(sampled.mean - mean) < 5 * spread).all()
    np.testing.assert_allclose(sampled.covariance, covariance, atol=0.2)


def test_all_rados_come_in_an_order_that_does_not_tell_their_signatures() -> None:
    maker = RadoMaker(ROWS, SIGNS)
    listed = rademacher_observations(ROWS, SIGNS, all_signatures(9))
    first, second = maker.all(), maker.all()
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, listed)
    np.testing.assert_array_equal(np.sort(first, axis=0), np.sort(listed, axis=0))


def test_sealed_signatures_show_only_their_number() -> None:
    sealed = SealedSignatures(7, 9)
    assert repr(sealed) == "<7 sealed signatures of 9 examples>"
    shown = [name for name in dir(sealed) if not name.startswith("_")]
    assert shown == ["add_labels", "combine", "shape"]


@pytest.mark.parametrize("secret", [SealedSignatures(2, 3), RadoMaker(ROWS, SIGNS)])
@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_holds_a_secret_cannot_be_copied(
    secret: object, copied: Callable[[object], object]
) -> None:
    with pytest.raises(LeakError):
        copied(secret)


def test_a_maker_shows_neither_rows_nor_signatures() -> None:
    maker = RadoMaker(ROWS, SIGNS)
    assert repr(maker) == "<maker of rados from 9 examples>"
    public = {name for name in dir(maker) if not name.startswith("_")}
    assert public == {"sample", "all"}


@pytest.mark.parametrize("number", [0, -1])
def test_no_rados_are_refused(number: int) -> None:
    with pytest.raises(ParameterError, match="must be >= 1"):
        RadoMaker(ROWS, SIGNS).sample(number)
    with pytest.raises(ParameterError):
        SealedSignatures(number, 3)


@pytest.mark.parametrize(
    ("rows", "labels", "said"),
    [
        ([[np.nan]], [1], "finite"),
        ([[np.inf]], [1], "finite"),
        ([1.0], [1], "matrix"),
        (np.zeros((0, 2)), [], "none of them empty"),
        ([[1.0]], [0], "-1 or 1"),
        ([[1.0], [2.0]], [1], "one per row"),
    ],
)
def test_unusable_examples_are_refused(rows: object, labels: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        RadoMaker(rows, labels)  # type: ignore[arg-type] # that is the point


def test_the_loss_gradient_is_the_slope_of_the_loss() -> None:
    rados, theta = RadoMaker(ROWS, SIGNS).sample(20), np.array([0.3, -0.2, 0.1])
    weights, tiny = np.array([1.0, 2.0, 0.5]), 1e-6
    slope = [
        regularised_loss(theta + tiny * unit, rados, weights)
        - regularised_loss(theta - tiny * unit, rados, weights)
        for unit in np.eye(3)
    ]
    expected = np.array(slope) / (2 * tiny)
    np.testing.assert_allclose(loss_gradient(theta, rados, weights), expected, atol=1e-6)
