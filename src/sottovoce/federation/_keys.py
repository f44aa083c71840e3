"""A party's keys and other secrets: made, kept in files of its owner's, and read again.

A sealed file holds its secret under AES-256-GCM, with a key that scrypt derives from a passphrase;
the configuration says where that comes from. Without one the file's mode, 0600, is all that
protects it.
"""

import getpass
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.errors import (
    ConfigError,
    InputError,
    JournalError,
    MissingExtraError,
    ParameterError,
)
from sottovoce.federation.config import (
    FROM_FILE,
    FROM_VARIABLE,
    NONE,
    PROMPT,
    PartyConfig,
    Role,
    SecretFiles,
    check_source,
)
from sottovoce.files import refuse_open_to_others, small_text, whole_file
from sottovoce.learn.paillier.key_files import seal_fields, unseal
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.wire.codec import encode_value
from sottovoce.parsing import parse_json
from sottovoce.privacy.randomness import random_bytes, system_bytes

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )
except ImportError as error:
    raise MissingExtraError("cryptography", "federation") from error

if TYPE_CHECKING:
    from sottovoce.learn.paillier.keys import PrivateKey

FORMAT = "sottovoce-secret"
VERSION = 1
IDENTITY, JOURNAL, MEMORY, TLS = "identity", "journal", "memory", "tls"
FILES = SecretFiles()
_LARGEST_FILE = 1 << 18
_SECRET_BYTES = KEY_BYTES = 32
_NONCE_BYTES = 12
_PEM = "-----BEGIN"
_VARIABLE = "SOTTOVOCE_PASSPHRASE"
_WITH_PAILLIER = ("coordinator", "keyholder")


def save_secret(path: Path, secret: bytes, *, kind: str, passphrase: str | None) -> None:
    """Write a secret of some ``kind`` (identity, journal, ...) for its owner only."""
    head = {"format": FORMAT, "version": VERSION, "kind": kind}
    body = {"secret": secret.hex()} if passphrase is None else seal_fields(secret, passphrase, kind)
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps(head | body) + "\n", encoding="utf-8")


def load_secret(path: Path, *, kind: str, passphrase: str | None) -> bytes:
    """Read a secret of that kind; refuses a file that others can read."""
    fields = _read_fields(path)
    if fields.get("kind") != kind:
        raise InputError(f"{path} must hold the secret of the kind {kind!r}.")
    try:
        if "sealed" not in fields:
            return bytes.fromhex(fields["secret"])
        return _open_sealed(fields, kind, passphrase, path)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path} is damaged: it is no whole file of a secret.") from None


def private_text(path: Path) -> str:
    """The text of a small file that only its owner may read."""
    try:
        refuse_open_to_others(path)
        return small_text(path, _LARGEST_FILE, "the file of a secret")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no file of a secret: it is not text.") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}.") from None


def _read_fields(path: Path) -> dict[str, Any]:
    try:
        fields = parse_json(private_text(path))
    except json.JSONDecodeError:
        fields = None
    if not isinstance(fields, dict) or fields.get("format") != FORMAT:
        raise InputError(f"{path} is no file of a secret.")
    if fields.get("version") != VERSION:
        raise InputError(f"{path} must be of version {VERSION}.")
    return fields


def _open_sealed(fields: dict[str, Any], kind: str, passphrase: str | None, path: Path) -> bytes:
    if passphrase is None:
        raise InputError(f"{path} is sealed; give its passphrase.")
    salt, nonce, sealed = (bytes.fromhex(fields[name]) for name in ("salt", "nonce", "sealed"))
    try:
        return unseal(salt, nonce, sealed, passphrase, kind)
    except InvalidTag:
        raise InputError(f"the passphrase of {path} is wrong, or the file was changed.") from None


def party_passphrase(config: PartyConfig) -> str | None:
    """The passphrase of a party's keys, or None where there is none."""
    return read_passphrase(config.party.secrets.passphrase, config.folder)


def read_passphrase(source: str, folder: Path) -> str | None:
    """The passphrase, or None where there is none; a file's path is relative to ``folder``."""
    check_source(source)
    if source == NONE:
        return None
    if source == PROMPT:
        found, where = _prompt_passphrase(), "what was typed"
    elif source.startswith(FROM_VARIABLE):
        variable = source.removeprefix(FROM_VARIABLE)
        found, where = _read_variable(variable), f"the variable {variable}"
    else:
        found = private_text(folder / source.removeprefix(FROM_FILE)).rstrip("\n")
        where = source
    if not found:
        raise InputError(f"the passphrase of {where} must not be empty.")
    return found


def _prompt_passphrase() -> str:
    if not sys.stdin.isatty():
        raise InputError(
            "a passphrase cannot be asked for without a terminal; give its source as "
            f"{FROM_VARIABLE}{_VARIABLE} or {FROM_FILE}PATH."
        )
    return getpass.getpass("Passphrase: ")


def _read_variable(variable: str) -> str:
    found = os.environ.get(variable)
    if found is None:
        raise InputError(f"the passphrase must be in the environment variable {variable}.")
    return found


def save_key(key: bytes, path: Path, *, passphrase: str | None) -> None:
    """Write a private key: as PEM, or sealed where there is a passphrase."""
    if passphrase is not None:
        save_secret(path, key, kind=TLS, passphrase=passphrase)
        return
    with whole_file(path, private=True) as part:
        part.write_bytes(key)


def load_key(path: Path, *, passphrase: str | None) -> bytes:
    """A private key as clear PEM for TLS; one's own PEM may be encrypted as OpenSSL does it."""
    text = private_text(path)
    if not text.startswith(_PEM):
        return load_secret(path, kind=TLS, passphrase=passphrase)
    encrypted = "ENCRYPTED" in text
    password = passphrase.encode() if encrypted and passphrase is not None else None
    try:
        key = load_pem_private_key(text.encode(), password)
    except (TypeError, ValueError):
        raise ConfigError(
            f"{path} must be a private key in PEM, with the right passphrase if it is encrypted."
        ) from None
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@dataclass(frozen=True)
class Secrets:
    """What a party must never show; `paillier` where its role has such a key.

    ``memory`` keys what it remembers of its documents; unlike the others it is never made again.
    """

    tls_key: bytes = field(repr=False)
    journal_key: bytes = field(repr=False)
    identity: Identity | None = field(repr=False)
    paillier: "PrivateKey | None" = field(repr=False)
    memory: bytes = field(repr=False)


def load_secrets(config: PartyConfig) -> Secrets:
    """Read all secrets of a party, asking for their passphrase once."""
    party, passphrase = config.party, party_passphrase(config)
    memory = config.path(party.secrets.memory)
    journal = load_secret(config.path(party.secrets.journal), kind=JOURNAL, passphrase=passphrase)
    key = load_key(config.path(party.tls.key), passphrase=passphrase)
    identity = load_identity(config, passphrase)
    paillier = _load_paillier_key(config, passphrase)
    if not memory.exists():  # lost with its memory: the count outside tells
        new_secret(memory, MEMORY, passphrase)
    secret = load_secret(memory, kind=MEMORY, passphrase=passphrase)
    return Secrets(key, journal, identity, paillier, secret)


def new_secrets(
    folder: Path, role: Role, key_bits: int | None, passphrase: str | None
) -> Identity | None:
    """Make a party's secrets; a peer's identity, which nobody else has."""
    new_secret(folder / FILES.journal, JOURNAL, passphrase)
    new_secret(folder / FILES.memory, MEMORY, passphrase)
    if key_bits is not None and role in _WITH_PAILLIER:
        new_paillier_key(folder / FILES.paillier, key_bits, passphrase)
    if role != "peer":
        return None
    return Identity(new_secret(folder / FILES.identity, IDENTITY, passphrase))


def new_secret(path: Path, kind: str, passphrase: str | None) -> bytes:
    """A fresh secret of 32 bytes; what the old one sealed or signed for is lost with it."""
    secret = random_bytes(_SECRET_BYTES)
    save_secret(path, secret, kind=kind, passphrase=passphrase)
    return secret


def new_paillier_key(path: Path, bits: int, passphrase: str | None) -> None:
    """A fresh Paillier key; classifiers hidden under the old one can be asked no more."""
    from sottovoce.learn.paillier.key_files import save_private_key  # noqa: PLC0415 - likewise
    from sottovoce.learn.paillier.keys import generate_key  # noqa: PLC0415 - masks need no gmpy2

    with generate_key(bits) as key:
        save_private_key(key, path, passphrase=passphrase)


def load_identity(config: PartyConfig, passphrase: str | None) -> Identity | None:
    """A peer's signing key; nobody else has one."""
    if config.party.role != "peer":
        return None
    path = config.path(config.party.secrets.identity)
    return Identity(load_secret(path, kind=IDENTITY, passphrase=passphrase))


def _load_paillier_key(config: PartyConfig, passphrase: str | None) -> "PrivateKey | None":
    path = config.path(config.party.secrets.paillier)
    if config.party.role not in _WITH_PAILLIER or not path.exists():
        return None
    from sottovoce.learn.paillier.key_files import load_private_key  # noqa: PLC0415 - gmpy2

    return load_private_key(path, passphrase=passphrase)


class JournalSeal:
    """Seals a value for one place of the journal; at any other place it does not open."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ParameterError(f"a journal's key must have {KEY_BYTES} bytes, got {len(key)}.")
        self._cipher = AESGCM(key)

    def seal(self, content: bytes, *place: bytes | str | int) -> bytes:
        """``content`` under a fresh nonce."""
        nonce = system_bytes(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, content, encode_value(place))

    def open(self, content: bytes, *place: bytes | str | int) -> bytes:
        """What was sealed for this place."""
        nonce, sealed = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, sealed, encode_value(place))
        except (InvalidTag, ValueError):
            raise JournalError(
                "the journal does not open: its key is another one, or it was changed."
            ) from None
