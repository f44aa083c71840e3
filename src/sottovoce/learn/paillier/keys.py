"""Paillier's keys, in the form of Damgard, Jurik and Nielsen.

g = n + 1; a blinding factor is h^(n r) mod n^2 for a short random r, where h = -x^2 mod n. Here x
is a hash of n, so that nobody has to be trusted for h: whoever knows n can recompute it.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from types import TracebackType
from typing import NoReturn, Self

from sottovoce.errors import InputError, SottovoceError
from sottovoce.learn.paillier.blinding import OwnerBlinding, PublicBlinding
from sottovoce.learn.paillier.numbers import gmpy2, spread
from sottovoce.learn.paillier.primes import random_primes
from sottovoce.learn.paillier.validation import (
    DEFAULT_BITS,
    check_bits,
    check_modulus,
    check_primes,
)

_NAME = b"sottovoce paillier key 1"
_FINGERPRINT_LETTERS = 32
# A hash this much longer than the modulus is uniform modulo it, but for 2^-128.
_EXCESS_BYTES = 16


class PublicKey:
    """What anyone may know: encrypts, computes on ciphertexts and blinds them anew."""

    def __init__(self, modulus: int) -> None:
        check_modulus(int(modulus))
        self._set(modulus)

    @classmethod
    def _trusted(cls, modulus: int) -> "PublicKey":
        """A key that its owner made, which needs no checks."""
        key = cls.__new__(cls)
        key._set(modulus)  # noqa: SLF001 - its own
        return key

    def _set(self, modulus: int) -> None:
        self.n = gmpy2.mpz(modulus)
        self.n_squared = self.n * self.n
        self.bits = int(self.n.bit_length())
        encoded = int(modulus).to_bytes((self.bits + 7) // 8, "big")
        self.fingerprint = hashlib.sha256(_NAME + encoded).hexdigest()[:_FINGERPRINT_LETTERS]

    @cached_property
    def base(self) -> int:
        """h^n mod n^2, whose powers are the blinding factors."""
        return int(gmpy2.powmod(blinding_root(int(self.n)), self.n, self.n_squared))

    @cached_property
    def blinding(self) -> PublicBlinding:
        """The source of blinding factors; its tables are built when first used."""
        return PublicBlinding(self.base, self.n)

    @property
    def ciphertext_bytes(self) -> int:
        """How long a ciphertext is when stored."""
        return (2 * self.bits + 7) // 8

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and self.n == other.n

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"PublicKey({self.bits} bits, {self.fingerprint})"

    def __reduce__(self) -> NoReturn:
        raise SottovoceError("a key is not pickled; use save_public_key.")


class PrivateKey:
    """Decrypts; as a context manager it forgets its primes at the end of the block.

    Python cannot overwrite them in memory: what is dropped is every reference that this object
    holds, so that nothing decrypts with it any more and the memory is free to be reused.
    """

    def __init__(self, p: int, q: int) -> None:
        check_primes(int(p), int(q))
        self._set(p, q)

    @classmethod
    def _trusted(cls, p: int, q: int) -> "PrivateKey":
        key = cls.__new__(cls)
        key._set(p, q)  # noqa: SLF001 - its own
        return key

    def _set(self, p: int, q: int) -> None:
        self.public = PublicKey._trusted(p * q)  # noqa: SLF001 - the owner's own key
        self._secret: _Secret | None = _Secret(gmpy2.mpz(p), gmpy2.mpz(q), self.public)

    @property
    def secret(self) -> "_Secret":
        """The primes and what follows from them."""
        if self._secret is None:
            raise InputError("this private key was closed; load it again to use it.")
        return self._secret

    @property
    def blinding(self) -> OwnerBlinding:
        """The source of blinding factors, by the Chinese remainder theorem."""
        return self.secret.blinding

    def close(self) -> None:
        """Forget the primes."""
        self._secret = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._secret is None else "open"
        return f"PrivateKey({self.public.bits} bits, {self.public.fingerprint}, {state})"

    def __reduce__(self) -> NoReturn:
        raise SottovoceError("a private key is not pickled; use save_private_key.")


class _Secret:
    """The primes, and plaintexts from ciphertexts by the Chinese remainder theorem."""

    def __init__(self, p: int, q: int, public: PublicKey) -> None:
        self.p, self.q = p, q
        self._public = public
        self._p_squared, self._q_squared = p * p, q * q
        self._p_factor = gmpy2.invert(q * (p - 1) % p, p)
        self._q_factor = gmpy2.invert(p * (q - 1) % q, q)
        self._q_inverse: int = gmpy2.invert(q, p)

    @cached_property
    def blinding(self) -> OwnerBlinding:
        return OwnerBlinding(self._public.base, self.p, self.q)

    def plaintexts(self, ciphertexts: list[int]) -> list[int]:
        """The plaintexts, from 0 to n - 1."""
        return spread(self._plaintexts, ciphertexts, fewest=2)

    def _plaintexts(self, ciphertexts: Sequence[int]) -> list[int]:
        p, q = self.p, self.q
        at_p = gmpy2.powmod_base_list(list(ciphertexts), p - 1, self._p_squared)
        at_q = gmpy2.powmod_base_list(list(ciphertexts), q - 1, self._q_squared)
        return [
            self._combine((x - 1) // p * self._p_factor % p, (y - 1) // q * self._q_factor % q)
            for x, y in zip(at_p, at_q, strict=True)
        ]

    def _combine(self, at_p: int, at_q: int) -> int:
        return at_q + self.q * ((at_p - at_q) * self._q_inverse % self.p)

    def __repr__(self) -> str:
        return "_Secret(...)"


def generate_key(bits: int = DEFAULT_BITS) -> PrivateKey:
    """A new key, of primes drawn from the operating system's randomness."""
    check_bits(bits)
    return PrivateKey._trusted(*random_primes(bits))  # noqa: SLF001 - made to be sound


def blinding_root(modulus: int) -> int:
    """The h = -x^2 mod n for x a hash of n: of Jacobi symbol 1, and chosen by nobody."""
    size = (modulus.bit_length() + 7) // 8
    for attempt in count():
        seed = _NAME + attempt.to_bytes(4, "big") + modulus.to_bytes(size, "big")
        hashed = hashlib.shake_256(seed).digest(size + _EXCESS_BYTES)
        x = int.from_bytes(hashed, "big") % modulus
        if gmpy2.gcd(x, modulus) == 1:
            break
    return -x * x % modulus
