"""Paillier's keys in the form of Damgard, Jurik and Nielsen, and checks of what others send.

g = n + 1; a blinding factor is h^(n r) mod n^2 for a short random r, where h = -x^2 mod n. Here x
is a hash of n, so that nobody has to be trusted for h: whoever knows n can recompute it.

The checks are of keys and of ciphertexts. No error's message holds a key's or a ciphertext's
number: it may end up in a log.
"""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import count
from types import TracebackType
from typing import NoReturn, Self

from sottovoce.errors import InputError, ParameterError, SottovoceError
from sottovoce.learn.paillier.blinding import OwnerBlinding, PublicBlinding
from sottovoce.learn.paillier.grid import gmpy2, spread
from sottovoce.privacy.randomness import random_bits

# Miller-Rabin rounds with random bases beyond the Baillie-PSW test that gmpy2 starts with.
PRIME_ROUNDS = 40
SMALL_LIMIT = 1 << 16
# p and q at least 2^(bits/2 - 100) apart, as FIPS 186-5 asks: Fermat's method finds close ones.
DISTANCE_BITS = 100


_FIRST = gmpy2.primorial((1 << 8) - 1) // 2
_REST = gmpy2.primorial(SMALL_LIMIT - 1) // gmpy2.primorial((1 << 8) - 1)


def has_small_factor(number: int) -> bool:
    """Whether an odd prime below 2^16 divides ``number``."""
    return bool(gmpy2.gcd(number, _FIRST) > 1 or gmpy2.gcd(number, _REST) > 1)


def is_prime(number: int) -> bool:
    """Whether ``number`` is prime, but for a chance of 4^-40."""
    return bool(gmpy2.is_prime(gmpy2.mpz(number), PRIME_ROUNDS))


def random_prime(bits: int) -> int:
    """A prime p = 3 mod 4 of ``bits`` bits, its two highest set, (p-1)/2 free of small factors.

    Without small factors in (p-1)/2 the base of the blinding factors generates all but a 2^-9
    chance of its group, and blinding hides a ciphertext's class modulo every small number.
    """
    while True:
        candidate = gmpy2.mpz(random_bits(bits) | 0b11 << (bits - 2) | 0b11)
        if _is_candidate(candidate) and is_prime(candidate):
            return int(candidate)


def _is_candidate(candidate: int) -> bool:
    both = candidate * (candidate >> 1)
    return bool(gmpy2.gcd(both, _FIRST) == 1 and gmpy2.gcd(both, _REST) == 1)


def random_primes(bits: int) -> tuple[int, int]:
    """Two primes whose product has ``bits`` bits, fit for a key."""
    first = random_prime(bits // 2)
    while not are_apart(first, second := random_prime(bits // 2)):
        pass
    return first, second


def are_apart(p: int, q: int) -> bool:
    """Whether p and q differ enough, and p-1 and q-1 share no factor but 2."""
    far = abs(p - q).bit_length() > p.bit_length() - DISTANCE_BITS
    return far and gmpy2.gcd(p - 1, q - 1) == 2  # noqa: PLR2004 - both are even


MINIMUM_BITS = 2048
MAXIMUM_BITS = 16384
DEFAULT_BITS = 3072
_NAME = b"sottovoce paillier key 1"
_FINGERPRINT_LETTERS = 32
# A hash this much longer than the modulus is uniform modulo it, but for 2^-128.
_EXCESS_BYTES = 16
_FERMAT_STEPS = 1000


class PublicKey:
    """What anyone may know: encrypts, computes on ciphertexts and blinds them again."""

    def __init__(self, modulus: int) -> None:
        check_modulus(int(modulus))
        self._set(modulus)

    @classmethod
    def _trust(cls, modulus: int) -> "PublicKey":
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
        raise SottovoceError("a key is not pickled; use public_key_to_text.")


class PrivateKey:
    """Decrypts; as a context manager it forgets its primes at the end of the block.

    Python cannot overwrite them in memory: what is dropped is every reference that this object
    holds, so that nothing decrypts with it any more and the memory is free to be reused.
    """

    def __init__(self, p: int, q: int) -> None:
        check_primes(int(p), int(q))
        self._set(p, q)

    @classmethod
    def _trust(cls, p: int, q: int) -> "PrivateKey":
        key = cls.__new__(cls)
        key._set(p, q)  # noqa: SLF001 - its own
        return key

    def _set(self, p: int, q: int) -> None:
        self.public = PublicKey._trust(p * q)  # noqa: SLF001 - the owner's own key
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
    return PrivateKey._trust(*random_primes(bits))  # noqa: SLF001 - made to be sound


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


def check_bits(bits: int) -> None:
    """Refuse keys that are too small to be safe, or too large to be serious."""
    if not MINIMUM_BITS <= bits <= MAXIMUM_BITS:
        raise ParameterError(
            f"a key must have {MINIMUM_BITS} to {MAXIMUM_BITS} bits, got {bits}; "
            f"{DEFAULT_BITS} is the default."
        )
    if bits % 2:
        raise ParameterError(f"a key must have an even number of bits, got {bits}.")


def check_modulus(modulus: int) -> None:
    """Refuse a modulus that is visibly no product of two large primes = 3 mod 4.

    That it has exactly two prime factors cannot be seen without factoring it. See `KeyProof` for
    what its owner can prove.
    """
    if modulus < 1:
        raise InputError("a key's modulus must be positive.")
    check_bits(modulus.bit_length())
    if modulus % 2 == 0:
        raise InputError("a key's modulus must be odd, got an even one.")
    if modulus % 4 != 1:
        raise InputError("a key's modulus must be 1 mod 4, as its primes are 3 mod 4.")
    _check_factors(gmpy2.mpz(modulus))


def _check_factors(modulus: int) -> None:
    if has_small_factor(modulus):
        raise InputError("a key's modulus must have no small factor, got one with.")
    if gmpy2.is_power(modulus):
        raise InputError("a key's modulus must not be a power, got one.")
    if is_prime(modulus):
        raise InputError("a key's modulus must be a product of two primes, got a prime.")
    if _has_close_factors(modulus):
        raise InputError("a key's primes must be far apart, got ones that can be found.")


def _has_close_factors(modulus: int) -> bool:
    """Whether a few steps of Fermat's method find a factor."""
    root = gmpy2.isqrt(modulus)
    return any(
        gmpy2.is_square((root + step) ** 2 - modulus) for step in range(1, _FERMAT_STEPS + 1)
    )


def check_primes(p: int, q: int) -> None:
    """Refuse two numbers that are not the primes of a sound key."""
    if p.bit_length() != q.bit_length():
        raise InputError("a key's primes must have equally many bits.")
    check_bits((p * q).bit_length())
    if p % 4 != 3 or q % 4 != 3:  # noqa: PLR2004 - so that -1 is no square
        raise InputError("a key's primes must be 3 mod 4.")
    if p == q or not are_apart(p, q):
        raise InputError("a key's primes must be far apart, with gcd(p-1, q-1) = 2.")
    if not (is_prime(p) and is_prime(q)):
        raise InputError("a key's primes must be prime, got a composite number.")


def check_ciphertexts(ciphertexts: Sequence[int], modulus: int) -> None:
    """Refuse numbers that no honest sender's encryption under ``modulus`` can be.

    The Jacobi symbol of an honest ciphertext is +1. Blinding with short exponents cannot change
    it, so one of -1 would show its sender the parity of a secret scalar that it was raised to.
    """
    limit = modulus * modulus
    if not all(0 < each < limit for each in ciphertexts):
        raise InputError("a ciphertext must be between 0 and the modulus squared, got one outside.")
    symbols = {gmpy2.jacobi(each % modulus, modulus) for each in ciphertexts}
    if 0 in symbols:
        raise InputError("a ciphertext must share no factor with its key's modulus, got one with.")
    if -1 in symbols:
        raise InputError("a ciphertext must have Jacobi symbol +1, got one with -1.")
