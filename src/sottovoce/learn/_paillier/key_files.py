"""Keys as JSON, public ones to hand out and private ones for their owner; and a proof of a key.

Private keys are in files that only their owner reads, sealed where there is a passphrase.

The proof, checked by anyone, shows that blinding under a foreign key blinds. r -> r^n permutes the
units modulo n exactly if gcd(n, phi(n)) = 1. The owner shows n-th roots of numbers that a hash
chose: where the gcd has a prime factor d, at most one number in d has one. (Goldberg, Reyzin, Sagga
and Baldimtsi, Asiacrypt 2019, with the hash for the verifier.) It shows that n is square-free too.
It does not show that n has only two factors, or who knows them.
"""

import hashlib
import json
from pathlib import Path
from typing import TypeAlias

from cryptography.exceptions import InvalidTag

from sottovoce._files import refuse_open_to_others, small_text, whole_file
from sottovoce.errors import InputError
from sottovoce.learn._encrypted_files import NONCE_BYTES, sealed_fields, unsealed
from sottovoce.learn._paillier._grid import gmpy2
from sottovoce.learn._paillier._primes import SMALL_LIMIT, has_small_factor
from sottovoce.learn._paillier.keys import PrivateKey, PublicKey
from sottovoce.learn._wire.codec import (
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
KeyProof: TypeAlias = tuple[int, ...]
_LARGEST_FILE = 1 << 18
_NAME = b"sottovoce paillier permutation proof 1"
_EXCESS_BYTES = 16
_SECURITY_BITS = 128
# No prime below 2^16 divides n, so a root exists by luck with a chance below 2^-16.
ROUNDS = _SECURITY_BITS // (SMALL_LIMIT.bit_length() - 1)


def public_key_to_text(public: PublicKey, proof: KeyProof = ()) -> str:
    """A public key to hand out, with its owner's proof if there is one."""
    fields = {"format": PUBLIC_FORMAT, "version": VERSION, "modulus": f"{int(public.n):x}"}
    return json.dumps(fields | ({"proof": [f"{root:x}" for root in proof]} if proof else {}))


def public_key_from_text(text: str, *, needs_proof: bool = False) -> PublicKey:
    """A public key that came from outside, checked; its proof too where there is one."""
    fields = parse_fields(text, "a public key")
    check_format(fields, PUBLIC_FORMAT, VERSION)
    public = PublicKey(from_hexadecimal(fields.get("modulus"), "modulus"))
    if needs_proof or "proof" in fields:
        roots = field(fields, "proof", list)
        check_key_proof(public, tuple(from_hexadecimal(each, "proof") for each in roots))
    return public


def save_public_key(public: PublicKey, path: Path, *, proof: KeyProof = ()) -> None:
    """Write a public key to a file."""
    with whole_file(path) as part:
        part.write_text(public_key_to_text(public, proof), encoding="utf-8")


def load_public_key(path: Path, *, needs_proof: bool = False) -> PublicKey:
    """Read and check a public key."""
    return public_key_from_text(_text(path), needs_proof=needs_proof)


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


def prove_key(private: PrivateKey) -> KeyProof:
    """The owner's proof that blinding under this key permutes."""
    n = private.public.n
    phi = (private.secret.p - 1) * (private.secret.q - 1)
    exponent = gmpy2.invert(n, phi)
    return tuple(int(gmpy2.powmod(each, exponent, n)) for each in _challenges(private.public))


def check_key_proof(public: PublicKey, proof: KeyProof) -> None:
    """Refuse a key whose proof does not hold."""
    n = public.n
    sound = not has_small_factor(n) and len(proof) == ROUNDS
    if not sound or any(
        not 0 < root < n or gmpy2.powmod(root, n, n) != challenge
        for root, challenge in zip(proof, _challenges(public), strict=True)
    ):
        raise InputError("the proof of a public key does not hold; ask its owner for another key.")


def _challenges(public: PublicKey) -> list[int]:
    return [_challenge(public, number) for number in range(ROUNDS)]


def _challenge(public: PublicKey, number: int) -> int:
    size = (public.bits + 7) // 8
    seed = _NAME + bytes([number]) + int(public.n).to_bytes(size, "big")
    hashed = hashlib.shake_256(seed).digest(size + _EXCESS_BYTES)
    return int.from_bytes(hashed, "big") % int(public.n)
