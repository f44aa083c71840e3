"""The choice of the ridge for block rados, by the peers' own held-out rows.

Nobody has a whole row of a peer's entity beyond that peer's own features, so each peer judges a
classifier by the part of it that its own features meet, and the errors are added up.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats, checked_rows, checked_signs
from sottovoce.learn.learners.mloss import block_minimiser
from sottovoce.learn.learners.support import checked_folds
from sottovoce.learn.rados.blocks import PeerBlocks, block_rados, peer_blocks, summed_blocks
from sottovoce.learn.rados.moments import RadoMoments

# The second moment of block rados grows with the square of the blocks' size, and so must these.
BLOCK_PENALTIES = tuple(float(penalty) for penalty in np.logspace(-2, 6, 9))
Trials = Mapping[tuple[float, int], Floats]


def local_fold_blocks(
    shared: ArrayLike, own: ArrayLike, labels: ArrayLike, folds: ArrayLike, number: int
) -> list[PeerBlocks]:
    """One peer's blocks of each fold; those of fewer than five rows of a fold are left out.

    The blocks without a fold are sums of these, and so is the final set (`summed_blocks`): from
    anything else the left-out rows would follow by subtraction.
    """
    values, rows = checked_rows(shared), checked_rows(own)
    signs, fold = checked_signs(labels, len(rows)), checked_folds(folds, len(rows), number)
    parts = [fold == k for k in range(number)]
    return [
        peer_blocks(values[part], rows[part], signs[part])
        if part.any()
        else _no_blocks(values, rows)
        for part in parts
    ]


def _no_blocks(values: Floats, rows: Floats) -> PeerBlocks:
    return PeerBlocks(rows.shape[1], values.shape[1], {})


def block_trials(
    peers: Sequence[Sequence[PeerBlocks]],
    *,
    alpha: float = 1.0,
    penalties: Sequence[float] = BLOCK_PENALTIES,
) -> Trials:
    """The classifier of every candidate without each fold, from all peers' blocks (eq. 14)."""
    if not penalties or min(penalties) <= 0:
        raise ParameterError("penalties must hold at least one candidate, all > 0.")
    number = len(peers[0])
    moments = [
        RadoMoments.of(block_rados([_without(blocks, k) for blocks in peers], alpha=alpha))
        for k in range(number)
    ]
    return {
        (penalty, k): block_minimiser(each, np.full(each.width, penalty))
        for penalty in penalties
        for k, each in enumerate(moments)
    }


def local_trial_errors(
    trials: Trials,
    columns: ArrayLike,
    rows: ArrayLike,
    labels: ArrayLike,
    folds: ArrayLike,
) -> Floats:
    """One peer's summand: its rows, then each trial's errors on its held-out rows.

    ``columns`` says which of the classifier's numbers belong to the peer's columns: those of the
    shared features, then its own. `penalty_from_errors` takes the sum over the peers.
    """
    x, places = checked_rows(rows), np.asarray(columns, np.intp)
    if places.shape != (x.shape[1],):
        raise InputError(f"columns must be one place per feature, {x.shape[1]} of them.")
    y = checked_signs(labels, len(x))
    fold = np.asarray(folds)
    errors = [
        np.count_nonzero(np.where(x[fold == k] @ theta[places] > 0, 1, -1) != y[fold == k])
        for (_, k), theta in trials.items()
    ]
    return np.array([len(x), *errors], np.float64)


def _without(folds: Sequence[PeerBlocks], left_out: int) -> PeerBlocks:
    return summed_blocks([blocks for k, blocks in enumerate(folds) if k != left_out])
