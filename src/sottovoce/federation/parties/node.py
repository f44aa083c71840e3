"""A node that peers can also ask something: the coordinator, to propose a run for them.

Only a coordinator proposes runs. A peer that wants rows classified under the hidden mode says so
over the same mutual TLS, and the coordinator proposes the query in that peer's name, no other's.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from sottovoce.errors import InputError, ProtocolError, SottovoceError
from sottovoce.federation.engine.node import Node
from sottovoce.federation.parties.earlier import Past, earlier_record
from sottovoce.federation.parties.past import past_runs
from sottovoce.federation.transport.doorway import Doorway
from sottovoce.federation.transport.frames import VERSION
from sottovoce.federation.transport.refusals import BadFrameError
from sottovoce.federation.transport.roster import Member
from sottovoce.federation.transport.tls import checked_caller, grpc
from sottovoce.learn.party import Value
from sottovoce.learn.protocols.terms import COORDINATOR

METHOD = "/sottovoce.Wishes/Ask"
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


class PartyNode(Node):
    """A node whose coordinator grants wishes."""

    def grant_wishes(self, grant: Grant) -> None:
        """Answer peers that ask; before `start` only."""
        old = self.doorway
        self.doorway = _AskableDoorway(old, grant)

    def wish(self, wish: Wish) -> bytes:
        """Ask the coordinator; the run that it proposes."""
        line = self._lines[COORDINATOR]
        if not line.connect():
            raise InputError("the coordinator does not answer; is it running?")
        channel = line._channel  # noqa: SLF001 - the line's own, for one more method
        try:
            answer = channel.unary_unary(METHOD)(msgspec.msgpack.encode(wish), timeout=_ASK_S)
        except grpc.RpcError as error:
            raise InputError(f"the coordinator does not answer: {error.code().name}.") from None
        granted = msgspec.msgpack.decode(answer, type=Granted)
        if granted.why_not:
            raise InputError(granted.why_not)
        return granted.run

    def past(self) -> list[Past]:
        """All runs so far, with their results."""
        with self._changed:
            return past_runs(self._journal)

    def earlier(self, training: bytes) -> dict[str, Value] | None:
        """What this party kept of a training."""
        found = earlier_record(self.past(), training)
        return None if found is None else dict(found)


class _AskableDoorway(Doorway):
    """A doorway with one more method."""

    def __init__(self, plain: Doorway, grant: Grant) -> None:
        vars(self).update(vars(plain))
        self._grant = grant

    def _handlers(self) -> Any:  # noqa: ANN401 - gRPC has no types
        return _Both(super()._handlers(), grpc.unary_unary_rpc_method_handler(self._ask))

    def _ask(self, request: bytes, context: Any) -> bytes:  # noqa: ANN401 - gRPC has no types
        try:
            caller = checked_caller(context.auth_context(), self._roster)
            wish = _read(request)
        except ProtocolError as error:
            self._refuse_wish(context, error)
        try:
            granted = Granted(VERSION, run=self._grant(caller, wish))
        except SottovoceError as error:
            granted = Granted(VERSION, why_not=str(error))
        return msgspec.msgpack.encode(granted)

    def _refuse_wish(self, context: Any, error: ProtocolError) -> NoReturn:  # noqa: ANN401 - gRPC has no types
        self._refuse(context, error)


class _Both(grpc.GenericRpcHandler):  # type: ignore[misc] # gRPC has no types
    """The federation's methods, and ours."""

    def __init__(self, others: Any, ask: Any) -> None:  # noqa: ANN401 - gRPC has no types
        self._others, self._ask = others, ask

    def service(self, details: Any) -> Any:  # noqa: ANN401 - gRPC has no types
        """Who handles a call."""
        return self._ask if details.method == METHOD else self._others.service(details)


def _read(request: bytes) -> Wish:
    try:
        wish = msgspec.msgpack.decode(request, type=Wish)
    except msgspec.DecodeError:
        raise BadFrameError("a wish must have the fields of its type.") from None
    if wish.version != VERSION:
        raise BadFrameError(f"a wish must be of version {VERSION}.")
    return wish
