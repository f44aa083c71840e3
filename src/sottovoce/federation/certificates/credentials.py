"""What a party proves itself by: its certificate, its key, and the authority that it trusts."""

import hashlib
from dataclasses import dataclass, field

from sottovoce.errors import InputError, MissingExtraError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import NameOID
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error


@dataclass(frozen=True)
class Credentials:
    """PEM, all three; the key is kept in memory only.

    Attributes:
        certificate: of this party.
        key: its private key, without a passphrase.
        ca: the certificate of the authority that signed all parties' certificates.
    """

    certificate: bytes
    key: bytes = field(repr=False)
    ca: bytes


def fingerprint(certificate: bytes) -> str:
    """The SHA-256 of a certificate's DER, in hexadecimal; takes PEM or DER."""
    return hashlib.sha256(_read(certificate).public_bytes(Encoding.DER)).hexdigest()


def named_party(certificate: bytes) -> str:
    """The common name of a certificate; empty where it has none."""
    found = _read(certificate).subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""


def network_name(certificate: bytes) -> str:
    """A name of the net that the certificate is for: what TLS compares."""
    try:
        extension = _read(certificate).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        names = extension.value.get_values_for_type(x509.DNSName)
    except x509.ExtensionNotFound:
        names = []
    return names[0] if names else named_party(certificate)


def as_pem(certificate: bytes) -> bytes:
    """A certificate given as DER or PEM, as PEM."""
    return _read(certificate).public_bytes(Encoding.PEM)


def _read(certificate: bytes) -> x509.Certificate:
    try:
        if certificate.lstrip().startswith(b"-----"):
            return x509.load_pem_x509_certificate(certificate)
        return x509.load_der_x509_certificate(certificate)
    except ValueError:
        raise InputError("a certificate must be X.509 in PEM or DER.") from None
