"""Secure sums (SM.ADD of Private Text Classification): the sum is learned, no summand is."""

from sottovoce.learn.sums.fixed import FixedPoint, Ring
from sottovoce.learn.sums.in_process import SummedUp, Way, secure_total
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.sums.mask_peer import MaskPeer
from sottovoce.learn.sums.mask_server import MaskServer
from sottovoce.learn.sums.masking import MaskedSum
from sottovoce.learn.sums.ring import RingPeer
from sottovoce.learn.sums.rules import ALLOW_TWO, AllowTwo

__all__ = [
    "ALLOW_TWO",
    "AllowTwo",
    "FixedPoint",
    "Identity",
    "MaskPeer",
    "MaskServer",
    "MaskedSum",
    "Ring",
    "RingPeer",
    "SummedUp",
    "Way",
    "secure_total",
]
