"""The primes of a key."""

from sottovoce.learn.paillier.grid import gmpy2
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
