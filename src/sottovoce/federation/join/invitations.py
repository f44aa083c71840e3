"""The coordinator's invitations: who may join until when, and how far each has come.

They are in memory only: a coordinator that starts again has none, and every token of before is
refused. A token works for one request: once a commitment came with it, another is refused. The
roster changes when the joiner has said that the comparison strings are the same *and* a person at
the coordinator has typed the string that they were read.
"""

import hmac
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

from sottovoce.errors import (
    InputError,
    ParameterError,
    ProtocolError,
    RosterRefusedError,
    SottovoceError,
)
from sottovoce.federation.certificates import Credentials, check_name
from sottovoce.federation.config import Role
from sottovoce.federation.join import request as joining
from sottovoce.federation.join.request import (
    Ask,
    Collect,
    JoinReply,
    JoinRequest,
    JoinToken,
    Reveal,
    as_compared,
    comparison_string,
    new_nonce,
    pack_message,
    unpack_message,
)
from sottovoce.federation.transport.frames import Log
from sottovoce.federation.transport.tls import (
    check_transport,
    grpc,
    open_credentials,
    pinned_credentials,
)
from sottovoce.privacy.randomness import random_bytes

SHORTEST_MINUTES, LONGEST_MINUTES = 1, 24 * 60
_MOST_OPEN = 200
_UNKNOWN = (
    "the coordinator does not know this token: it is wrong, or the coordinator was restarted "
    "since; ask for a new one."
)


class Joined(NamedTuple):
    """What a party gets that has joined: its certificate, and the roster's changes."""

    certificate: bytes
    changes: bytes


@dataclass(frozen=True)
class Federation:
    """What a joiner is told of the federation before it joins."""

    fingerprint: str
    authority: bytes
    authority_fingerprint: str
    mode: str = "open"
    columns: tuple[str, ...] = ()


@dataclass
class _Invitation:
    token: JoinToken
    ends: float
    commitment: bytes = b""
    nonce: bytes = b""
    request: JoinRequest | None = None
    string: str = ""
    confirmed: bool = False
    admitted: bool = False
    joined: Joined | None = None


class Invitations:
    """All open invitations of one coordinator; requests may come from several threads.

    Args:
        federation: what joiners are told.
        join: makes the certificate and changes the roster.
        log: where refusals go.
        now: a clock that only moves on.
    """

    def __init__(
        self,
        federation: Federation,
        join: Callable[[JoinRequest, Role], Joined],
        log: Log,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._federation, self._join, self._log, self._now = federation, join, log, now
        self._by_number: dict[bytes, _Invitation] = {}
        self._lock = threading.Lock()

    @property
    def any_open(self) -> bool:
        """Whether anybody can still join, or fetch what they were given."""
        with self._lock:
            return any(self._now() < each.ends for each in self._by_number.values())

    def invite(self, name: str, role: Role, address: str, minutes: float) -> JoinToken:
        """A token for one party, good for so many minutes; an earlier one of its name ends."""
        if role == "coordinator":
            raise ParameterError("a federation has one coordinator; invite a peer or a helper.")
        if not SHORTEST_MINUTES <= minutes <= LONGEST_MINUTES:
            raise ParameterError(
                f"an invitation must hold {SHORTEST_MINUTES} to {LONGEST_MINUTES} minutes, got "
                f"{minutes:g}."
            )
        token = JoinToken(
            check_name(name),
            role,
            address,
            self._federation.fingerprint,
            random_bytes(joining.ID_BYTES),
            random_bytes(joining.SECRET_BYTES),
        )
        with self._lock:
            kept = {n: each for n, each in self._by_number.items() if each.token.name != name}
            if sum(self._now() < each.ends for each in kept.values()) >= _MOST_OPEN:
                raise InputError(f"at most {_MOST_OPEN} invitations may be open; wait for some.")
            self._by_number = kept | {token.number: _Invitation(token, self._now() + 60 * minutes)}
        self._log("invited", name=name, role=role, minutes=minutes)
        return token

    def waiting(self) -> list[dict[str, Any]]:
        """Who asks to join, with the string to compare."""
        with self._lock:
            return [
                {
                    "party": each.token.name,
                    "role": each.token.role,
                    "address": each.request.address,
                    "string": each.string,
                    "confirmed there": each.confirmed,
                }
                for each in self._by_number.values()
                if each.request is not None and each.joined is None and self._now() < each.ends
            ]

    def admit(self, name: str, string: str) -> bool:
        """A person has compared; whether the party has joined already, or will once it confirms."""
        with self._lock:
            found = next((each for each in self._open() if each.token.name == name), None)
            if found is None or found.request is None:
                raise InputError(f"{name} does not ask to join; invite it, and let it ask first.")
            if as_compared(string) != found.string:
                self._log("join refused", name=name, error="OtherStringError")
                raise InputError(
                    f"{name}'s comparison string is another one here. If it was not mistyped, "
                    "somebody stands between you: do not admit it, and invite by another channel."
                )
            found.admitted = True
            return self._complete(found)

    def answer(self, method: str, data: bytes) -> bytes:
        """The reply to one of a joiner's messages; a refusal is logged."""
        answers: dict[str, Callable[[bytes], JoinReply]] = {
            "Ask": self._answer_ask,
            "Reveal": self._answer_reveal,
            "Collect": self._answer_collect,
        }
        try:
            with self._lock:
                reply = answers[method](data)
        except SottovoceError as error:
            self._log("join refused", error=type(error).__name__, sentence=str(error))
            reply = JoinReply(joining.VERSION, why_not=str(error))
        return pack_message(reply)

    def _open(self) -> list[_Invitation]:
        return [each for each in self._by_number.values() if self._now() < each.ends]

    def _answer_ask(self, data: bytes) -> JoinReply:
        asked = unpack_message(data, Ask)
        found = self._proven(asked.number, asked.proof, "ask", asked.commitment)
        if found.commitment and found.commitment != asked.commitment:
            raise RosterRefusedError("this token was used before; ask for a new one.")
        if not found.commitment:
            found.commitment, found.nonce = asked.commitment, new_nonce()
        authority = self._federation.authority
        return JoinReply(joining.VERSION, nonce=found.nonce, authority=authority)

    def _answer_reveal(self, data: bytes) -> JoinReply:
        told = unpack_message(data, Reveal)
        found = self._living(told.number)
        if found.commitment != joining.commitment(told.request, told.nonce):
            raise RosterRefusedError("a request must be the one that was committed to.")
        request = unpack_message(told.request, JoinRequest)
        request.check(found.token.name, found.token.role)
        known = self._federation
        found.request = request
        found.string = comparison_string(
            known.fingerprint, known.authority_fingerprint, told.request, (told.nonce, found.nonce)
        )
        self._log("asks to join", name=found.token.name, address=request.address)
        return JoinReply(joining.VERSION, mode=known.mode, columns=list(known.columns))

    def _answer_collect(self, data: bytes) -> JoinReply:
        asked = unpack_message(data, Collect)
        found = self._proven(asked.number, asked.proof, "collect", b"")
        if found.request is None:
            raise RosterRefusedError("a request must come before its certificate is fetched.")
        found.confirmed = True
        if not self._complete(found) or found.joined is None:
            return JoinReply(joining.VERSION)
        certificate, changes = found.joined
        return JoinReply(joining.VERSION, certificate=certificate, changes=changes)

    def _complete(self, found: _Invitation) -> bool:
        """Whether both persons have confirmed; the second of them makes the party a member."""
        if found.joined is None and found.confirmed and found.admitted and found.request:
            found.joined = self._join(found.request, found.token.role)
        return found.joined is not None

    def _proven(self, number: bytes, proof: bytes, what: str, content: bytes) -> _Invitation:
        found = self._by_number.get(number)
        if found is None or not hmac.compare_digest(found.token.proof(what, content), proof):
            raise RosterRefusedError(_UNKNOWN)
        return self._living(number)

    def _living(self, number: bytes) -> _Invitation:
        found = self._by_number.get(number)
        if found is None:
            raise RosterRefusedError(_UNKNOWN)
        if self._now() >= found.ends:
            raise RosterRefusedError("this token has expired; ask for a new one.")
        return found


SERVICE = "sottovoce.Join"
METHODS = ("Ask", "Reveal", "Collect")
_LARGEST = 1 << 16
_LARGEST_REPLY = 1 << 26
_WORKERS = 4
_CALL_S = 10.0
_LOOK_S = 1.0


class JoinServer:
    """Answers joiners from the first invitation until none is open any more."""

    def __init__(self, address: str, own: Credentials, invitations: Invitations, log: Log) -> None:
        self._address, self._own, self._log = address, own, log
        self._invitations = invitations
        self._server: Any = None
        self._lock = threading.Lock()
        self._closing = threading.Event()

    def open(self) -> None:
        """Listen, unless it does already."""
        with self._lock:
            if self._server is not None:
                return
            options = [("grpc.max_receive_message_length", _LARGEST), ("grpc.so_reuseport", 0)]
            server = grpc.server(ThreadPoolExecutor(_WORKERS, "join"), options=options)
            server.add_generic_rpc_handlers((self._handlers(),))
            try:
                server.add_secure_port(self._address, open_credentials(self._own))
            except RuntimeError:
                raise InputError(
                    f"cannot listen for joiners at {self._address}: is it taken?"
                ) from None
            server.start()
            self._server = server
            self._log("joining opened", address=self._address)
            threading.Thread(target=self._close_when_over, daemon=True).start()

    def close(self) -> None:
        """Answer nobody more."""
        self._closing.set()
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.stop(0.2).wait()
            self._log("joining closed")

    def _close_when_over(self) -> None:
        while not self._closing.wait(_LOOK_S):
            if not self._invitations.any_open:
                self.close()
                self._closing.clear()
                return

    def _handlers(self) -> Any:  # noqa: ANN401 - gRPC has no types
        made = {
            method: grpc.unary_unary_rpc_method_handler(partial(self._answer, method))
            for method in METHODS
        }
        return grpc.method_handlers_generic_handler(SERVICE, made)

    def _answer(self, method: str, request: bytes, context: Any) -> bytes:  # noqa: ANN401 - gRPC has no types
        try:
            check_transport(context.auth_context())
        except ProtocolError as error:
            self._log("join refused", error=type(error).__name__)
            context.abort(grpc.StatusCode.PERMISSION_DENIED, str(error))
        return self._invitations.answer(method, request)


class JoinClient:
    """Asks the coordinator that a token names, and no other."""

    def __init__(self, address: str, fingerprint: str) -> None:
        try:
            trusted, name = pinned_credentials(address, fingerprint)
        except OSError:
            raise InputError(
                f"no coordinator takes requests to join at {address}; is it running, and is the "
                "invitation still open?"
            ) from None
        options = [
            ("grpc.ssl_target_name_override", name),
            ("grpc.max_receive_message_length", _LARGEST_REPLY),
            ("grpc.enable_http_proxy", 0),
        ]
        self._channel = grpc.secure_channel(address, trusted, options=options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def call(self, method: str, request: Ask | Reveal | Collect) -> JoinReply:
        """The coordinator's reply, or RosterRefusedError with its sentence."""
        asked = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            answer = asked(pack_message(request), timeout=_CALL_S, wait_for_ready=True)
            reply = unpack_message(answer, JoinReply)
        except grpc.RpcError as error:
            raise InputError(f"the coordinator does not answer: {error.code().name}.") from None
        if reply.why_not:
            raise RosterRefusedError(f"the coordinator refuses: {reply.why_not[:400]}")
        return reply
