"""Big numbers by gmpy2, reached from one place: grids of ciphertexts and their products.

A big number is an ``int`` to the reader and to the type checker; gmpy2's ``mpz`` stands in for it.
Work on whole lists of them is spread over the cores.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from itertools import pairwise
from typing import TypeVar

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
    "paired",
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
    tasks = [partial(_unlocked, work, items[begin:end]) for begin, end in pairwise(cuts)]
    return [result for results in on_threads(tasks) for result in results]


def _unlocked(work: Callable[[Sequence[Item]], list[int]], items: Sequence[Item]) -> list[int]:
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


def paired(here: Grid, there: Grid) -> tuple[list[Pair], tuple[int, ...]]:
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
