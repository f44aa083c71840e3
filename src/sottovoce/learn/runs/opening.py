"""The first stage of a run: do all parties have the same terms?"""

import hashlib
from collections.abc import Generator
from typing import Any

from sottovoce.learn.party import DisagreementError, Value
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.telling import Listener, Teller
from sottovoce.learn.protocols.terms import COORDINATOR
from sottovoce.learn.runs.terms import RunTerms

OPENING_STAGES = ("terms", "same terms")


def opening_party(name: str, terms: RunTerms) -> Generator[Stage, Any, None]:
    """Tell the coordinator which terms one has, and go on when it has the same."""
    piece: dict[str, Value] = {"digest": terms_digest(terms)}
    yield Stage("terms", lambda s: Teller(name, s, "terms", {COORDINATOR: piece}))
    told = yield Stage("same terms", lambda s: Listener(name, s, "same terms", [COORDINATOR]))
    if told.heard[COORDINATOR].item("digest", bytes) != terms_digest(terms):
        raise _different(name)


def opening_coordinator(terms: RunTerms) -> Generator[Stage, Any, None]:
    """Hear everybody; refuse parties that mean another dictionary, recipe or way."""
    others = tuple(name for name in terms.parties if name != COORDINATOR)
    heard = yield Stage("terms", lambda s: Listener(COORDINATOR, s, "terms", others))
    digest = terms_digest(terms)
    for name, said in heard.heard.items():
        if said.item("digest", bytes) != digest:
            raise _different(name)
    piece: dict[str, Value] = {"digest": digest}
    pieces = dict.fromkeys(others, piece)
    yield Stage("same terms", lambda s: Teller(COORDINATOR, s, "same terms", pieces))


def terms_digest(terms: RunTerms) -> bytes:
    """What parties compare: SHA-256 of all terms."""
    return hashlib.sha256(terms.to_bytes()).digest()


def _different(name: str) -> DisagreementError:
    return DisagreementError(
        f"{name} and the coordinator must have the same terms of the run: the same dictionary, "
        "labels, recipe and peers; give both the same file."
    )
