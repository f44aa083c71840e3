"""What a party proves itself by: its certificate, its key, and the authority that it trusts."""

from dataclasses import dataclass, field

from sottovoce.errors import InputError, MissingExtraError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
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
    """The SHA-256 of a certificate's DER, in hexadecimal, as OpenSSL shows it; takes PEM or DER."""
    return _read(certificate).fingerprint(SHA256()).hex()


def named_party(certificate: bytes) -> str:
    """The common name of a certificate in PEM or DER; empty where it has none."""
    return common_name(_read(certificate))


def network_name(certificate: bytes) -> str:
    """A name of the net that the certificate is for: what TLS compares."""
    read = _read(certificate)
    names = certificate_names(read)
    return names[0] if names else common_name(read)


def common_name(certificate: x509.Certificate) -> str:
    """The party that a certificate names; empty where it names none."""
    found = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(found[0].value) if found else ""


def certificate_names(certificate: x509.Certificate) -> list[str]:
    """The names of hosts that a certificate is for."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return found.get_values_for_type(x509.DNSName)


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
