"""What a party proves itself by: its certificate and key, and the authority that signs them.

A federation has a small certificate authority of its own. Keys are ECDSA on P-256, which every TLS
1.3 stack takes. A certificate names its party, and the hosts it listens on; it serves as a server's
and as a client's, since every party is both. Last here is how certificates and keys are kept in
files.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sottovoce.errors import (
    ConfigError,
    InputError,
    MissingExtraError,
    ParameterError,
    RosterRefusedError,
)

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error

DAYS = 365
AUTHORITY_DAYS = 3650
WARNING_DAYS = 30
_MOST_DAYS = 36500
# Clocks of parties differ; a certificate made now must already be valid at all of them.
_SKEW = timedelta(hours=1)
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
# Before whatever the authority signs that is no certificate: none begins like this.
_SIGNED = b"sottovoce signed by an authority\0"
_LARGEST_FILE = 1 << 18


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


@dataclass(frozen=True)
class Issued:
    """A certificate and its private key, as PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


class Authority:
    """Signs the certificates of one federation's parties."""

    def __init__(self, certificate: bytes, key: bytes) -> None:
        self.certificate = certificate
        self._certificate = read_certificate(certificate, "the authority's certificate")
        self._key = read_key(key)
        if self._key.public_key() != self._certificate.public_key():
            raise ConfigError("the authority's key does not belong to its certificate.")

    @classmethod
    def new(cls, name: str, *, days: int = AUTHORITY_DAYS) -> "tuple[Authority, Issued]":
        """A fresh authority, and what to keep of it."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _subject(name)
        builder = (
            _validity(x509.CertificateBuilder(), days)
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs_certificates=True), critical=True)
            .add_extension(_identifier(key.public_key()), critical=False)
        )
        issued = Issued(_pem(builder.sign(key, SHA256())), _key_pem(key))
        return cls(issued.certificate, issued.key), issued

    def issue(self, name: str, hosts: Sequence[str] = (), *, days: int = DAYS) -> Issued:
        """A certificate for one party, with a fresh key."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = x509.SubjectAlternativeName(_alternatives(name, hosts))
        return Issued(
            self._sign_certificate(name, key.public_key(), alternatives, days), _key_pem(key)
        )

    def grant(
        self, request: bytes, name: str, hosts: Sequence[str] = (), *, days: int = DAYS
    ) -> bytes:
        """A certificate for the key of a party's own request; its key is not seen here."""
        public = requested_key(request, name)
        alternatives = x509.SubjectAlternativeName(_alternatives(name, hosts))
        return self._sign_certificate(name, public, alternatives, days)

    def signature(self, message: bytes) -> bytes:
        """Over a message that is no certificate; `check_authority_signature` looks at it."""
        return self._key.sign(_SIGNED + message, ec.ECDSA(SHA256()))

    def renew(self, certificate: bytes, *, days: int = DAYS) -> bytes:
        """The same party, key and hosts with a new end."""
        old = read_certificate(certificate, "the certificate to renew")
        check_issuer(old, self._certificate)
        public = old.public_key()
        if not isinstance(public, ec.EllipticCurvePublicKey):
            raise ConfigError("this authority renews certificates with ECDSA keys only.")
        alternatives = old.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        return self._sign_certificate(common_name(old), public, alternatives, days)

    def _sign_certificate(
        self,
        name: str,
        public: ec.EllipticCurvePublicKey,
        alternatives: x509.SubjectAlternativeName,
        days: int,
    ) -> bytes:
        both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = (
            _validity(x509.CertificateBuilder(), days)
            .subject_name(_subject(name))
            .issuer_name(self._certificate.subject)
            .public_key(public)
            .serial_number(x509.random_serial_number())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(both), critical=False)
            .add_extension(alternatives, critical=False)
            .add_extension(_identifier(public), critical=False)
            .add_extension(self._issuer_identifier(), critical=False)
        )
        return _pem(builder.sign(self._key, SHA256()))

    def _issuer_identifier(self) -> x509.AuthorityKeyIdentifier:
        return x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())


def new_key() -> bytes:
    """A fresh private key of a party, as PEM."""
    return _key_pem(ec.generate_private_key(ec.SECP256R1()))


def certificate_request(key: bytes, name: str) -> bytes:
    """A request for a certificate in that name, signed with the key itself (PKCS #10, PEM)."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(_subject(check_name(name)))
    return builder.sign(read_key(key), SHA256()).public_bytes(Encoding.PEM)


def requested_key(request: bytes, name: str) -> ec.EllipticCurvePublicKey:
    """The public key of a request, which its owner must have signed in that name."""
    try:
        read = x509.load_pem_x509_csr(request)
        sound = read.is_signature_valid
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigError("a certificate request must be PKCS #10 in PEM.") from None
    public = read.public_key()
    if not sound or not isinstance(public, ec.EllipticCurvePublicKey):
        raise ConfigError("a certificate request must be signed with its own ECDSA key.")
    if not isinstance(public.curve, ec.SECP256R1) or read.subject != _subject(check_name(name)):
        raise ConfigError(f"a certificate request must be for {name}, with a key on P-256.")
    return public


def check_authority_signature(authority: bytes, signature: bytes, message: bytes) -> None:
    """Refuse a message that this authority did not sign."""
    public = read_certificate(authority, "the authority's certificate").public_key()
    if not isinstance(public, ec.EllipticCurvePublicKey):
        raise ConfigError("the authority's key must be ECDSA.")
    try:
        public.verify(signature, _SIGNED + message, ec.ECDSA(SHA256()))
    except InvalidSignature:
        raise ConfigError("the federation's authority did not sign this.") from None


def check_name(name: str) -> str:
    """A party's name as certificates can carry it."""
    if not _NAME.fullmatch(name):
        raise ParameterError(
            "a party's name must have 1 to 63 small letters, digits and hyphens inside, got "
            f"{name[:80]!r}."
        )
    return name


def read_certificate(pem: bytes, what: str = "the certificate") -> x509.Certificate:
    """The first certificate of some PEM."""
    try:
        return x509.load_pem_x509_certificate(pem)
    except ValueError:
        raise ConfigError(f"{what} must be a certificate in PEM.") from None


def read_key(pem: bytes, password: bytes | None = None) -> ec.EllipticCurvePrivateKey:
    """An ECDSA private key of some PEM."""
    try:
        key = load_pem_private_key(pem, password)
    except (TypeError, ValueError):
        raise ConfigError("a private key must be in PEM, with the right passphrase.") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ConfigError("a private key of this authority must be ECDSA.")
    return key


def days_left(pem: bytes, *, now: datetime | None = None) -> float:
    """Until a certificate ends; below 0 when it has."""
    end = read_certificate(pem).not_valid_after_utc
    return (end - (now or datetime.now(UTC))).total_seconds() / 86400


def check_certificate(
    pem: bytes, authority: bytes, *, name: str, now: datetime | None = None
) -> None:
    """Refuse a certificate that the others would refuse, before they do."""
    certificate = read_certificate(pem)
    moment = now or datetime.now(UTC)
    ends, begins = certificate.not_valid_after_utc, certificate.not_valid_before_utc
    if moment >= ends:
        raise ConfigError(
            f"the certificate of {name} ended on {ends:%Y-%m-%d}; renew it: sottovoce learn renew."
        )
    if moment < begins:
        raise ConfigError(
            f"the certificate of {name} begins on {begins:%Y-%m-%d %H:%M} UTC; is the clock right?"
        )
    if name not in certificate_names(certificate):
        raise ConfigError(f"the certificate must name {name}; it names another party.")
    check_issuer(certificate, read_certificate(authority, "the authority's certificate"))


def check_issuer(certificate: x509.Certificate, authority: x509.Certificate) -> None:
    """Refuse a certificate that this authority did not sign."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, TypeError, ValueError):
        raise ConfigError(
            f"the certificate of {common_name(certificate)[:80]!r} must be signed by the "
            "federation's authority; it is not."
        ) from None


def _alternatives(name: str, hosts: Iterable[str]) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = [x509.DNSName(check_name(name))]
    for host in dict.fromkeys(hosts):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(host)))
        except ValueError:
            if host != name:
                names.append(x509.DNSName(host))
    return names


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _validity(builder: x509.CertificateBuilder, days: int) -> x509.CertificateBuilder:
    if not 1 <= days <= _MOST_DAYS:
        raise ParameterError(f"a certificate's days must be 1 to {_MOST_DAYS}, got {days}.")
    now = datetime.now(UTC)
    return builder.not_valid_before(now - _SKEW).not_valid_after(now + timedelta(days=days))


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _identifier(public: ec.EllipticCurvePublicKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(public)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def load_certificate(path: Path) -> bytes:
    """A certificate's PEM, or one sentence about what is wrong with the file."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise ConfigError(f"{path} is too large for a certificate.")
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot read the certificate {path}: {error.strerror}.") from None


def check_own_key(certificate: bytes, key: bytes) -> None:
    """Refuse a certificate of somebody else's key."""
    if read_certificate(certificate).public_key() != read_key(key).public_key():
        raise RosterRefusedError("the certificate must be for this party's own key; it is not.")
