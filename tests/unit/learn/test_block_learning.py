"""Learning from block rados: peers with different features, no matching, a chosen ridge."""

import numpy as np
import pytest
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn._rados.blocks import (
    PeerBlocks,
    block_rados,
    block_trials,
    local_fold_blocks,
    local_trial_errors,
    peer_blocks,
    summed_blocks,
)
from sottovoce.learn._rados.learners import block_minimiser
from sottovoce.learn._rados.rados import RadoMoments
from sottovoce.learn._ridge import penalty_from_errors

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
FOLDS = np.arange(1000) % 5


def joint_blocks() -> list[list[PeerBlocks]]:
    return [local_fold_blocks(*peer, FOLDS, 5) for peer in (FIRST, SECOND)]


def error(penalty: float) -> float:
    """On whole rows that no peer has seen."""
    moments = RadoMoments.of(block_rados([summed_blocks(each) for each in joint_blocks()]))
    theta = block_minimiser(moments, np.full(12, penalty))
    rows = np.hstack([SHARED, HIDDEN])[2000:]
    return float(np.mean(np.where(rows @ theta > 0, 1, -1) != SIGNS[2000:]))


def test_the_chosen_ridge_is_far_better_than_a_small_default() -> None:
    trials = block_trials(joint_blocks())
    errors = [
        local_trial_errors(trials, columns, np.hstack(peer[:2]), peer[2], FOLDS)
        for columns, peer in zip(COLUMNS, (FIRST, SECOND), strict=True)
    ]
    chosen = penalty_from_errors(trials, np.sum(errors, axis=0))
    assert chosen.penalty == 1000.0
    assert error(chosen.penalty) < 0.1
    assert error(0.01) > 0.4


def test_trials_leave_one_fold_out() -> None:
    trials = block_trials(joint_blocks(), penalties=[10.0])
    parts = [summed_blocks(peer[1:]) for peer in joint_blocks()]
    moments = RadoMoments.of(block_rados(parts))
    np.testing.assert_allclose(trials[10.0, 0], block_minimiser(moments, np.full(12, 10.0)))


def test_a_block_that_is_small_in_a_fold_does_not_leave_in_that_fold() -> None:
    shared, own = np.zeros((12, 1)), np.arange(12.0)[:, None]
    folds = np.array([0] * 9 + [1] * 3)
    first, second = local_fold_blocks(shared, own, np.ones(12), folds, 2)
    assert set(first.sums) == {((0.0,), 1)}
    assert not second.sums
    # Made of the parts, the whole does not show the three rows by subtraction.
    whole = summed_blocks([first, second])
    assert whole.sums[(0.0,), 1][0] == own[:9].sum()
    assert peer_blocks(shared, own, np.ones(12)).sums[(0.0,), 1][0] == own.sum()
    empty = local_fold_blocks(shared, own, np.ones(12), np.zeros(12, int), 2)[1]
    assert (empty.width, empty.shared_width, empty.sums) == (1, 1, {})


def test_bad_folds_columns_and_candidates_are_refused() -> None:
    with pytest.raises(InputError, match="folds must be"):
        local_fold_blocks(*FIRST, FOLDS, 4)
    with pytest.raises(InputError, match="folds must be"):
        local_fold_blocks(*FIRST, np.zeros(1000, int), 1)
    for penalties in ([], [0.0]):
        with pytest.raises(ParameterError, match="penalties"):
            block_trials(joint_blocks(), penalties=penalties)
    trials = block_trials(joint_blocks(), penalties=[1.0])
    with pytest.raises(InputError, match="one place per feature"):
        local_trial_errors(trials, [0], FIRST[1], FIRST[2], FOLDS)
