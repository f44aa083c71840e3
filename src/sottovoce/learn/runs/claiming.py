"""Which features each peer adds to a score: the coordinator knows who has which, and says so."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.party import DisagreementError, Value
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR
from sottovoce.learn.runs import values
from sottovoce.learn.runs.terms import RunTerms

CLAIMS = "claims"
Mask = NDArray[np.bool_]


def claiming_coordinator(
    terms: RunTerms, record: Mapping[str, Value]
) -> Generator[Stage, Any, None]:
    """Tell each contributor which features are its to add: none twice, the asker's first.

    Private Text Classification, section 3.1: the coordinator separates a peer's features, and sets
    the remaining ones to zero.
    """
    if not terms.contributors:
        return
    kept = values.part(record, "holdings")
    holdings = {name: values.array(kept, name, "|b1") for name in terms.order}
    claimed = claims(terms.order, holdings)
    pieces: dict[str, dict[str, Value]] = {name: {"own": claimed[name]} for name in terms.order}
    yield Stage(CLAIMS, lambda s: Teller(COORDINATOR, s, CLAIMS, pieces))


def claims(order: Sequence[str], holdings: Mapping[str, Mask]) -> dict[str, Mask]:
    """Which features each contributor adds: its own that nobody before it has, the asker first."""
    taken, claimed = np.zeros_like(holdings[order[0]]), {}
    for name in order:
        claimed[name] = holdings[name] & ~taken
        taken |= holdings[name]
    return claimed


def claiming_peer(name: str, terms: RunTerms, width: int) -> Generator[Stage, Any, Mask]:
    """Hear which features are one's own to add; all of them if nobody else adds any."""
    if not terms.contributors:
        return np.ones(width, bool)
    told = yield Stage(CLAIMS, lambda s: Listener(name, s, CLAIMS, [COORDINATOR]))
    own: Mask = told.heard[COORDINATOR].array("own", "|b1")
    if own.size != width:
        raise DisagreementError(f"{name} must hear of {width} features which are its to add.")
    return own
