"""A party's secrets: its identity, its journal's key and its Paillier key, made and read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.federation._files import load_secret, read_passphrase, save_secret
from sottovoce.federation.certificates import load_key
from sottovoce.federation.config import PartyConfig, Role, SecretFiles
from sottovoce.learn.sums.keys import Identity
from sottovoce.privacy.randomness import random_bytes

if TYPE_CHECKING:
    from sottovoce.learn.paillier.keys import PrivateKey


IDENTITY, JOURNAL, MEMORY = "identity", "journal", "memory"
SECRET_BYTES = 32
FILES = SecretFiles()


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
    files = config.party.secrets
    passphrase = read_passphrase(files.passphrase, config.folder)
    journal = load_secret(config.path(files.journal), kind=JOURNAL, passphrase=passphrase)
    return Secrets(
        load_key(config.path(config.party.tls.key), passphrase=passphrase),
        journal,
        _identity(config, passphrase),
        _paillier(config, passphrase),
        _memory(config, passphrase),
    )


def new_secrets(folder: Path, role: Role, key_bits: int | None, passphrase: str | None) -> bytes:
    """Make a party's secrets; its public identity, empty where it has none."""
    new_journal_key(folder / FILES.journal, passphrase)
    new_memory_key(folder / FILES.memory, passphrase)
    if key_bits is not None and role in ("coordinator", "keyholder"):
        new_paillier_key(folder / FILES.paillier, key_bits, passphrase)
    return new_identity(folder / FILES.identity, passphrase) if role == "peer" else b""


def new_journal_key(path: Path, passphrase: str | None) -> None:
    """A fresh key for a journal; what the old one sealed is lost with it."""
    save_secret(path, random_bytes(SECRET_BYTES), kind=JOURNAL, passphrase=passphrase)


def new_memory_key(path: Path, passphrase: str | None) -> None:
    """A key for what a party remembers of its documents; it stays the same for good."""
    save_secret(path, random_bytes(SECRET_BYTES), kind=MEMORY, passphrase=passphrase)


def new_identity(path: Path, passphrase: str | None) -> bytes:
    """A fresh signing key; its public half."""
    identity = Identity(random_bytes(SECRET_BYTES))
    save_secret(path, identity.secret, kind=IDENTITY, passphrase=passphrase)
    return identity.public


def new_paillier_key(path: Path, bits: int, passphrase: str | None) -> None:
    """A fresh Paillier key; classifiers hidden under the old one can be asked no more."""
    from sottovoce.learn.paillier.key_files import save_private_key  # noqa: PLC0415 - likewise
    from sottovoce.learn.paillier.keys import generate_key  # noqa: PLC0415 - masks need no gmpy2

    with generate_key(bits) as key:
        save_private_key(key, path, passphrase=passphrase)


def load_identity(path: Path, passphrase: str | None) -> Identity:
    """A peer's signing key."""
    return Identity(load_secret(path, kind=IDENTITY, passphrase=passphrase))


def _identity(config: PartyConfig, passphrase: str | None) -> Identity | None:
    if config.party.role != "peer":
        return None
    return load_identity(config.path(config.party.secrets.identity), passphrase)


def _memory(config: PartyConfig, passphrase: str | None) -> bytes:
    path = config.path(config.party.secrets.memory)
    if not path.exists():  # lost with its memory: the count outside tells
        new_memory_key(path, passphrase)
    return load_secret(path, kind=MEMORY, passphrase=passphrase)


def _paillier(config: PartyConfig, passphrase: str | None) -> "PrivateKey | None":
    path = config.path(config.party.secrets.paillier)
    if config.party.role not in ("coordinator", "keyholder") or not path.exists():
        return None
    from sottovoce.learn.paillier.key_files import load_private_key  # noqa: PLC0415 - gmpy2

    return load_private_key(path, passphrase=passphrase)
