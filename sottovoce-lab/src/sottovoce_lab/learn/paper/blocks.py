"""Training without entity matching: peers with different features, joined by basic block rados.

All peers share some features, and each has more of its own. Blocks are rows with equal shared
features and label; of each block with at least five rows a peer gives the sum of y x over its own
features. Side by side these are the rados, and eq. 14 follows. The coordinator sees each peer's
sums over blocks, in which a word that one row uses stands as it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn.rados.learners import block_minimiser
from sottovoce.learn.rados.rados import RadoMoments
from sottovoce.learn.sums.fixed import FixedPoint
from sottovoce_lab.learn.paper.printed import add_round_ring

SMALLEST_BLOCK = 5  # a block of one row is a record, and a small one nearly so
# The second moment of block rados grows with the square of the blocks' size, and so must these.
BLOCK_PENALTIES = tuple(float(penalty) for penalty in np.logspace(-2, 6, 9))
BlockName: TypeAlias = tuple[tuple[float, ...], int]
_LARGEST_SUM, _PLACES = 2.0**24, 30


@dataclass(frozen=True, repr=False)
class BlockPeer:
    """One peer's rows: features that all peers have, its own, and labels of -1 and 1."""

    shared: Floats
    own: Floats
    signs: Floats

    @cached_property
    def sums(self) -> dict[BlockName, Floats]:
        """The sum of y x of each large block: rows of equal shared features s and label y."""
        keys, block, sizes = np.unique(
            np.column_stack([self.shared, self.signs]),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        totals = np.zeros((len(keys), self.own.shape[1]))
        np.add.at(totals, block.reshape(-1), self.signs[:, None] * self.own)
        return {
            (tuple(key[:-1].tolist()), int(key[-1])): total
            for key, total, size in zip(keys, totals, sizes, strict=True)
            if size >= SMALLEST_BLOCK
        }


class BlockClassifier(NamedTuple):
    """Theta of the shared features and then each peer's own, and the penalty it was solved with."""

    theta: Floats
    penalty: float


def block_rados(peers: Sequence[BlockPeer], *, alpha: float = 1.0) -> Floats:
    """Basic block rados: each peer's sums side by side, and alpha y s once for all.

    Private Text Classification, Definition 3 (eq. 5). Peers lift their sums into their own places,
    zero elsewhere, and S.ADD joins them. A block that some peer lacks, or holds too few rows of, is
    left out: its rado would pretend that peer's features to be zero.
    """
    if len({peer.shared.shape[1] for peer in peers}) != 1:
        raise InputError("peers must agree on the shared features; give each the same columns.")
    common = sorted(set.intersection(*(set(peer.sums) for peer in peers)))
    if not common:
        raise InputError("no block is large enough at every peer; share fewer or coarser features.")
    numbers = FixedPoint(_LARGEST_SUM, len(peers), _PLACES)
    lifted = [numbers.encode(lift(peers, at, common)).ravel() for at in range(len(peers))]
    sums = numbers.decode(add_round_ring(lifted).total).reshape(len(common), -1)
    shared = np.array([alpha * sign * np.array(values) for values, sign in common])
    return np.hstack([shared, sums])


def lift(peers: Sequence[BlockPeer], at: int, blocks: Sequence[BlockName]) -> Floats:
    """A peer's summand: its sums in its own places, zero elsewhere.

    Private Text Classification, Definition 3: lift.
    """
    parts = [np.zeros((len(blocks), peer.own.shape[1])) for peer in peers]
    parts[at] = np.array([peers[at].sums[name] for name in blocks])
    return np.hstack(parts)


def train_on_blocks(peers: Sequence[BlockPeer], penalty: float | None = None) -> BlockClassifier:
    """Theta by eq. 14; None chooses the penalty whose theta calls the fewest own rows wrong.

    Private Text Classification, Protocol 2 with Definition 3. Nobody has a whole row, so each peer
    judges a classifier by the part of it that its own features meet.
    """
    rados = block_rados(peers)
    if penalty is not None:
        return BlockClassifier(solve_blocks(rados, penalty), penalty)
    thetas = np.array([solve_blocks(rados, each) for each in BLOCK_PENALTIES])
    errors = sum(count_errors(peers, at, thetas) for at in range(len(peers)))
    best = int(np.argmin(errors))
    return BlockClassifier(thetas[best], BLOCK_PENALTIES[best])


def solve_blocks(rados: Floats, penalty: float) -> Floats:
    """Theta from rados, the columns of B: (B B' + n lambda I)^-1 B 1 (eq. 14)."""
    moments = RadoMoments.from_rados(rados)
    return block_minimiser(moments, np.full(moments.width, penalty))


def count_errors(peers: Sequence[BlockPeer], at: int, thetas: Floats) -> Floats:
    """How many of one peer's rows each candidate calls wrong."""
    shared, widths = peers[at].shared.shape[1], [peer.own.shape[1] for peer in peers]
    start = shared + sum(widths[:at])
    own = thetas[:, np.r_[:shared, start : start + widths[at]]]
    rows = np.hstack([peers[at].shared, peers[at].own])
    called = np.where(rows @ own.T > 0, 1, -1)
    errors: Floats = np.sum(called != peers[at].signs[:, None], axis=0, dtype=np.float64)
    return errors
