"""Calls between parties: a server that knows each caller first, and a client of one party.

The client's channel trusts its party's certificate alone.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from sottovoce.errors import (
    BadFrameError,
    CallRefusedError,
    DefectError,
    ImpostorError,
    InputError,
    JournalError,
    ProtocolError,
    TooLargeError,
)
from sottovoce.federation.certificates import Credentials
from sottovoce.federation.roster import Member, Roster
from sottovoce.federation.transport.frames import (
    LARGEST_HEADER,
    VERSION,
    Answer,
    Beat,
    Frame,
    Header,
    Log,
    Settings,
    pack_frame,
    unpack_frame,
)
from sottovoce.federation.transport.tls import (
    check_transport,
    checked_caller,
    client_credentials,
    grpc,
    server_credentials,
)

SERVICE = "sottovoce.Federation"
HEADER = "sottovoce-header-bin"
CHUNK_BYTES = 1 << 18
_LARGEST_CHUNK = 1 << 20
# Members may join while the server is open; a worker starts only when it is needed.
_FEWEST_WORKERS = 16
# From who calls, as its certificate proves, and what it says to the answer.
Answering: TypeAlias = Callable[[Member, bytes], bytes]
# The same from the properties of a connection, which it checks.
_Checked: TypeAlias = Callable[[dict[str, list[bytes]], bytes], bytes]


class MessageServer:
    """Serves Deliver (a header in the metadata, a body in chunks) and Beat.

    ``admit`` sees a header and may answer it at once; only if it does not is the body read, and
    ``take`` answers the whole frame. ``bodies`` counts the bodies of which anything was read.
    Further methods can be offered before it opens.
    """

    def __init__(
        self,
        roster: Roster,
        *,
        admit: Callable[[Header], Answer | None],
        take: Callable[[Frame], Answer],
        heard: Callable[[Beat], Beat],
        settings: Settings,
        log: Log,
    ) -> None:
        self._roster, self._settings, self._log = roster, settings, log
        self._admit, self._take, self._heard = admit, take, heard
        self._body_slots = threading.BoundedSemaphore(settings.most_bodies)
        self._server: Any = None
        self._offered: dict[str, _Checked] = {}
        self.bodies = 0

    def offer(self, method: str, answering: Answering) -> None:
        """Answer one more method, of one request of at most a chunk; before `open` only."""
        self._offered[method] = lambda properties, request: answering(
            checked_caller(properties, self._roster), request
        )

    def offer_to_any(self, method: str, answering: Callable[[bytes], bytes]) -> None:
        """As `offer`, to whoever has a certificate of the authority, on the roster or not."""

        def answer(properties: dict[str, list[bytes]], request: bytes) -> bytes:
            check_transport(properties)
            return answering(request)

        self._offered[method] = answer

    def take_roster(self, roster: Roster) -> None:
        """Let in whom this roster has, and nobody else, from the next call on."""
        self._roster = roster

    def open(self, address: str, own: Credentials) -> str:
        """Listen; the address with the port that was given."""
        workers = 2 * max(len(self._roster.members), _FEWEST_WORKERS) + self._settings.most_bodies
        options = [
            ("grpc.max_receive_message_length", _LARGEST_CHUNK),
            ("grpc.max_metadata_size", 4 * LARGEST_HEADER),
            ("grpc.so_reuseport", 0),
        ]
        self._server = grpc.server(
            ThreadPoolExecutor(workers, thread_name_prefix="server"), options=options
        )
        self._server.add_generic_rpc_handlers((self._handlers(),))
        try:
            port = self._server.add_secure_port(address, server_credentials(own))
        except RuntimeError:
            raise InputError(f"cannot listen at {address}: is it taken?") from None
        self._server.start()
        return f"{address.rpartition(':')[0]}:{port}"

    def close(self, grace_s: float = 1.0) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.stop(grace_s).wait()

    def _handlers(self) -> Any:  # noqa: ANN401 - gRPC has no types
        more = {
            method: grpc.unary_unary_rpc_method_handler(partial(self._answer, answering))
            for method, answering in self._offered.items()
        }
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                **more,
                "Deliver": grpc.stream_unary_rpc_method_handler(self._deliver),
                "Beat": grpc.unary_unary_rpc_method_handler(self._beat),
            },
        )

    def _deliver(self, chunks: Iterator[bytes], context: Any) -> bytes:  # noqa: ANN401 - gRPC has no types
        with self._refusing(context):
            caller = checked_caller(context.auth_context(), self._roster)
            header = self._header(context)
            _check_claim(header.sender, caller)
            answer = self._admit(header)
            if answer is None:
                with self._body_slots, self._time_limit(context, header.size):
                    answer = self._take(Frame(header, self._body(chunks, header)))
        return pack_frame(answer)

    def _answer(self, answering: _Checked, request: bytes, context: Any) -> bytes:  # noqa: ANN401 - gRPC has no types
        with self._refusing(context):
            answer = answering(context.auth_context(), request)
        return answer  # noqa: RET504 - not reached if the block aborts the call

    def _beat(self, request: bytes, context: Any) -> bytes:  # noqa: ANN401 - gRPC has no types
        with self._refusing(context):
            caller = checked_caller(context.auth_context(), self._roster)
            beat = unpack_frame(request, Beat)
            _check_claim(beat.sender, caller)
            answer = self._heard(beat)
        return pack_frame(answer)

    def _header(self, context: Any) -> Header:  # noqa: ANN401 - gRPC has no types
        found = [value for key, value in context.invocation_metadata() if key == HEADER]
        if len(found) != 1 or len(found[0]) > LARGEST_HEADER:
            raise BadFrameError("a frame must have one header of reasonable size.")
        return unpack_frame(found[0], Header)

    @contextmanager
    def _time_limit(self, context: Any, size: int) -> Iterator[None]:  # noqa: ANN401 - gRPC has no types
        """Cancel a call that takes too long: it would keep others from being heard."""
        timer = threading.Timer(self._settings.call_limit(size), context.cancel)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _body(self, chunks: Iterator[bytes], header: Header) -> bytes:
        self.bodies += 1
        body = bytearray()
        try:
            for chunk in chunks:
                if len(body) + len(chunk) > header.size:
                    raise TooLargeError(f"a body of {header.size} bytes was declared, more came.")
                body += chunk
        except grpc.RpcError:
            raise BadFrameError("the caller is gone, or took too long.") from None
        return bytes(body)

    @contextmanager
    def _refusing(self, context: Any) -> Iterator[None]:  # noqa: ANN401 - gRPC has no types
        """Tell the caller by name what this party refuses, or cannot do."""
        try:
            yield
        except (JournalError, DefectError) as error:
            context.abort(grpc.StatusCode.UNAVAILABLE, type(error).__name__)
        except ProtocolError as error:
            name = type(error).__name__
            self._log("caller refused", address=context.peer(), error=name)
            context.abort(grpc.StatusCode.PERMISSION_DENIED, f"{name}: {error}")


def _check_claim(sender: str, caller: Member) -> None:
    if sender != caller.name:
        raise ImpostorError(f"{caller.name} must speak in its own name.")


_OPTIONS = [
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 20000),
    ("grpc.enable_http_proxy", 0),
]
_REFUSED = "PERMISSION_DENIED"


class MessageClient:
    """Calls one member."""

    def __init__(self, member: Member, own: Credentials, settings: Settings, log: Log) -> None:
        self._member, self._own, self._settings, self._log = member, own, settings, log
        self._channel: Any = None
        self._deliver: Any = None
        self._beat: Any = None
        self._complaint = ""

    @property
    def is_connected(self) -> bool:
        """Whether the member has once proved who it is."""
        return self._channel is not None

    def connect(self) -> bool:
        """Find the member and see its certificate, unless that was done; whether it was."""
        if self._channel is not None:
            return True
        try:
            trusted, name = client_credentials(self._member, self._own)
        except (OSError, ProtocolError) as error:
            self._log_once(error)
            return False
        options = [*_OPTIONS, ("grpc.ssl_target_name_override", name)]
        channel = grpc.secure_channel(self._member.address, trusted, options=options)
        self._deliver = channel.stream_unary(f"/{SERVICE}/Deliver")
        self._beat = channel.unary_unary(f"/{SERVICE}/Beat")
        self._channel = channel
        return True

    def deliver(self, frame: Frame) -> Answer | None:
        """Send a frame; None where nobody knows what became of it."""
        if not self.connect():
            return None
        limit = self._settings.call_limit(frame.header.size)
        try:
            answer = self._deliver(
                _chunks(frame.body), metadata=((HEADER, pack_frame(frame.header)),), timeout=limit
            )
            return unpack_frame(answer, Answer)
        except grpc.RpcError as error:
            return self._explain_failure(error)
        except ProtocolError as error:
            self._log_once(error)
            return None
        except ValueError:  # the channel was closed meanwhile
            return None

    def call(self, method: str, request: bytes, timeout_s: float) -> bytes:
        """Ask the member something that its server offers."""
        name = self._member.name
        if not self.connect():
            raise InputError(f"the {name} does not answer; is it running?")
        asked = self._channel.unary_unary(f"/{SERVICE}/{method}")
        try:
            answer: bytes = asked(request, timeout=timeout_s, wait_for_ready=True)
        except grpc.RpcError as error:
            if error.code().name == _REFUSED:
                _, _, sentence = str(error.details()).partition(": ")
                refused = f"the {name} refuses ({_REFUSED}): {sentence[:400]}"
                raise CallRefusedError(refused) from None
            raise InputError(f"the {name} does not answer: {error.code().name}.") from None
        except ValueError:  # the channel was closed meanwhile
            raise InputError(f"the connection to the {name} was closed.") from None
        return answer

    def beat(self, beat: Beat, then: Callable[[Beat], None]) -> None:
        """Send a beat without waiting; ``then`` gets the answer, if one comes."""
        if self._channel is None:
            return
        try:
            call = self._beat.future(pack_frame(beat), timeout=self._settings.call_s)
        except ValueError:  # the channel was closed meanwhile
            return

        def note_answer(done: Any) -> None:  # noqa: ANN401 - gRPC has no types
            if done.cancelled() or done.exception() is not None:
                return
            try:
                then(unpack_frame(done.result(), Beat))
            except ProtocolError as error:
                self._log_once(error)

        call.add_done_callback(note_answer)

    def close(self) -> None:
        """Close the channel."""
        if self._channel is not None:
            self._channel.close()

    def _explain_failure(self, error: Any) -> Answer | None:  # noqa: ANN401 - gRPC has no types
        if error.code().name != _REFUSED:
            return None
        name, _, sentence = str(error.details()).partition(": ")
        self._log("refused", by=self._member.name, error=name[:80])
        return Answer(VERSION, "refused", name, sentence)

    def _log_once(self, error: Exception) -> None:
        # A member that is down is asked every second; one line says it.
        reason = getattr(error, "verify_message", "") or getattr(error, "reason", "")
        said = f"{type(error).__name__} {reason}".strip()
        if said != self._complaint:
            self._complaint = said
            self._log("no line", to=self._member.name, error=said)


def _chunks(body: bytes) -> Iterator[bytes]:
    for begin in range(0, len(body), CHUNK_BYTES):
        yield body[begin : begin + CHUNK_BYTES]
