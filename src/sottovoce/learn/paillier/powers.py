"""Products of powers: what sums with coefficients become under encryption."""

from collections.abc import Sequence
from functools import partial

from sottovoce.learn.paillier.grid import gmpy2, inverses, spread
from sottovoce.learn.paillier.packing import ONE, Split, joined, split

_MOST_WINDOW = 10


def powers(bases: Sequence[int], exponent: int, modulus: int) -> list[int]:
    """Each base to one whole exponent of either sign, inverted first if it is negative."""
    if exponent < 0:
        return powers(inverses(bases, modulus), -exponent, modulus)
    return spread(partial(_powers, exponent, modulus), bases, fewest=2)


def _powers(exponent: int, modulus: int, bases: Sequence[int]) -> list[int]:
    found: list[int] = gmpy2.powmod_base_list(list(bases), exponent, modulus)
    return found


def combinations(bases: Sequence[int], rows: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each row of exponents, the product of the bases to them modulo root^2 (Straus 1964).

    The powers of each base that a signed digit can ask for are tabulated once for all rows; then
    a row needs one chain of squarings, whatever the number of bases.
    """
    bits = max((abs(exponent).bit_length() for row in rows for exponent in row), default=0)
    if bits == 0:
        return [gmpy2.mpz(1)] * len(rows)
    window = best_window(len(bases), len(rows), bits)
    tables = [_table(base, window, bits, root) for base in bases]
    return spread(partial(_combined, tables, window, root), rows, fewest=1)


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


def _table(base: int, window: int, bits: int, root: int) -> list[Split]:
    """The powers 0 .. half, then -half .. -1 of a base, so that a digit is an index."""
    half = min(1 << (window - 1), (1 << bits) - 1)
    up = split(base, root)
    down = up.inverted(root)
    return [ONE, *_run(up, half, root), *reversed(_run(down, half, root))]


def _run(base: Split, length: int, root: int) -> list[Split]:
    run = [base]
    for _ in range(length - 1):
        run.append(run[-1].times(base, root))
    return run


def _combined(
    tables: list[list[Split]], window: int, root: int, rows: Sequence[Sequence[int]]
) -> list[int]:
    return [_combination(tables, window, root, row) for row in rows]


def _combination(tables: list[list[Split]], window: int, root: int, row: Sequence[int]) -> int:
    digits = [signed_digits(int(exponent), window) for exponent in row]
    modulus = root * root
    product, total = ONE.unit, ONE.shift
    for place in reversed(range(max(map(len, digits)))):
        if product != 1:
            product = gmpy2.powmod(product, 1 << window, modulus)
        total <<= window
        for table, own in zip(tables, digits, strict=True):
            if place < len(own) and own[place]:
                unit, shift, _ = table[own[place]]
                product = product * unit % modulus
                total += shift
    return joined(product, total % root, root)
