"""Learning from block rados: peers with different features, no matching, a chosen ridge."""

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce.learn.open.blocks import solved_blocks
from sottovoce.learn.rados.blocks import (
    BLOCK_PENALTIES,
    block_rados,
    local_trial_errors,
    peer_blocks,
)

Floats = NDArray[np.float64]
CHANCE = np.random.default_rng(0)
SHARED = CHANCE.integers(0, 4, (3000, 2)).astype(float)
HIDDEN = CHANCE.normal(size=(3000, 10)) + 0.3 * SHARED[:, :1]
SCORE = HIDDEN @ CHANCE.normal(size=10) + 0.8 * (SHARED[:, 0] - 1.5)
SIGNS = np.where(SCORE + CHANCE.normal(size=3000) / 2 > 0, 1.0, -1.0)
# Two peers, other people, other features: nothing to match.
FIRST = (SHARED[:1000], HIDDEN[:1000, :5], SIGNS[:1000])
SECOND = (SHARED[1000:2000], HIDDEN[1000:2000, 5:], SIGNS[1000:2000])
COLUMNS = ([0, 1, 2, 3, 4, 5, 6], [0, 1, 7, 8, 9, 10, 11])


def theta(penalty: float) -> Floats:
    return solved_blocks(block_rados([peer_blocks(*peer) for peer in (FIRST, SECOND)]), penalty)


def error(penalty: float) -> float:
    """On whole rows that no peer has seen."""
    rows = np.hstack([SHARED, HIDDEN])[2000:]
    return float(np.mean(np.where(rows @ theta(penalty) > 0, 1, -1) != SIGNS[2000:]))


def test_the_chosen_ridge_is_far_better_than_a_small_default() -> None:
    thetas = np.array([theta(penalty) for penalty in BLOCK_PENALTIES])
    errors = [
        local_trial_errors(thetas, columns, np.hstack(peer[:2]), peer[2])
        for columns, peer in zip(COLUMNS, (FIRST, SECOND), strict=True)
    ]
    chosen = BLOCK_PENALTIES[int(np.sum(errors, axis=0).argmin())]
    assert error(chosen) < 0.2
    assert error(0.01) > 0.4


def test_a_candidates_errors_are_the_rows_that_it_calls_wrong() -> None:
    rows, signs = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.0]]), np.array([1.0, -1.0, 1.0])
    thetas = np.array([[9.0, 1.0, 0.0], [9.0, -1.0, 5.0]])
    found = local_trial_errors(thetas, [1, 2], rows, signs)
    np.testing.assert_array_equal(found, [2, 1])  # a score of zero is no "yes"


def test_columns_must_be_those_of_the_rows() -> None:
    with pytest.raises(InputError, match="one place per feature"):
        local_trial_errors(np.ones((1, 12)), [0], FIRST[1], FIRST[2])
