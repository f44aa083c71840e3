"""A proof, checked by anyone, that blinding under a foreign key blinds.

r -> r^n permutes the units modulo n exactly if gcd(n, phi(n)) = 1. The owner shows n-th roots of
numbers that a hash chose: where the gcd has a prime factor d, at most one number in d has one.
(Goldberg, Reyzin, Sagga and Baldimtsi, Asiacrypt 2019, with the hash for the verifier.) It shows
that n is square-free too. It does not show that n has only two factors, or who knows them.
"""

import hashlib
from typing import TypeAlias

from sottovoce.errors import InputError
from sottovoce.learn.paillier.keys import PrivateKey, PublicKey
from sottovoce.learn.paillier.numbers import gmpy2
from sottovoce.learn.paillier.primes import SMALL_LIMIT, has_small_factor

_NAME = b"sottovoce paillier permutation proof 1"
_EXCESS_BYTES = 16
_SECURITY_BITS = 128
# No prime below 2^16 divides n, so a root exists by luck with a chance below 2^-16.
ROUNDS = _SECURITY_BITS // (SMALL_LIMIT.bit_length() - 1)

KeyProof: TypeAlias = tuple[int, ...]


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
