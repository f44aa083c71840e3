"""Who is let in, and who is refused before anything it says is read."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from support.federation_nodes import Enrolled
from support.federations import Authority, ToyTraining

from sottovoce.errors import InputError, StrangerError
from sottovoce.federation._node.node import Node
from sottovoce.federation.certificates import Credentials, network_name
from sottovoce.federation.roster import Member
from sottovoce.federation.transport.calls import HEADER, SERVICE, MessageClient
from sottovoce.federation.transport.frames import (
    VERSION,
    Answer,
    Frame,
    Header,
    Proposal,
    Settings,
    pack_frame,
    unpack_frame,
)
from sottovoce.federation.transport.tls import checked_caller, grpc
from sottovoce.learn.training_terms import COORDINATOR

TRAINING = ToyTraining(("ann", "bob", "cy"))
TEN_GB = 10_000_000_000
LOG_PATIENCE_S = 10


class CalledNode:
    """One listening peer, ann, and ways to call."""

    def __init__(self, enrolled: Enrolled, node: Node) -> None:
        self.enrolled, self.node = enrolled, node
        self.address = enrolled.roster["ann"].address

    def frame(self, sender: str = COORDINATOR, **changes: object) -> Frame:
        """A proposal that ann would take from the coordinator."""
        proposal = Proposal(TRAINING.terms(), list(TRAINING.names))
        frame = Frame.make("propose", proposal.session, sender, "ann", 1, pack_frame(proposal))
        header = {name: getattr(frame.header, name) for name in Header.__struct_fields__}
        return Frame(Header(**(header | changes)), frame.body)

    def call(
        self, own: Credentials | None, frame: Frame, *, chunks: Iterator[bytes] | None = None
    ) -> Answer:
        """Send a frame with some certificate, trusting ann's authority."""
        key, certificate = (own.key, own.certificate) if own else (None, None)
        trusted = grpc.ssl_channel_credentials(self.enrolled.authority.pem, key, certificate)
        name = network_name(self.enrolled.held["ann"].certificate)
        options = [("grpc.ssl_target_name_override", name)]
        with grpc.secure_channel(self.address, trusted, options=options) as channel:
            deliver = channel.stream_unary(f"/{SERVICE}/Deliver")
            answer = deliver(
                chunks or iter([frame.body]),
                metadata=((HEADER, pack_frame(frame.header)),),
                timeout=10,
            )
        return unpack_frame(answer, Answer)

    def refused(self, own: Credentials | None, frame: Frame) -> str:
        """Send a frame that must not be let in; gRPC's words."""
        with pytest.raises(grpc.RpcError) as refusal:
            self.call(own, frame)
        assert self.node.server.bodies == 0
        assert self.node.status()["runs"] == []
        return f"{refusal.value.code().name} {refusal.value.details()}"

    def logged(self, error: str) -> bool:
        """Whether a refusal with this error was logged."""
        return any(fields.get("error") == error for _, fields in self.enrolled.events)


@pytest.fixture
def called(tmp_path: Path) -> Iterator[CalledNode]:
    enrolled = Enrolled(TRAINING, tmp_path)
    with enrolled.node("ann") as node:
        yield CalledNode(enrolled, node)


def test_the_coordinator_is_let_in(called: CalledNode) -> None:
    assert called.call(called.enrolled.held[COORDINATOR], called.frame()).outcome == "taken"
    assert called.node.server.bodies == 1


Made = Callable[[CalledNode], Credentials | None]
HANDSHAKES: dict[str, tuple[Made, str]] = {
    "expired": (
        lambda called: called.enrolled.authority.credentials(COORDINATOR, days=-1),
        "certificate has expired",
    ),
    "of another authority": (
        lambda _: Authority().credentials(COORDINATOR),
        "certificate signature failure",
    ),
    "absent": (lambda _: None, "PEER_DID_NOT_RETURN_A_CERTIFICATE"),
}


@pytest.mark.parametrize("kind", list(HANDSHAKES))
def test_a_certificate_that_does_not_hold_ends_the_handshake_and_is_logged(
    kind: str, called: CalledNode, capfd: pytest.CaptureFixture[str]
) -> None:
    made, reason = HANDSHAKES[kind]
    assert called.refused(made(called), called.frame()).startswith("UNAVAILABLE")
    assert reason in capfd.readouterr().err


def test_tls_1_2_is_refused_in_the_handshake_and_logged(
    called: CalledNode, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OSError), plain_tls(called, ssl.TLSVersion.TLSv1_2):  # noqa: PT011 - any failure of TLS
        pass
    assert "NO_SHARED_CIPHER" in said_in_time(capfd, "NO_SHARED_CIPHER")
    with plain_tls(called, ssl.TLSVersion.TLSv1_3) as version:
        assert version == "TLSv1.3"


def said_in_time(capfd: pytest.CaptureFixture[str], awaited: str) -> str:
    """What gRPC's own thread writes to the terminal, which may come after the handshake failed."""
    said, end = "", time.monotonic() + LOG_PATIENCE_S
    while awaited not in said and time.monotonic() < end:
        said += capfd.readouterr().err
        time.sleep(0.02)
    return said


@contextmanager
def plain_tls(called: CalledNode, version: ssl.TLSVersion) -> Iterator[str | None]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.minimum_version = context.maximum_version = version
    context.load_verify_locations(cadata=called.enrolled.authority.pem.decode())
    context.set_alpn_protocols(["h2"])
    host, _, port = called.address.rpartition(":")
    with socket.create_connection((host, int(port))) as raw, context.wrap_socket(raw) as tls:
        yield tls.version()


def test_a_connection_of_another_version_would_be_refused_by_the_server(called: CalledNode) -> None:
    pem = called.enrolled.held["bob"].certificate
    properties = {"x509_pem_cert": [pem], "ssl_tls_version": [b"TLSv1.3"]}
    assert checked_caller(properties, called.enrolled.roster).name == "bob"
    for version in (b"TLSv1.2", b""):
        properties["ssl_tls_version"] = [version]
        with pytest.raises(StrangerError):
            checked_caller(properties, called.enrolled.roster)


def test_a_certificate_that_is_not_on_the_roster_is_refused(called: CalledNode) -> None:
    other = called.enrolled.authority.credentials(COORDINATOR)
    assert "StrangerError" in called.refused(other, called.frame())
    assert called.logged("StrangerError")


def test_a_certificate_of_another_name_is_refused(tmp_path: Path) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    enrolled.held[COORDINATOR] = enrolled.authority.credentials("mallory")
    with enrolled.node("ann") as node:
        called = CalledNode(enrolled, node)
        assert "ImpostorError" in called.refused(enrolled.held[COORDINATOR], called.frame())
        assert called.logged("ImpostorError")


def test_a_party_that_claims_another_name_is_refused(called: CalledNode) -> None:
    assert "ImpostorError" in called.refused(called.enrolled.held["bob"], called.frame())
    assert called.logged("ImpostorError")


def test_a_peer_may_not_propose_a_run(called: CalledNode) -> None:
    answer = called.call(called.enrolled.held["bob"], called.frame("bob"))
    assert (answer.outcome, answer.error) == ("refused", "RunRefusedError")
    assert called.node.server.bodies == 0
    assert called.logged("RunRefusedError")


def test_a_replayed_session_is_not_read_again(called: CalledNode) -> None:
    own, frame = called.enrolled.held[COORDINATOR], called.frame()
    called.call(own, frame)
    assert called.call(own, frame).outcome == "taken"
    assert called.node.server.bodies == 1
    assert called.logged("ReplayedMessageError")
    assert len(called.node.status()["runs"]) == 1


def test_a_method_that_a_node_offers_knows_its_caller_first(tmp_path: Path) -> None:
    enrolled, heard = Enrolled(TRAINING, tmp_path), list[tuple[str, bytes]]()

    def answer(caller: Member, request: bytes) -> bytes:
        heard.append((caller.name, request))
        return request.upper()

    node = enrolled.node("ann")
    node.offer("Echo", answer)
    with node, enrolled.node("bob") as bob:
        assert bob.ask("ann", "Echo", b"a word", 10) == b"A WORD"
        assert heard == [("bob", b"a word")]
        with pytest.raises(InputError, match="UNIMPLEMENTED"):
            bob.ask("ann", "Shout", b"a word", 10)
        enrolled.held["bob"] = enrolled.authority.credentials("bob")
        client = MessageClient(enrolled.roster["ann"], enrolled.held["bob"], Settings(), no_log)
        with pytest.raises(InputError, match="PERMISSION_DENIED"):
            client.call("Echo", b"a word", 10)
        client.close()
    assert len(heard) == 1


def no_log(_event: str, /, **_fields: object) -> None:
    pass


def test_a_frame_of_another_version_is_refused_by_name(called: CalledNode) -> None:
    frame = called.frame(version=VERSION + 1)
    assert "WrongVersionError" in called.refused(called.enrolled.held[COORDINATOR], frame)
    assert called.logged("WrongVersionError")


def test_ten_declared_gigabytes_are_refused_at_once(called: CalledNode) -> None:
    answer = called.call(called.enrolled.held[COORDINATOR], called.frame(size=TEN_GB))
    assert (answer.outcome, answer.error) == ("refused", "TooLargeError")
    assert called.node.server.bodies == 0
    assert called.logged("TooLargeError")


def test_more_than_was_declared_is_refused(called: CalledNode) -> None:
    with pytest.raises(grpc.RpcError, match="TooLargeError"):
        called.call(called.enrolled.held[COORDINATOR], called.frame(size=3))
    assert called.node.status()["runs"] == []
    assert called.call(called.enrolled.held[COORDINATOR], called.frame()).outcome == "taken"


def test_a_damaged_body_is_asked_for_again(called: CalledNode) -> None:
    answer = called.call(called.enrolled.held[COORDINATOR], called.frame(digest=bytes(32)))
    assert answer.outcome == "later"
    assert called.logged("BadFrameError")


def test_a_caller_that_stalls_is_cancelled(tmp_path: Path) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    with enrolled.node("ann", call_s=0.3, most_bodies=1) as node:
        called, more = CalledNode(enrolled, node), threading.Event()

        def stalling(body: bytes) -> Iterator[bytes]:
            yield body[:5]
            more.wait(20)
            yield body[5:]

        own, frame = enrolled.held[COORDINATOR], called.frame()
        with pytest.raises(grpc.RpcError) as stopped:
            called.call(own, frame, chunks=stalling(frame.body))
        assert stopped.value.code().name == "CANCELLED"
        more.set()
        assert called.call(own, frame).outcome == "taken"


def client_of(
    called: CalledNode, log: list[str], *, trusting: Authority | None = None
) -> MessageClient:
    own = called.enrolled.held[COORDINATOR]
    if trusting is not None:
        own = Credentials(own.certificate, own.key, trusting.pem)
    member = called.enrolled.roster["ann"]
    return MessageClient(
        member, own, Settings(), lambda _, /, **fields: log.append(str(fields["error"]))
    )


def test_a_caller_trusts_the_certificate_of_the_roster_only(tmp_path: Path) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    with enrolled.node("ann") as node:
        called, log = CalledNode(enrolled, node), list[str]()
        client = client_of(called, log)
        assert client.connect()
        client.close()
        assert not client_of(called, log, trusting=Authority()).connect()
        assert log[-1] == "SSLCertVerificationError certificate signature failure"
        enrolled.held["ann"] = enrolled.authority.credentials("ann")
        assert not client_of(called, log).connect()
        assert log[-1] == "StrangerError"


def test_a_caller_refuses_a_server_of_tls_1_2(tmp_path: Path) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    own, log = enrolled.held["ann"], list[str]()
    (tmp_path / "pem").write_bytes(own.key + own.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "pem")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with socket.create_server(("127.0.0.1", enrolled.ports["ann"])) as listening:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection, context.wrap_socket(connection, server_side=True):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        member = enrolled.roster["ann"]
        client = MessageClient(
            member,
            enrolled.held[COORDINATOR],
            Settings(),
            lambda _, /, **fields: log.append(str(fields["error"])),
        )
        assert not client.connect()
        thread.join()
    assert "VERSION" in log[-1].upper()
