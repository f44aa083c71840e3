"""Who is let in, and who is refused before anything it says is read."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.federation_nodes import Enrolled
from support.federations import ToyTraining, enrol

from sottovoce.errors import InputError, StrangerError
from sottovoce.federation._node.node import Node
from sottovoce.federation.certificates import Authority, Credentials, network_name
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
        trusted = grpc.ssl_channel_credentials(
            self.enrolled.authority.certificate, key, certificate
        )
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


def test_a_connection_of_another_version_would_be_refused_by_the_server(called: CalledNode) -> None:
    pem = called.enrolled.held["bob"].certificate
    properties = {"x509_pem_cert": [pem], "ssl_tls_version": [b"TLSv1.3"]}
    assert checked_caller(properties, called.enrolled.roster).name == "bob"
    for version in (b"TLSv1.2", b""):
        properties["ssl_tls_version"] = [version]
        with pytest.raises(StrangerError):
            checked_caller(properties, called.enrolled.roster)


@pytest.mark.parametrize(
    ("held", "changes", "error"),
    [
        ("another certificate", {}, "StrangerError"),
        ("another name", {}, "ImpostorError"),
        ("bob", {}, "ImpostorError"),
        (COORDINATOR, {"version": VERSION + 1}, "WrongVersionError"),
    ],
)
def test_who_is_not_whom_it_says_and_other_versions_are_refused_and_logged(
    tmp_path: Path, held: str, changes: dict[str, object], error: str
) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    other = enrol(COORDINATOR, enrolled.authority)
    if held == "another name":
        enrolled.held[COORDINATOR] = other = enrol("mallory", enrolled.authority)
    with enrolled.node("ann") as node:
        called = CalledNode(enrolled, node)
        own = enrolled.held.get(held, other)
        assert error in called.refused(own, called.frame(COORDINATOR, **changes))
        assert called.logged(error)


@pytest.mark.parametrize(
    ("sender", "changes", "outcome", "error"),
    [
        ("bob", {}, "refused", "RunRefusedError"),
        (COORDINATOR, {"size": TEN_GB}, "refused", "TooLargeError"),
        (COORDINATOR, {"digest": bytes(32)}, "later", "BadFrameError"),
    ],
    ids=["a peer proposes", "ten declared gigabytes", "a damaged body is asked for again"],
)
def test_a_frame_that_cannot_be_taken_is_answered_and_logged(
    called: CalledNode, sender: str, changes: dict[str, object], outcome: str, error: str
) -> None:
    answer = called.call(called.enrolled.held[sender], called.frame(sender, **changes))
    assert answer.outcome == outcome
    assert answer.error == (error if outcome == "refused" else answer.error)
    assert called.node.server.bodies == (outcome == "later")
    assert called.logged(error)


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
        enrolled.held["bob"] = enrol("bob", enrolled.authority)
        client = MessageClient(enrolled.roster["ann"], enrolled.held["bob"], Settings(), no_log)
        with pytest.raises(InputError, match="PERMISSION_DENIED"):
            client.call("Echo", b"a word", 10)
        client.close()
    assert len(heard) == 1


def no_log(_event: str, /, **_fields: object) -> None:
    pass


def test_more_than_was_declared_is_refused(called: CalledNode) -> None:
    with pytest.raises(grpc.RpcError, match="TooLargeError"):
        called.call(called.enrolled.held[COORDINATOR], called.frame(size=3))
    assert called.node.status()["runs"] == []
    assert called.call(called.enrolled.held[COORDINATOR], called.frame()).outcome == "taken"


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
    enrolled: Enrolled, log: list[str], *, trusting: Authority | None = None
) -> MessageClient:
    own = enrolled.held[COORDINATOR]
    if trusting is not None:
        own = Credentials(own.certificate, own.key, trusting.certificate)
    return MessageClient(
        enrolled.roster["ann"],
        own,
        Settings(),
        lambda _, /, **fields: log.append(str(fields["error"])),
    )


def test_a_caller_trusts_the_certificate_of_the_roster_only(tmp_path: Path) -> None:
    enrolled = Enrolled(TRAINING, tmp_path)
    with enrolled.node("ann"):
        log = list[str]()
        client = client_of(enrolled, log)
        assert client.connect()
        client.close()
        assert not client_of(enrolled, log, trusting=Authority.new("authority")[0]).connect()
        assert log[-1] == "SSLCertVerificationError unable to get local issuer certificate"
        enrolled.held["ann"] = enrol("ann", enrolled.authority)
        assert not client_of(enrolled, log).connect()
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
        assert not client_of(enrolled, log).connect()
        thread.join()
    assert "VERSION" in log[-1].upper()
