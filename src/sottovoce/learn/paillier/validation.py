"""What is checked of keys and ciphertexts that come from outside.

No message holds a key's or a ciphertext's number: an error may end up in a log.
"""

from collections.abc import Sequence

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.paillier.numbers import gmpy2
from sottovoce.learn.paillier.primes import are_apart, has_small_factor, is_prime

MINIMUM_BITS = 2048
MAXIMUM_BITS = 16384
DEFAULT_BITS = 3072
_FERMAT_STEPS = 1000


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
