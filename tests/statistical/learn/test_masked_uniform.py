"""What leaves a peer looks uniform; a mask cut short does not."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chisquare
from sottovoce_lab.learn.paper import printed

from sottovoce.learn.sums import fixed, keys, masked_sum
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import Identity, MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import new_session

SIZE = 100_000
NAMES = ["a", "b", "c"]


def ring_vector() -> Ring:
    return printed.add_round_ring([np.full(SIZE, 7, np.uint64)] * 3).handed[0]


def masked_vector() -> Ring:
    identities = {name: Identity() for name in NAMES}
    public = {name: identity.public for name, identity in identities.items()}
    terms = MaskedSum(new_session(), "server", public, SIZE)
    summand = np.full(SIZE, 7, np.uint64)
    peers = [MaskPeer(name, terms, identities[name], summand) for name in NAMES]
    exchange = Exchange([MaskServer(terms), *peers])
    exchange.run()
    return next(m for m in exchange.views["server"] if m.kind == "masked").array("vector", "<u8")


def smallest_p_value(vector: Ring) -> float:
    """Over the eight bytes of the words, a chi-square test of each being uniform."""
    columns = vector.view(np.uint8).reshape(-1, 8).T
    return 8 * min(chisquare(np.bincount(column, minlength=256)).pvalue for column in columns)


@pytest.mark.parametrize("vector", [ring_vector, masked_vector])
def test_what_leaves_a_peer_is_uniform(vector: Callable[[], Ring]) -> None:
    assert smallest_p_value(vector()) > 1e-6


def short(mask: Callable[..., Ring]) -> Callable[..., Ring]:
    return lambda *given: mask(*given) & np.uint64(255)


def test_a_ring_offset_cut_to_eight_bits_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "uniform", short(fixed.uniform))
    assert smallest_p_value(ring_vector()) < 1e-12


def test_masks_cut_to_eight_bits_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "expand_key", short(fixed.expand_key))
    assert smallest_p_value(masked_vector()) < 1e-12


def test_a_peer_without_masks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = np.zeros(SIZE, np.uint64)
    monkeypatch.setattr(masked_sum, "pair_mask", lambda *given: nothing)
    monkeypatch.setattr(masked_sum, "self_mask", lambda *given: nothing)
    assert smallest_p_value(masked_vector()) < 1e-12
