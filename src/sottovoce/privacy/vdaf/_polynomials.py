r"""Polynomials by their values at roots of unity.

A polynomial of degree below n is the vector of its values at 1, w, w^2, ..., w^(n-1), w an n-th
root of unity and n a power of two. The number theoretic transform (`transform`) gives those values
of a polynomial whose coefficients are known, in n log n steps. With x_i = w^i:

    coefficients      c_k = 1/n sum_i v_i w^(-ik):  the transform again, its tail turned round
    at a point t      f(t) = sum_i v_i L_i(t),      L_i(t) = x_i / n  prod_{j != i} (t - x_j)
    a missing value   v_{n-1} = -1/x_{n-1} sum_{i < n-1} x_i v_i,   if the degree is below n - 1

The second since prod_{j != i} (x_i - x_j) is the derivative of x^n - 1 at x_i, n / x_i; the third
since sum_i x_i^(k+1) = 0 for 0 <= k < n - 1.

``roots`` are the n powers of w, ``part`` is 1/n, all in the form of `_modular`.
"""

import numpy as np

from sottovoce.compiled import kernel
from sottovoce.privacy.vdaf._modular import Words, at, dot, minus, multiples, plus, put, times


@kernel
def _in_reversed_bits(values: Words) -> Words:
    """The values at places whose binary digits stand in reverse."""
    size = values.shape[0]
    found = np.empty_like(values)
    reverse = 0
    for place in range(size):
        put(found, reverse, at(values, place))
        bit = size >> 1
        while bit and reverse & bit:
            reverse ^= bit
            bit >>= 1
        reverse |= bit
    return found


@kernel
def transform(coefficients: Words, roots: Words, p: Words) -> Words:
    """The values at the roots of the polynomial with as many coefficients."""
    size = coefficients.shape[0]
    values = _in_reversed_bits(coefficients)
    half = 1
    while half < size:
        step = size // (2 * half)
        for start in range(0, size, 2 * half):
            for i in range(half):
                even = at(values, start + i)
                odd = times(at(values, start + i + half), at(roots, i * step), p)
                put(values, start + i, plus(even, odd, p))
                put(values, start + i + half, minus(even, odd, p))
        half *= 2
    return values


@kernel
def inverse_transform(values: Words, roots: Words, part: Words, p: Words) -> Words:
    """The coefficients of the polynomial with these values at the roots."""
    scaled = multiples(transform(values, roots, p), part, p)
    found = np.empty_like(scaled)
    for place in range(values.shape[0]):
        put(found, place, at(scaled, -place))
    return found


@kernel
def doubled(values: Words, roots: Words, finer: Words, part: Words, p: Words) -> Words:
    """The values at twice as many roots, ``finer``, of a polynomial known at ``roots``."""
    coefficients = inverse_transform(values, roots, part, p)
    padded = np.zeros_like(finer)
    for place in range(values.shape[0]):
        put(padded, place, at(coefficients, place))
    return transform(padded, finer, p)


@kernel
def completed(values: Words, roots: Words, p: Words) -> Words:
    """The values at all roots of a polynomial of two degrees less, known at all but the last."""
    size = roots.shape[0]
    found = np.zeros_like(roots)
    for place in range(size - 1):
        put(found, place, at(values, place))
    # 1/x_{n-1} is x_1.
    weighted = times(at(dot(found, roots, p), 0), at(roots, 1), p)
    put(found, size - 1, minus(at(found, size - 1), weighted, p))
    return found


@kernel
def weights(point: Words, roots: Words, part: Words, p: Words) -> Words:
    """L_i at the one element of ``point``, without a division: what is before times what is after.

    They add up the values at the roots to the value at the point.
    """
    size = roots.shape[0]
    found = np.empty_like(roots)
    before = at(part, 0)
    for i in range(size):
        put(found, i, before)
        before = times(before, minus(at(point, 0), at(roots, i), p), p)
    after = at(roots, 0)
    for i in range(size - 1, -1, -1):
        put(found, i, times(times(at(found, i), after, p), at(roots, i), p))
        after = times(after, minus(at(point, 0), at(roots, i), p), p)
    return found
