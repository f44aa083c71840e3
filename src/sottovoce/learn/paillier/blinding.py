"""Blinding factors: random n-th powers modulo n^2, from tables that grow with their use."""

from threading import Lock

from sottovoce.learn.paillier.numbers import gmpy2
from sottovoce.learn.paillier.products import powers
from sottovoce.learn.paillier.tables import Comb, CombShape, comb_shape
from sottovoce.privacy.randomness import random_below

# Rows and turns of the tables, and how many factors pay for building the larger ones: measured, 1
# and 7 MB at 2048 bits, 2.4 and 16 MB at 3072.
_SMALL = (8, 16)
_LARGE = (10, 8)
_WORTH_LARGE = 700


def exponent_bits(key_bits: int) -> int:
    """The least length of r: half the modulus's, as Damgard, Jurik and Nielsen propose."""
    return (key_bits + 1) // 2


class PublicBlinding:
    """Blinding factors for whoever knows only the public key."""

    def __init__(self, base: int, n: int) -> None:
        self._n, self._n_squared = n, n * n
        self._combs = _GrowingCombs([(base, n)], n.bit_length())

    def factors(self, count: int) -> list[int]:
        """``count`` fresh blinding factors."""
        combs = self._combs.for_use(count)
        return combs[0].powers(combs[0].shape.random_digits(count))

    def full_factors(self, count: int) -> list[int]:
        """``count`` uniform n-th powers among those of Jacobi symbol +1, as ciphertexts are."""
        return powers([self._unit() for _ in range(count)], self._n, self._n_squared)

    def _unit(self) -> int:
        """A uniform number of Jacobi symbol +1: its n-th power, n odd, has the same symbol.

        Others would make ciphertexts that every receiver refuses (see `check_ciphertexts`).
        """
        while gmpy2.jacobi(unit := random_below(int(self._n)), self._n) != 1:
            pass
        return unit


class OwnerBlinding:
    """Blinding factors for the key's owner, who computes modulo p^2 and q^2.

    Both use the same exponent. Two exponents would make half of the ciphertexts of Jacobi symbol
    -1, which blinding by others could not hide (see `check_ciphertexts`).
    """

    def __init__(self, base: int, p: int, q: int) -> None:
        self._p_squared, self._q_squared = p * p, q * q
        self._inverse: int = gmpy2.invert(self._q_squared, self._p_squared)
        self._combs = _GrowingCombs([(base, p), (base, q)], (p * q).bit_length())

    def factors(self, count: int) -> list[int]:
        """``count`` fresh blinding factors."""
        combs = self._combs.for_use(count)
        digits = combs[0].shape.random_digits(count)
        at_p, at_q = (comb.powers(digits) for comb in combs)
        return [self._combine(*pair) for pair in zip(at_p, at_q, strict=True)]

    def _combine(self, at_p: int, at_q: int) -> int:
        lift = (at_p - at_q) * self._inverse % self._p_squared
        return at_q + self._q_squared * lift


class _GrowingCombs:
    """Small tables first; larger ones once enough factors were drawn to pay for them."""

    def __init__(self, bases: list[tuple[int, int]], key_bits: int) -> None:
        self._bases = bases
        self._bits = exponent_bits(key_bits)
        self._combs: list[Comb] = []
        self._drawn = 0
        self._lock = Lock()

    def for_use(self, count: int) -> list[Comb]:
        with self._lock:
            self._drawn += count
            shape = comb_shape(self._bits, *(_LARGE if self._drawn > _WORTH_LARGE else _SMALL))
            if not self._combs or self._combs[0].shape != shape:
                self._combs = self._built(shape)
            return self._combs

    def _built(self, shape: CombShape) -> list[Comb]:
        return [Comb(base, root, shape) for base, root in self._bases]
