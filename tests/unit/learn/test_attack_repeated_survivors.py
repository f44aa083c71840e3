"""A lying mask server names a survivor twice, so that a list of two peers counts as three.

A peer that counted the list signed it. The missing third signature stopped the sum later; now the
list itself is refused.
"""

import numpy as np
import pytest

from sottovoce.errors import DisagreementError
from sottovoce.learn.sums import masked_sum as masks
from sottovoce.learn.sums.keys import Identity, MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message, new_session

NAMES = ("ada", "ben", "cy")


class LyingServer(MaskServer):
    """Says that two of three peers are left, and one of them twice."""

    def _message(self, receiver: str, step: int, kind: str, payload: object) -> Message:
        told = {"names": ("ada", "ada", "ben")} if step == masks.SURVIVORS else payload
        return super()._message(receiver, step, kind, told)  # type: ignore[arg-type] # as there


def test_a_survivor_that_is_named_twice_is_refused() -> None:
    identities = {name: Identity() for name in NAMES}
    public = {name: identity.public for name, identity in identities.items()}
    terms = MaskedSum(new_session(), "server", public, 1)
    peers = [MaskPeer(name, terms, identities[name], np.ones(1, np.uint64)) for name in NAMES]
    with pytest.raises(DisagreementError, match="survivors must be named once each"):
        Exchange([LyingServer(terms), *peers]).run()
    assert all(peer.survivors == () for peer in peers)
