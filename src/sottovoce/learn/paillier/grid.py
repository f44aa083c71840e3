"""Big numbers by gmpy2, reached from one place: grids of ciphertexts, their products and powers.

A big number is an ``int`` to the reader and to the type checker; gmpy2's ``mpz`` stands in for it.
Work on whole lists of them is spread over the cores.

A number modulo the square of a root is `Split` into a factor u below the root and a shift s, being
u (1 + root s): to multiply by u costs little more than half of a product of two numbers modulo
root^2, and shifts add up, since (1 + root s)(1 + root t) = 1 + root (s + t). A running product
takes in the units one by one and the sum of the shifts once, at its end.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.compiled import available_cores, on_threads
from sottovoce.errors import MissingExtraError, ParameterError

try:
    import gmpy2
except ImportError as error:
    raise MissingExtraError("gmpy2", "learn") from error

__all__ = [
    "Grid",
    "Pair",
    "as_grid",
    "cores",
    "gmpy2",
    "inverses",
    "pair_powers",
    "pair_products",
    "pair_up",
    "plus_plain",
    "products",
    "spread",
]
Item = TypeVar("Item")
Grid = NDArray[np.object_]
Pair = tuple[int, int]
_CORES: ContextVar[int | None] = ContextVar("paillier_cores", default=None)


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Within the block, operations on encrypted arrays use at most ``count`` cores."""
    if count < 1:
        raise ParameterError(f"the number of cores must be >= 1, got {count}.")
    token = _CORES.set(count)
    try:
        yield
    finally:
        _CORES.reset(token)


def spread(
    work: Callable[[Sequence[Item]], list[int]], items: Sequence[Item], *, fewest: int = 8
) -> list[int]:
    """``work`` on consecutive parts of ``items``, a part for each core, of ``fewest`` or more."""
    parts = min(_CORES.get() or available_cores(), len(items) // fewest)
    if parts < 2:  # noqa: PLR2004 - one part is no spreading
        return work(items)
    cuts = [len(items) * part // parts for part in range(parts + 1)]
    tasks = [partial(_run_unlocked, work, items[begin:end]) for begin, end in pairwise(cuts)]
    return [result for results in on_threads(tasks) for result in results]


def _run_unlocked(work: Callable[[Sequence[Item]], list[int]], items: Sequence[Item]) -> list[int]:
    # gmpy2 holds the interpreter's lock during a product unless its context, a thread's own, says.
    with gmpy2.context(gmpy2.get_context(), allow_release_gil=True):
        return work(items)


def inverses(numbers: Sequence[int], modulus: int) -> list[int]:
    """The inverses of ``numbers``, by one inversion and three products each (Montgomery)."""
    products = [gmpy2.mpz(1)]
    for number in numbers:
        products.append(products[-1] * number % modulus)
    inverse = gmpy2.invert(products[-1], modulus)
    found = []
    for number, before in zip(reversed(numbers), reversed(products[:-1]), strict=True):
        found.append(inverse * before % modulus)
        inverse = inverse * number % modulus
    return found[::-1]


def as_grid(numbers: Sequence[int], shape: tuple[int, ...]) -> Grid:
    """``numbers`` in an array of objects, without numpy's looking inside them, which takes long."""
    return np.fromiter(numbers, dtype=object, count=len(numbers)).reshape(shape)


def pair_up(here: Grid, there: Grid) -> tuple[list[Pair], tuple[int, ...]]:
    """Two grids' entries side by side, broadcast, and the shape they have."""
    left, right = np.broadcast_arrays(here, there)
    return list(zip(left.ravel().tolist(), right.ravel().tolist(), strict=True)), left.shape


def pair_products(modulus: int, pairs: Sequence[Pair]) -> list[int]:
    """The product of each pair: the sum of two plaintexts."""
    return [left * right % modulus for left, right in pairs]


def pair_powers(modulus: int, pairs: Sequence[Pair]) -> list[int]:
    """Each first to the power of its second: a plaintext times a scalar."""
    return [gmpy2.powmod(base, exponent, modulus) for base, exponent in pairs]


def plus_plain(n: int, n_squared: int, pairs: Sequence[Pair]) -> list[int]:
    """Each ciphertext c and plaintext m to c (1 + m n) mod n^2 = c + (c m mod n) n."""
    return [(cipher + cipher * plain % n * n) % n_squared for cipher, plain in pairs]


def products(modulus: int, columns: Sequence[Sequence[int]]) -> list[int]:
    """The product of each column: a sum of plaintexts."""
    return [_product(modulus, column) for column in columns]


def _product(modulus: int, column: Sequence[int]) -> int:
    product: int = gmpy2.mpz(1)
    for number in column:
        product = product * number % modulus
    return product


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

    def invert(self, root: int) -> "Split":
        """The inverse: where u v = 1 + root k, that of u is v (1 - root k)."""
        carry = self.unit * self.inverse // root
        return Split(self.inverse, -(carry + self.shift) % root, self.unit)


ONE = Split(gmpy2.mpz(1), gmpy2.mpz(0), gmpy2.mpz(1))


def split(number: int, root: int) -> Split:
    """``number`` modulo root^2, split."""
    high, unit = gmpy2.f_divmod(number, root)
    inverse = gmpy2.invert(unit, root)
    return Split(unit, high * inverse % root, inverse)


def join_split(unit: int, shift: int, root: int) -> int:
    """The number unit (1 + root shift) modulo root^2."""
    number: int = (unit + unit * shift % root * root) % (root * root)
    return number


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
    return spread(partial(_combine_row, tables, window, root), rows, fewest=1)


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
    down = up.invert(root)
    return [ONE, *_run(up, half, root), *reversed(_run(down, half, root))]


def _run(base: Split, length: int, root: int) -> list[Split]:
    run = [base]
    for _ in range(length - 1):
        run.append(run[-1].times(base, root))
    return run


def _combine_row(
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
    return join_split(product, total % root, root)
