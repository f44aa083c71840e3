"""Keys that are far too small, so that tests are fast. The package itself makes none such."""

from sottovoce.learn.paillier.keys import PrivateKey, random_primes
from support.chance import drawn_once


@drawn_once
def insecure_key_for_tests(bits: int = 256, number: int = 0) -> PrivateKey:
    """A key that anyone can break; ``number`` tells two of one length apart."""
    return PrivateKey._trust(*random_primes(bits))


def insecure_key_of_primes(p: int, q: int) -> PrivateKey:
    """The key of two given primes."""
    return PrivateKey._trust(p, q)
