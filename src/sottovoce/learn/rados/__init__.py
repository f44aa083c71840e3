"""Rademacher observations: irreversible sums of examples to learn from."""

from sottovoce.learn.examples import LeakError
from sottovoce.learn.rados.blocks import (
    ONE_ROW_BLOCKS,
    PeerBlocks,
    block_rados,
    peer_blocks,
    summed_blocks,
)
from sottovoce.learn.rados.maker import PAPER_MODE, PaperRados, RadoMaker, SealedSignatures
from sottovoce.learn.rados.moments import RadoMoments, summed_moments

__all__ = [
    "ONE_ROW_BLOCKS",
    "PAPER_MODE",
    "LeakError",
    "PaperRados",
    "PeerBlocks",
    "RadoMaker",
    "RadoMoments",
    "SealedSignatures",
    "block_rados",
    "peer_blocks",
    "summed_blocks",
    "summed_moments",
]
