"""Mutual TLS 1.3 for gRPC, and the certificate of the other side compared with the roster's.

gRPC's Python API cannot ask for a least version of TLS, and its core takes 1.2 and 1.3. The suites
of TLS 1.2 can be chosen though, by an environment variable that is read when the core starts, while
those of 1.3 are fixed. So the only suites of 1.2 that are left need a key shared beforehand, which
nobody has: no 1.2 handshake can succeed, as client or as server. Should the core have started
before this module was imported, a server still refuses each call by its connection's version.
gRPC's core writes every handshake that fails, with the reason, to the standard error;
`handshakes` makes events of that.

A client first makes a handshake of its own: TLS 1.3, the authority's signature, the fingerprint and
the name. It then trusts exactly that certificate, and no other of the authority.
"""

import os
import socket
import ssl

from sottovoce.errors import MissingExtraError
from sottovoce.federation.certificates.credentials import (
    Credentials,
    as_pem,
    fingerprint,
    named_party,
    network_name,
)
from sottovoce.federation.transport.refusals import ImpostorError, StrangerError, WeakTransportError
from sottovoce.federation.transport.roster import Member, Roster

_NO_TLS_1_2 = "ECDHE-PSK-AES128-CBC-SHA"
os.environ["GRPC_SSL_CIPHER_SUITES"] = _NO_TLS_1_2

try:
    import grpc
except ImportError as error:
    raise MissingExtraError("grpcio", "federation") from error

__all__ = ["checked_caller", "dialled", "grpc", "server_credentials"]

TLS_1_3 = "TLSv1.3"
_PROBE_S = 5.0


def server_credentials(own: Credentials) -> grpc.ServerCredentials:
    """A server that asks every client for a certificate of the authority."""
    return grpc.ssl_server_credentials(
        [(own.key, own.certificate)], root_certificates=own.ca, require_client_auth=True
    )


def dialled(member: Member, own: Credentials) -> tuple[grpc.ChannelCredentials, str]:
    """Credentials that trust this member's certificate only, and the name that TLS compares.

    Raises OSError while nobody answers or TLS fails, StrangerError or ImpostorError where the other
    side is not whom the roster means.
    """
    context = _context(own)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    found = _handshake(member.address, context)
    _check_member(found, member)
    trusted = grpc.ssl_channel_credentials(as_pem(found), own.key, own.certificate)
    return trusted, network_name(found)


def checked_caller(properties: dict[str, list[bytes]], roster: Roster) -> Member:
    """Who calls, by the properties of an authenticated connection."""
    if properties.get("ssl_tls_version") != [TLS_1_3.encode()]:
        raise WeakTransportError("connections must use TLS 1.3.")
    certificates = properties.get("x509_pem_cert", [])
    if len(certificates) != 1:
        raise StrangerError("callers must show a certificate.")
    member = roster.with_fingerprint(fingerprint(certificates[0]))
    if member is None:
        raise StrangerError("callers must show a certificate that is on the roster.")
    _check_member(certificates[0], member)
    return member


def _check_member(certificate: bytes, member: Member) -> None:
    if fingerprint(certificate) != member.fingerprint:
        raise StrangerError(f"{member.name} must show the certificate that is on the roster.")
    if named_party(certificate) not in (member.name, member.certificate_name):
        raise ImpostorError(f"the certificate of {member.name} must bear its name.")


def _handshake(address: str, context: ssl.SSLContext) -> bytes:
    host, _, port = address.rpartition(":")
    with (
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PROBE_S) as plain,
        context.wrap_socket(plain) as secured,
    ):
        return secured.getpeercert(binary_form=True) or b""


def _context(own: Credentials) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the fingerprint says more than any name
    context.load_verify_locations(cadata=own.ca.decode())
    context.set_alpn_protocols(["h2"])
    # OpenSSL reads keys from files only; this one never leaves memory.
    descriptor = os.memfd_create("credentials")
    try:
        os.write(descriptor, own.key + b"\n" + own.certificate)
        context.load_cert_chain(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return context
