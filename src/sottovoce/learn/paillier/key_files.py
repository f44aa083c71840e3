"""Keys as JSON, public ones to hand out and private ones for their owner.

First how a secret is sealed under a passphrase, then the proof that a public key is sound, which
goes with it to others (`prove_key`), then the files: a private key's only its owner can read.
"""

import hashlib
import json
from collections.abc import MutableMapping
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TypeAlias
from weakref import WeakKeyDictionary

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from sottovoce.errors import InputError
from sottovoce.files import refuse_open_to_others, small_text, whole_file
from sottovoce.learn.paillier.grid import gmpy2
from sottovoce.learn.paillier.keys import SMALL_LIMIT, PrivateKey, PublicKey, has_small_factor
from sottovoce.learn.wire.codec import (
    Fields,
    bytes_field,
    check_format,
    field,
    from_hexadecimal,
    parse_fields,
)
from sottovoce.privacy.randomness import random_bytes

NONCE_BYTES = 12
# Scrypt with 128 MiB of memory, as OWASP advises; fixed, so that a file cannot ask for more.
_SCRYPT_COST = 1 << 17
_SCRYPT_BLOCK = 8
_KEY_BYTES = 32
_SALT_BYTES = 16


def seal_fields(secret: bytes, passphrase: str, bound_to: str) -> dict[str, str]:
    """What a file holds of a sealed secret; it opens only beside the same ``bound_to``."""
    if not passphrase:
        raise InputError("a passphrase must not be empty; leave it out to write none.")
    salt, nonce = random_bytes(_SALT_BYTES), random_bytes(NONCE_BYTES)
    sealed = _cipher(passphrase, salt).encrypt(nonce, secret, bound_to.encode())
    return {"salt": salt.hex(), "nonce": nonce.hex(), "sealed": sealed.hex()}


def unseal(salt: bytes, nonce: bytes, sealed: bytes, passphrase: str, bound_to: str) -> bytes:
    """The secret; cryptography's InvalidTag if the passphrase is wrong or a byte was changed."""
    return _cipher(passphrase, salt).decrypt(nonce, sealed, bound_to.encode())


def _cipher(passphrase: str, salt: bytes) -> AESGCM:
    kdf = Scrypt(salt, _KEY_BYTES, _SCRYPT_COST, _SCRYPT_BLOCK, 1)
    return AESGCM(kdf.derive(passphrase.encode()))


KeyProof: TypeAlias = tuple[int, ...]
# What a party remembers within a run: keys that were proven to it, by modulus, with their tables.
KnownKeys: TypeAlias = MutableMapping[int, PublicKey]
_PERMUTATION = b"sottovoce paillier permutation proof 1"
_TWO_PRIMES = b"sottovoce paillier two primes proof 1"
_SPARE_BYTES = 16
_SECURITY_BITS = 128
# No prime below 2^16 divides n, so a root exists by luck with a chance below 2^-16.
ROOT_ROUNDS = _SECURITY_BITS // (SMALL_LIMIT.bit_length() - 1)
SQUARE_ROUNDS = _SECURITY_BITS
_REMEMBERED = 64


def prove_key(private: PrivateKey) -> KeyProof:
    """A proof of a public key that nobody can make for an unsound one: n-th roots, square roots.

    The owner answers challenges that a hash of n has chosen (Goldberg, Reyzin, Sagga and
    Baldimtsi, Asiacrypt 2019, with the hash for the verifier), and so shows two things:

    - r -> r^n permutes the units modulo n, which is so exactly if gcd(n, phi(n)) = 1. The owner
      shows n-th roots: where the gcd has a prime factor d, at most one number in d has one. n is
      square-free then, too.
    - n is a product of two primes, both 3 mod 4. The owner shows a square root of y or of -y, for
      numbers y of Jacobi symbol +1. Of these a share of at most 4 / 2^k is plus or minus a square
      where n has k >= 3 prime factors, and a half where k = 2 and the primes are 1 mod 4. With
      more factors blinding by short exponents leaves a ciphertext's quadratic characters as they
      are, and the owner reads parities of secret scalars from them.

    Each part errs with a chance of at most 2^-128. Who else knows the factors, and whether p - 1
    or q - 1 is smooth, it does not show: towards the owner of a key, blind with ``full=True``.
    """
    secret, n = private.secret, private.public.n
    exponent = gmpy2.invert(n, (secret.p - 1) * (secret.q - 1))
    roots = (int(gmpy2.powmod(each, exponent, n)) for each in _root_challenges(n))
    squares = (_square_root(each, secret.p, secret.q) for each in _square_challenges(n))
    return (*roots, *squares)


def check_key_proof(public: PublicKey, proof: KeyProof) -> None:
    """Refuse a key whose proof does not hold."""
    n = public.n
    sound = not has_small_factor(n) and len(proof) == ROOT_ROUNDS + SQUARE_ROUNDS
    if not sound or not all(0 < root < n for root in proof) or not _holds(n, proof):
        raise InputError("the proof of a public key does not hold; ask its owner for another key.")


def proven_key(modulus: int, proof: KeyProof) -> PublicKey:
    """A key from outside, checked with its proof; both checks are made once and remembered."""
    _check_proven(modulus, proof)
    # A new key each time, with tables of its own: by how often a key's tables were used it is
    # decided how much randomness is drawn.
    return PublicKey._trust(modulus)  # noqa: SLF001 - just checked


@lru_cache(maxsize=_REMEMBERED)
def _check_proven(modulus: int, proof: KeyProof) -> None:
    check_key_proof(PublicKey(modulus), proof)


def _holds(n: int, proof: KeyProof) -> bool:
    permutes = all(
        gmpy2.powmod(root, n, n) == challenge
        for root, challenge in zip(proof[:ROOT_ROUNDS], _root_challenges(n), strict=True)
    )
    return permutes and all(
        root * root % n in (challenge, n - challenge)
        for root, challenge in zip(proof[ROOT_ROUNDS:], _square_challenges(n), strict=True)
    )


def _square_root(number: int, p: int, q: int) -> int:
    """A square root modulo p q, of the number or of its negative: one of them is a square."""
    square = number if gmpy2.jacobi(number, p) == 1 else -number
    at_p = gmpy2.powmod(square, (p + 1) // 4, p)
    at_q = gmpy2.powmod(square, (q + 1) // 4, q)
    return int(at_q + q * ((at_p - at_q) * gmpy2.invert(q, p) % p))


def _root_challenges(n: int) -> list[int]:
    return [_hash_number(_PERMUTATION + bytes([number]), n) for number in range(ROOT_ROUNDS)]


def _square_challenges(n: int) -> list[int]:
    """Numbers of Jacobi symbol +1, whose square roots, or their negatives', are asked for."""
    return [
        _hash_of_symbol_one(_TWO_PRIMES + bytes([number]), n) for number in range(SQUARE_ROUNDS)
    ]


def _hash_of_symbol_one(name: bytes, n: int) -> int:
    hashes = (_hash_number(name + attempt.to_bytes(4, "big"), n) for attempt in count())
    return next(each for each in hashes if gmpy2.jacobi(each, n) == 1)


def _hash_number(name: bytes, n: int) -> int:
    size = (int(n).bit_length() + 7) // 8
    hashed = hashlib.shake_256(name + int(n).to_bytes(size, "big")).digest(size + _SPARE_BYTES)
    return int.from_bytes(hashed, "big") % int(n)


PUBLIC_FORMAT = "sottovoce-paillier-public-key"
PRIVATE_FORMAT = "sottovoce-paillier-private-key"
VERSION = 1
_LARGEST_FILE = 1 << 20
_PROVEN_TEXTS: WeakKeyDictionary[PrivateKey, str] = WeakKeyDictionary()


def public_key_to_text(public: PublicKey, proof: KeyProof = ()) -> str:
    """A public key to hand out, with its owner's proof if there is one."""
    fields = {"format": PUBLIC_FORMAT, "version": VERSION, "modulus": f"{int(public.n):x}"}
    return json.dumps(fields | ({"proof": [f"{root:x}" for root in proof]} if proof else {}))


def proven_key_to_text(private: PrivateKey) -> str:
    """One's own public key with its proof, which is made once for as long as the key is there."""
    if private not in _PROVEN_TEXTS:
        _PROVEN_TEXTS[private] = public_key_to_text(private.public, prove_key(private))
    return _PROVEN_TEXTS[private]


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
        else seal_fields(json.dumps(primes).encode(), passphrase, fingerprint)
    )
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps({**header, **body}), encoding="utf-8")


def load_private_key(path: Path, *, passphrase: str | None = None) -> PrivateKey:
    """Read and check a private key; refuses a file that others can read."""
    fields = parse_fields(_read_text(path), "a private key")
    check_format(fields, PRIVATE_FORMAT, VERSION)
    refuse_open_to_others(path)
    primes = _unseal_fields(fields, passphrase) if "sealed" in fields else fields
    p, q = (from_hexadecimal(primes.get(name), name) for name in ("p", "q"))
    private = PrivateKey(p, q)
    if private.public.fingerprint != fields.get("fingerprint"):
        raise InputError("the private key does not belong to the fingerprint in its file.")
    return private


def _unseal_fields(fields: Fields, passphrase: str | None) -> Fields:
    if passphrase is None:
        raise InputError("this private key is encrypted; give its passphrase.")
    salt, nonce = bytes_field(fields, "salt"), bytes_field(fields, "nonce")
    if len(nonce) != NONCE_BYTES:
        raise InputError(f"the field 'nonce' must be of {NONCE_BYTES} bytes.")
    fingerprint = field(fields, "fingerprint", str)
    sealed = bytes_field(fields, "sealed")
    try:
        opened = unseal(salt, nonce, sealed, passphrase, fingerprint)
    except InvalidTag:
        raise InputError("the passphrase is wrong, or the key file was changed.") from None
    return parse_fields(opened, "a private key")


def _read_text(path: Path) -> str:
    try:
        return small_text(path, _LARGEST_FILE, "a key file")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a key file: it is not text.") from None
