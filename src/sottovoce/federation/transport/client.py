"""The client of one other party: a channel that trusts its certificate alone."""

from collections.abc import Callable, Iterator
from typing import Any

from sottovoce.errors import CallRefusedError, InputError, ProtocolError
from sottovoce.federation.certificates import Credentials
from sottovoce.federation.roster import Member
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Beat,
    Frame,
    Log,
    Settings,
    pack_frame,
    unpack_frame,
)
from sottovoce.federation.transport.server import CHUNK_BYTES, HEADER, SERVICE
from sottovoce.federation.transport.tls import client_credentials, grpc

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
            raise InputError(f"the line to the {name} was hung up.") from None
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
