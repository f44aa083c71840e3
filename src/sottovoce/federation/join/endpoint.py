"""The port at which parties join: one of its own, open only while somebody is invited.

Whoever joins has no certificate yet, and so cannot come in by the port of the parties. The joiner
compares the coordinator's certificate with the token's fingerprint before it says anything.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Self

from sottovoce.errors import InputError, ProtocolError, RosterRefusedError
from sottovoce.federation._events import Log
from sottovoce.federation.certificates import Credentials
from sottovoce.federation.join.invitations import Invitations
from sottovoce.federation.join.request import JoinReply, unpacked
from sottovoce.federation.transport.tls import (
    check_transport,
    grpc,
    open_credentials,
    pinned_credentials,
)

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
            options = [
                ("grpc.max_receive_message_length", _LARGEST),
                ("grpc.so_reuseport", 0),
            ]
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
                f"nobody takes requests to join at {address}; is the coordinator running, and the "
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

    def call(self, method: str, request: bytes) -> JoinReply:
        """The coordinator's reply, or RosterRefusedError with its sentence."""
        asked = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            reply = unpacked(asked(request, timeout=_CALL_S, wait_for_ready=True), JoinReply)
        except grpc.RpcError as error:
            raise InputError(f"the coordinator does not answer: {error.code().name}.") from None
        if reply.why_not:
            raise RosterRefusedError(f"the coordinator refuses: {reply.why_not[:400]}")
        return reply
