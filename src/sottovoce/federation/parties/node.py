"""A node that peers can also ask something: the coordinator, to propose a run for them.

Only a coordinator proposes runs. A peer that wants rows classified under the hidden mode says so
over the same mutual TLS, and the coordinator proposes the query in that peer's name, no other's.
"""

from collections.abc import Callable
from typing import TypeVar

import msgspec

from sottovoce.errors import InputError, SottovoceError
from sottovoce.federation.engine.node import Node
from sottovoce.federation.parties.earlier import Past, earlier_record
from sottovoce.federation.parties.past import past_runs
from sottovoce.federation.transport.frames import VERSION
from sottovoce.federation.transport.refusals import BadFrameError
from sottovoce.federation.transport.roster import Member
from sottovoce.learn.party import Value
from sottovoce.learn.protocols.terms import COORDINATOR

METHOD = "Ask"
_ASK_S = 30.0


class Wish(msgspec.Struct, frozen=True):
    """A run that a peer would like to have: its terms, as all parties will see them."""

    version: int
    terms: bytes


class Granted(msgspec.Struct, frozen=True):
    """The run that was proposed, or why none was."""

    version: int
    run: bytes = b""
    why_not: str = ""


Grant = Callable[[Member, Wish], bytes]
_Read = TypeVar("_Read", Wish, Granted)


class PartyNode(Node):
    """A node whose coordinator grants wishes."""

    def grant_wishes(self, grant: Grant) -> None:
        """Answer peers that ask; before `start` only."""

        def answer(caller: Member, request: bytes) -> bytes:
            wish = _read(request, Wish)
            try:
                granted = Granted(VERSION, run=grant(caller, wish))
            except SottovoceError as error:
                granted = Granted(VERSION, why_not=str(error))
            return msgspec.msgpack.encode(granted)

        self.offer(METHOD, answer)

    def wish(self, wish: Wish) -> bytes:
        """Ask the coordinator; the run that it proposes."""
        answer = self.ask(COORDINATOR, METHOD, msgspec.msgpack.encode(wish), _ASK_S)
        granted = _read(answer, Granted)
        if granted.why_not:
            raise InputError(granted.why_not)
        return granted.run

    def past(self) -> list[Past]:
        """All runs so far, with their results."""
        return self.read_journal(past_runs)

    def earlier(self, training: bytes) -> dict[str, Value] | None:
        """What this party kept of a training."""
        found = earlier_record(self.past(), training)
        return None if found is None else dict(found)


def _read(data: bytes, kind: type[_Read]) -> _Read:
    try:
        found = msgspec.msgpack.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadFrameError(
            f"a {kind.__name__.lower()} must have the fields of its type."
        ) from None
    if found.version != VERSION:
        raise BadFrameError(f"a {kind.__name__.lower()} must be of version {VERSION}.")
    return found
