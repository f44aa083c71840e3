"""Certificates and their keys in files."""

from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from sottovoce.federation.certificates.authority import CertificateError
from sottovoce.federation.sealed.files import load_secret, private_text, save_secret
from sottovoce.files import whole_file

KIND = "tls"
_PEM = "-----BEGIN"
_LARGEST_FILE = 1 << 18


def save_key(key: bytes, path: Path, *, passphrase: str | None) -> None:
    """Write a private key: as PEM, or sealed where there is a passphrase."""
    if passphrase is not None:
        save_secret(path, key, kind=KIND, passphrase=passphrase)
        return
    with whole_file(path, private=True) as part:
        part.write_bytes(key)


def load_key(path: Path, *, passphrase: str | None) -> bytes:
    """A private key as clear PEM for TLS; one's own PEM may be encrypted as OpenSSL does it."""
    text = private_text(path)
    if not text.startswith(_PEM):
        return load_secret(path, kind=KIND, passphrase=passphrase)
    encrypted = "ENCRYPTED" in text
    password = passphrase.encode() if encrypted and passphrase is not None else None
    try:
        key = load_pem_private_key(text.encode(), password)
    except (TypeError, ValueError):
        raise CertificateError(
            f"{path} must be a private key in PEM, with the right passphrase if it is encrypted."
        ) from None
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def load_certificate(path: Path) -> bytes:
    """A certificate's PEM, or one sentence about what is wrong with the file."""
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise CertificateError(f"{path} is too large for a certificate.")
        return path.read_bytes()
    except OSError as error:
        raise CertificateError(f"cannot read the certificate {path}: {error.strerror}.") from None
