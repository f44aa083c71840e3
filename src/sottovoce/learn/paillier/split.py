"""Numbers modulo the square of a root, split into a factor below the root and a shift.

u (1 + root s): to multiply by u costs little more than half of a product of two numbers modulo
root^2, and shifts add up, since (1 + root s)(1 + root t) = 1 + root (s + t). A running product
takes in the units one by one and the sum of the shifts once, at its end.
"""

from typing import NamedTuple

from sottovoce.learn.paillier.numbers import gmpy2


class Split(NamedTuple):
    """A number as unit (1 + root shift), with its unit's inverse modulo the root."""

    unit: int
    shift: int
    inverse: int

    def times(self, other: "Split", root: int) -> "Split":
        """The product of two numbers."""
        carry, unit = gmpy2.f_divmod(self.unit * other.unit, root)
        inverse = self.inverse * other.inverse % root
        return Split(unit, (self.shift + other.shift + carry * inverse) % root, inverse)

    def inverted(self, root: int) -> "Split":
        """The inverse: where u v = 1 + root k, that of u is v (1 - root k)."""
        carry = self.unit * self.inverse // root
        return Split(self.inverse, -(carry + self.shift) % root, self.unit)


ONE = Split(gmpy2.mpz(1), gmpy2.mpz(0), gmpy2.mpz(1))


def split(number: int, root: int) -> Split:
    """``number`` modulo root^2, split."""
    high, unit = gmpy2.f_divmod(number, root)
    inverse = gmpy2.invert(unit, root)
    return Split(unit, high * inverse % root, inverse)


def joined(unit: int, shift: int, root: int) -> int:
    """The number unit (1 + root shift) modulo root^2."""
    number: int = (unit + unit * shift % root * root) % (root * root)
    return number
