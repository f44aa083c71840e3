"""Grids of ciphertexts, and the products that operations on them come down to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.paillier.numbers import gmpy2

Grid = NDArray[np.object_]
Pair = tuple[int, int]


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
