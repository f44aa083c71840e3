"""Keys as JSON, public ones to hand out and private ones for their owner.

Private keys are in files that only their owner reads, sealed where there is a passphrase. A public
key that a protocol hands to others comes with its proof (see `key_proof`).
"""

import json
from pathlib import Path
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidTag

from sottovoce.errors import InputError
from sottovoce.files import refuse_open_to_others, small_text, whole_file
from sottovoce.learn.encrypted_files import NONCE_BYTES, sealed_fields, unsealed
from sottovoce.learn.paillier.key_proof import KeyProof, KnownKeys, prove_key, proven_key
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.wire.codec import (
    Fields,
    bytes_field,
    check_format,
    field,
    from_hexadecimal,
    parse_fields,
)

PUBLIC_FORMAT = "sottovoce-paillier-public-key"
PRIVATE_FORMAT = "sottovoce-paillier-private-key"
VERSION = 1
_LARGEST_FILE = 1 << 20
_TEXTS: WeakKeyDictionary[PrivateKey, str] = WeakKeyDictionary()


def public_key_to_text(public: PublicKey, proof: KeyProof = ()) -> str:
    """A public key to hand out, with its owner's proof if there is one."""
    fields = {"format": PUBLIC_FORMAT, "version": VERSION, "modulus": f"{int(public.n):x}"}
    return json.dumps(fields | ({"proof": [f"{root:x}" for root in proof]} if proof else {}))


def proven_key_to_text(private: PrivateKey) -> str:
    """One's own public key with its proof, which is made once for as long as the key is there."""
    if private not in _TEXTS:
        _TEXTS[private] = public_key_to_text(private.public, prove_key(private))
    return _TEXTS[private]


def public_key_from_text(
    text: str, *, needs_proof: bool = False, known: KnownKeys | None = None
) -> PublicKey:
    """A public key that came from outside, checked; its proof too where there is one.

    A key that is among ``known`` was proven before and needs no proof again; a newly proven one is
    added to them.
    """
    fields = parse_fields(text, "a public key")
    check_format(fields, PUBLIC_FORMAT, VERSION)
    modulus = from_hexadecimal(fields.get("modulus"), "modulus")
    if "proof" not in fields and known is not None and modulus in known:
        return known[modulus]
    if "proof" not in fields:
        if needs_proof:
            raise InputError("a public key must come with its owner's proof, got one without.")
        return PublicKey(modulus)
    roots = field(fields, "proof", list)
    public = proven_key(modulus, tuple(from_hexadecimal(each, "proof") for each in roots))
    if known is not None:
        known[modulus] = public
    return public


def save_private_key(private: PrivateKey, path: Path, *, passphrase: str | None = None) -> None:
    """Write a private key to a file only its owner can read, sealed if there is a passphrase."""
    fingerprint = private.public.fingerprint
    header = {"format": PRIVATE_FORMAT, "version": VERSION, "fingerprint": fingerprint}
    primes = {"p": f"{int(private.secret.p):x}", "q": f"{int(private.secret.q):x}"}
    body = (
        primes
        if passphrase is None
        else sealed_fields(json.dumps(primes).encode(), passphrase, fingerprint)
    )
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps({**header, **body}), encoding="utf-8")


def load_private_key(path: Path, *, passphrase: str | None = None) -> PrivateKey:
    """Read and check a private key; refuses a file that others can read."""
    fields = parse_fields(_text(path), "a private key")
    check_format(fields, PRIVATE_FORMAT, VERSION)
    refuse_open_to_others(path)
    primes = _opened(fields, passphrase) if "sealed" in fields else fields
    p, q = (from_hexadecimal(primes.get(name), name) for name in ("p", "q"))
    private = PrivateKey(p, q)
    if private.public.fingerprint != fields.get("fingerprint"):
        raise InputError("the private key does not belong to the fingerprint in its file.")
    return private


def _opened(fields: Fields, passphrase: str | None) -> Fields:
    if passphrase is None:
        raise InputError("this private key is encrypted; give its passphrase.")
    salt, nonce = bytes_field(fields, "salt"), bytes_field(fields, "nonce")
    if len(nonce) != NONCE_BYTES:
        raise InputError(f"the field 'nonce' must be of {NONCE_BYTES} bytes.")
    fingerprint = field(fields, "fingerprint", str)
    sealed = bytes_field(fields, "sealed")
    try:
        opened = unsealed(salt, nonce, sealed, passphrase, fingerprint)
    except InvalidTag:
        raise InputError("the passphrase is wrong, or the key file was changed.") from None
    return parse_fields(opened, "a private key")


def _text(path: Path) -> str:
    try:
        return small_text(path, _LARGEST_FILE, "a key file")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a key file: it is not text.") from None
