"""Basic block rados: peers with different features and no matching of entities.

The ridge is chosen by the peers' own rows. Nobody has a whole row of a peer's entity beyond that
peer's own features, so each peer judges a classifier by the part of it that its own features meet,
and the errors are added up. The rows are those that the blocks sum up: a classifier of a few sums
of many rows fits none of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import checked_rows, checked_signs

SMALLEST_BLOCK = 5
OneRowBlocks: TypeAlias = Literal["a block of one row is a record"]
ONE_ROW_BLOCKS: OneRowBlocks = "a block of one row is a record"
BlockName: TypeAlias = tuple[tuple[float, ...], int]


@dataclass(frozen=True, repr=False)
class PeerBlocks:
    """One peer's part of the blocks: for each shared value and label, its rows' sum of y x.

    Attributes:
        width: how many features of its own the peer has.
        sums: the sums by block; only blocks of at least ``smallest`` rows.
        shared_width: how many features all peers have.
    """

    width: int
    shared_width: int
    sums: Mapping[BlockName, Floats]


def peer_blocks(
    shared: ArrayLike,
    own: ArrayLike,
    labels: ArrayLike,
    *,
    smallest: int = SMALLEST_BLOCK,
    override: OneRowBlocks | None = None,
) -> PeerBlocks:
    """Sum y x over the rows of each block (shared features s, label y).

    A block of one row is a record, and a small one nearly so: blocks of fewer rows than
    ``smallest`` never leave the peer, and fewer than five take the override by its name.
    """
    if smallest < SMALLEST_BLOCK and override != ONE_ROW_BLOCKS:
        raise LeakError(
            f"blocks must have at least {SMALLEST_BLOCK} rows, got smallest={smallest}; "
            f'pass override="{ONE_ROW_BLOCKS}" to accept that.'
        )
    values, rows = checked_rows(shared), checked_rows(own)
    if len(values) != len(rows):
        raise InputError(
            f"shared and own features must have as many rows, got {len(values)} and {len(rows)}."
        )
    signs = checked_signs(labels, len(rows))
    return PeerBlocks(rows.shape[1], values.shape[1], _sums(values, rows, signs, smallest))


def block_rados(peers: Sequence[PeerBlocks], *, alpha: float = 1.0) -> Floats:
    """Basic block rados: each peer's sums side by side, and alpha y s once for all.

    Private Text Classification, Definition 3 (eq. 5). A block that some peer lacks, or holds too
    few rows of, is left out: its rado would pretend that peer's features to be zero.
    """
    if not np.isfinite(alpha):
        raise ParameterError(f"alpha must be finite, got {alpha}.")
    if len({peer.shared_width for peer in peers}) != 1:
        raise InputError("peers must agree on the shared features; give each the same columns.")
    common = sorted(set.intersection(*(set(peer.sums) for peer in peers)))
    if not common:
        raise InputError("no block is large enough at every peer; share fewer or coarser features.")
    return np.array([_block_rado(name, peers, alpha) for name in common])


def _block_rado(name: BlockName, peers: Sequence[PeerBlocks], alpha: float) -> Floats:
    values, sign = name
    return np.concatenate([alpha * sign * np.array(values), *(peer.sums[name] for peer in peers)])


def _sums(values: Floats, rows: Floats, signs: Floats, smallest: int) -> dict[BlockName, Floats]:
    keys, block, sizes = _blocks(np.column_stack([values, signs]))
    totals = np.zeros((len(keys), rows.shape[1]))
    np.add.at(totals, block, signs[:, None] * rows)
    return {
        (tuple(key[:-1].tolist()), int(key[-1])): total
        for key, total, size in zip(keys, totals, sizes, strict=True)
        if size >= smallest
    }


def _blocks(keys: Floats) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    found, block, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    return found, block.reshape(-1), sizes


# The second moment of block rados grows with the square of the blocks' size, and so must these.
BLOCK_PENALTIES = tuple(float(penalty) for penalty in np.logspace(-2, 6, 9))


def local_trial_errors(
    thetas: Floats, columns: ArrayLike, rows: ArrayLike, labels: ArrayLike
) -> Floats:
    """One peer's summand: how many of its rows each candidate calls wrong.

    ``columns`` says which of a classifier's numbers belong to the peer's columns: those of the
    shared features, then its own.
    """
    x, places = checked_rows(rows), np.asarray(columns, np.intp)
    if places.shape != (x.shape[1],):
        raise InputError(f"columns must be one place per feature, {x.shape[1]} of them.")
    signs = np.where(x @ thetas[:, places].T > 0, 1, -1)
    errors: Floats = np.sum(checked_signs(labels, len(x)) != signs.T, axis=1, dtype=np.float64)
    return errors
