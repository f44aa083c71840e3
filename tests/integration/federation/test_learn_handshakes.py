"""What a running party logs of callers that TLS turned away."""

import json
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from sottovoce.federation import certificates
from sottovoce.federation.certificates import Authority
from sottovoce.federation.config import TrainingSettings
from sottovoce.federation.party.control import running_parties
from sottovoce.federation.party.renewal import load_authority
from sottovoce.federation.setup import SetupPlan, set_up

NAMES = ("ada", "ben", "cy")


def call(address: str, version: ssl.TLSVersion, own: Path | None = None) -> None:
    """A handshake that must fail, or a first byte that never comes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.minimum_version = context.maximum_version = version
    context.set_alpn_protocols(["h2"])
    if own is not None:
        context.load_cert_chain(own)
    host, _, port = address.rpartition(":")
    with (
        pytest.raises(OSError),  # noqa: PT011 - any failure of TLS
        socket.create_connection((host, int(port)), timeout=20) as plain,
        context.wrap_socket(plain) as secured,
    ):
        assert secured.recv(1) == b"", "no frame of the server's must come"
        raise ConnectionError


def pem(folder: Path, name: str, authority: Authority, days: int) -> Path:
    made = authority.issue(name, days=days)
    path = folder / f"{name}{days}.pem"
    path.write_bytes(made.key + made.certificate)
    return path


def long_ago(builder: x509.CertificateBuilder, days: int) -> x509.CertificateBuilder:
    begun = datetime(2020, 1, 1, tzinfo=UTC)
    return builder.not_valid_before(begun).not_valid_after(begun + timedelta(days=days))


def test_every_refused_handshake_is_in_the_party_s_own_log(tmp_path: Path) -> None:
    root = tmp_path / "all"
    roster = set_up(root, SetupPlan(NAMES, TrainingSettings()))
    other, _ = Authority.new("another authority")
    stranger = pem(tmp_path, "coordinator", other, 30)
    own = load_authority(root / "authority", passphrase="none")  # noqa: S106 - the name of a source
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certificates, "_validity", long_ago)
        ended = pem(tmp_path, "ben", own, 31)
    (root / "ada" / "texts.csv").write_text("label,text\nyes,one\nno,two\n")
    with running_parties(root, ["ada"]):
        address = roster.find_party("ada").address
        call(address, ssl.TLSVersion.TLSv1_2)
        call(address, ssl.TLSVersion.TLSv1_3)
        call(address, ssl.TLSVersion.TLSv1_3, stranger)
        call(address, ssl.TLSVersion.TLSv1_3, ended)
    lines = [json.loads(line) for line in (root / "ada" / "log.jsonl").read_text().splitlines()]
    refused = [line["error"] for line in lines if line["event"] == "handshake refused"]
    assert any("NO_SHARED_CIPHER" in each or "VERSION" in each for each in refused)
    assert any("PEER_DID_NOT_RETURN_A_CERTIFICATE" in each for each in refused)
    assert any("unable to get local issuer" in each for each in refused)
    assert any("certificate has expired" in each for each in refused)
    assert (root / "ada" / "stderr.txt").read_text() == "ada has stopped.\n"
