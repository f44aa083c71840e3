"""Mutual TLS 1.3 for gRPC, and the certificate of the other side compared with the roster's.

gRPC's Python API cannot ask for a least version of TLS, and its core takes 1.2 and 1.3. The suites
of TLS 1.2 can be chosen though, by an environment variable that is read when the core starts, while
those of 1.3 are fixed. So the only suites of 1.2 that are left need a key shared beforehand, which
nobody has: no 1.2 handshake can succeed, as client or as server. Should the core have started
before this module was imported, a server still refuses each call by its connection's version.

A client first makes a handshake of its own: TLS 1.3, the authority's signature, the fingerprint and
the name. It then trusts exactly that certificate, and no other of the authority.

gRPC tells of a handshake that TLS refused on the standard error only: its core says neither who
called nor calls anything back; it writes a line, with the reason. So while a party serves,
`handshakes_logged` sends what native code writes to the standard error through a pipe: a failed
handshake becomes an event, gRPC's other lines are dropped, and anything else goes where it was
meant to.
"""

import os
import re
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from sottovoce.errors import ImpostorError, MissingExtraError, StrangerError
from sottovoce.federation.certificates import (
    Credentials,
    as_pem,
    fingerprint,
    named_party,
    network_name,
)
from sottovoce.federation.roster import Member, Roster
from sottovoce.federation.transport.frames import Log

_NO_TLS_1_2 = "ECDHE-PSK-AES128-CBC-SHA"
# Before gRPC is imported: whoever needs it takes it from here.
os.environ["GRPC_SSL_CIPHER_SUITES"] = _NO_TLS_1_2

try:
    import grpc as grpc  # noqa: PLC0414 - others take it from here
except ImportError as error:
    raise MissingExtraError("grpcio", "federation") from error

TLS_1_3 = "TLSv1.3"
_PROBE_S = 5.0
_STANDARD_ERROR = 2
_LONGEST_LINE = 4096
_OF_GRPC = re.compile(rb"^[IWEF]\d{4} \d\d:\d\d:\d\d")
_FAILED = re.compile(rb"Handshake failed with error .*?OPENSSL_internal:(.{1,160})")
_FAILED_BARELY = re.compile(rb"Handshake failed with error (.{1,160})")


def server_credentials(own: Credentials) -> grpc.ServerCredentials:
    """A server that asks every client for a certificate of the authority."""
    return grpc.ssl_server_credentials(
        [(own.key, own.certificate)], root_certificates=own.ca, require_client_auth=True
    )


def client_credentials(member: Member, own: Credentials) -> tuple[grpc.ChannelCredentials, str]:
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


def pinned_credentials(address: str, known: str) -> tuple[grpc.ChannelCredentials, str]:
    """Credentials of a caller without a certificate, who trusts the one certificate it was told of.

    Raises OSError while nobody answers or TLS fails, StrangerError where another answers.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = (
        ssl.CERT_NONE
    )  # the fingerprint is compared below, before anything is said
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["h2"])
    found = _handshake(address, context)
    if fingerprint(found) != known:
        raise StrangerError(
            "whoever answers must show the certificate that the token names, and shows another: "
            "nothing was said to it."
        )
    return grpc.ssl_channel_credentials(as_pem(found)), network_name(found)


def open_credentials(own: Credentials) -> grpc.ServerCredentials:
    """A server that proves itself and asks its callers for no certificate."""
    return grpc.ssl_server_credentials([(own.key, own.certificate)])


def check_transport(properties: dict[str, list[bytes]]) -> None:
    """Refuse a caller whose connection is weak."""
    if properties.get("ssl_tls_version") != [TLS_1_3.encode()]:
        raise StrangerError("connections must use TLS 1.3.")


def checked_caller(properties: dict[str, list[bytes]], roster: Roster) -> Member:
    """Who calls, by the properties of an authenticated connection."""
    check_transport(properties)
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


@contextmanager
def handshakes_logged(log: Log) -> Iterator[None]:
    """Log every handshake that fails meanwhile; Python's own standard error stays as it is."""
    kept, python_error = os.dup(_STANDARD_ERROR), sys.stderr
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # a line may be lost, a party must not wait
    with os.fdopen(reading, "rb") as lines, os.fdopen(kept, "wb", buffering=0) as true_error:
        sys.stderr = os.fdopen(
            os.dup(kept), "w", encoding="utf-8", errors="backslashreplace", buffering=1
        )
        os.dup2(writing, _STANDARD_ERROR)
        os.close(writing)
        thread = threading.Thread(target=_sort_lines, args=(lines, true_error, log), daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.dup2(kept, _STANDARD_ERROR)  # the pipe's last writer: the thread comes to its end
            thread.join()
            sys.stderr.close()
            sys.stderr = python_error


def failure(line: bytes) -> str | None:
    """Why a handshake failed, if a line of gRPC's says that one did."""
    found = _FAILED.search(line) or _FAILED_BARELY.search(line)
    return None if found is None else found[1].decode("ascii", "replace").strip()


def _sort_lines(lines: BinaryIO, true_error: BinaryIO, log: Log) -> None:
    while line := lines.readline(_LONGEST_LINE):
        why = failure(line)
        if why is not None:
            log("handshake refused", error=why)
        elif not _OF_GRPC.match(line):
            true_error.write(line)
