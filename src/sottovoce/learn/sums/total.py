"""A whole secure sum in one process: for learning how it behaves, for studies and for benches."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, StalledError, check_choice
from sottovoce.learn.sums.fixed import AllowTwo, FixedPoint, Ring, checked_parties
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.sums.mask_peer import MaskPeer
from sottovoce.learn.sums.masked_sum import MaskedSum, MaskServer
from sottovoce.learn.sums.ring import RingPeer
from sottovoce.learn.wire.exchange import Exchange, Faults, Traffic
from sottovoce.learn.wire.machine import Party
from sottovoce.learn.wire.message import new_session

Way: TypeAlias = Literal["ring", "masks"]
Summands: TypeAlias = Mapping[str, Ring]


@dataclass(frozen=True)
class SummedUp:
    """A sum, over whom it runs, and what it cost on the wire."""

    total: Floats
    survivors: tuple[str, ...]
    traffic: Traffic


def secure_total(
    summands: Mapping[str, ArrayLike],
    *,
    bound: float,
    fraction_bits: int = 30,
    way: Way = "masks",
    faults: Faults | None = None,
    allow_two: AllowTwo | None = None,
) -> SummedUp:
    """The sum of the peers' vectors, each value at most ``bound`` in size, by either way."""
    check_choice("way", way, _WAYS)
    vectors = {name: np.asarray(values, np.float64).ravel() for name, values in summands.items()}
    if len({vector.size for vector in vectors.values()}) > 1:
        raise InputError("peers must agree on the features: their vectors differ in length.")
    checked_parties(list(vectors), allow_two=allow_two)
    numbers = FixedPoint(bound, len(vectors), fraction_bits)
    rings = {name: numbers.encode(vector) for name, vector in vectors.items()}
    parties, found = _WAYS[way](rings, allow_two)
    traffic = Exchange(parties, faults=faults).run()
    total, survivors = found()
    if total is None:  # whoever opens it fell silent, and nobody waited for it
        raise StalledError("nobody who is left knows the sum.")
    return SummedUp(numbers.decode(total), survivors, traffic)


_Found: TypeAlias = Callable[[], tuple[Ring | None, tuple[str, ...]]]
_Made: TypeAlias = tuple[list[Party], _Found]


def _ring(rings: Summands, allow_two: AllowTwo | None) -> _Made:
    session, names = new_session(), sorted(rings)
    peers = [RingPeer(name, session, names, rings[name], allow_two=allow_two) for name in names]
    return [*peers], lambda: (peers[0].total, tuple(names))


def _masks(rings: Summands, allow_two: AllowTwo | None) -> _Made:
    identities = {name: Identity() for name in rings}
    public = {name: identity.public for name, identity in identities.items()}
    terms = MaskedSum(new_session(), "server", public, _size(rings), allow_two=allow_two)
    server = MaskServer(terms)
    peers = [MaskPeer(name, terms, identities[name], rings[name]) for name in rings]
    return [server, *peers], lambda: (server.total, server.survivors)


def _size(rings: Summands) -> int:
    return next(iter(rings.values())).size


_WAYS: dict[Way, Callable[[Summands, AllowTwo | None], _Made]] = {
    "ring": _ring,
    "masks": _masks,
}
