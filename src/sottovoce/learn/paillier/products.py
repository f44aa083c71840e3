"""Products of powers: what sums with coefficients become under encryption."""

from collections.abc import Sequence
from functools import partial

from sottovoce.learn.paillier.numbers import gmpy2, inverses, spread

_MOST_WINDOW = 10


def powers(bases: Sequence[int], exponent: int, modulus: int) -> list[int]:
    """Each base to one whole exponent of either sign, inverted first if it is negative."""
    if exponent < 0:
        return powers(inverses(bases, modulus), -exponent, modulus)
    return spread(partial(_powers, exponent, modulus), bases, fewest=2)


def _powers(exponent: int, modulus: int, bases: Sequence[int]) -> list[int]:
    found: list[int] = gmpy2.powmod_base_list(list(bases), exponent, modulus)
    return found


def combinations(bases: Sequence[int], rows: Sequence[Sequence[int]], modulus: int) -> list[int]:
    """For each row of exponents, the product of the bases to them (Straus 1964).

    The powers of each base that a signed digit can ask for are tabulated once for all rows; then
    a row needs one chain of squarings, whatever the number of bases.
    """
    bits = max((abs(exponent).bit_length() for row in rows for exponent in row), default=0)
    if bits == 0:
        return [gmpy2.mpz(1)] * len(rows)
    window = best_window(len(bases), len(rows), bits)
    tables = _tables(bases, window, bits, modulus)
    return spread(partial(_combined, tables, window, modulus), rows, fewest=1)


def best_window(bases: int, rows: int, bits: int) -> int:
    """The digit width that needs the fewest products, tables included."""

    def cost(window: int) -> int:
        digits = bits // window + 1
        return bases * (1 << window) + rows * digits * (bases + window)

    return min(range(1, _MOST_WINDOW + 1), key=cost)


def signed_digits(exponent: int, window: int) -> list[int]:
    """Digits of ``exponent`` in base 2^``window``, each from -2^(window-1) to 2^(window-1)."""
    base, half = 1 << window, 1 << (window - 1)
    sign, rest = (-1, -exponent) if exponent < 0 else (1, exponent)
    digits = []
    while rest:
        digit = rest & (base - 1)
        digit -= base if digit > half else 0
        digits.append(sign * digit)
        rest = (rest - digit) >> window
    return digits


def _tables(bases: Sequence[int], window: int, bits: int, modulus: int) -> list[list[int]]:
    """For each base its powers 0 .. half, then -half .. -1, so that a digit is an index."""
    half = min(1 << (window - 1), (1 << bits) - 1)
    return [
        [gmpy2.mpz(1), *_run(base, half, modulus), *reversed(_run(inverse, half, modulus))]
        for base, inverse in zip(bases, inverses(bases, modulus), strict=True)
    ]


def _run(base: int, length: int, modulus: int) -> list[int]:
    run = [base]
    for _ in range(length - 1):
        run.append(run[-1] * base % modulus)
    return run


def _combined(
    tables: list[list[int]], window: int, modulus: int, rows: Sequence[Sequence[int]]
) -> list[int]:
    return [_combination(tables, window, modulus, row) for row in rows]


def _combination(tables: list[list[int]], window: int, modulus: int, row: Sequence[int]) -> int:
    digits = [signed_digits(int(exponent), window) for exponent in row]
    product: int = gmpy2.mpz(1)
    for place in reversed(range(max(map(len, digits)))):
        for _ in range(window if product != 1 else 0):
            product = product * product % modulus
        for table, own in zip(tables, digits, strict=True):
            if place < len(own) and own[place]:
                product = product * table[own[place]] % modulus
    return product
