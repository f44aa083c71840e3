r"""The fully linear proof that a vector passes its circuit.

The gadget is called n times. Each of its wires becomes the polynomial of degree below P, the least
power of two above n, that has at the P-th roots of unity w^0, w^1, ..., w^(P-1)

    a random seed, then what goes into calls 1 to n, then zeros.

The gadget of those polynomials is one polynomial G of degree 2 (P - 1), and G(w^k) is the result of
call k. The proof is the seeds, and G by its values at all but the last of the 2P-th roots of unity.
Whoever holds a share of the vector and of the proof computes, all linear in the shares, a share of

    v           the circuit's outputs, with G's values for the results; several of them under random
                factors;
    wire(t)     every wire at a random point t that is no root of unity;
    G(t).

With shares added up, the proof holds if v = 0 and gadget(wires at t) = G(t). If G is not the gadget
of the wires, the two differ as polynomials of degree 2 (P - 1) and agree at t with chance at most
2 (P - 1) / (p - P). What is opened tells nothing more: the seeds make the wires at t uniform, G(t)
follows from them, and v is zero.

After Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai, CRYPTO 2019, theorem 4.3.

All polynomials here are kept by their values at roots of unity: one of degree below n is the vector
of its values at 1, w, w^2, ..., w^(n-1), w an n-th root of unity and n a power of two. The number
theoretic transform (`transform`) gives those values of a polynomial whose coefficients are known,
in n log n steps. With x_i = w^i:

    coefficients      c_k = 1/n sum_i v_i w^(-ik):  the transform again, its tail turned round
    at a point t      f(t) = sum_i v_i L_i(t),      L_i(t) = x_i / n  prod_{j != i} (t - x_j)
    a missing value   v_{n-1} = -1/x_{n-1} sum_{i < n-1} x_i v_i,   if the degree is below n - 1

The second since prod_{j != i} (x_i - x_j) is the derivative of x^n - 1 at x_i, n / x_i; the third
since sum_i x_i^(k+1) = 0 for 0 <= k < n - 1.

``roots`` are the n powers of w, ``part`` is 1/n, all in the form of `field`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.compiled import kernel
from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf._circuits import Circuit
from sottovoce.privacy.vdaf.field import (
    Field,
    Words,
    dot,
    element_at,
    minus,
    multiples,
    plus,
    put,
    times,
)


@kernel
def _in_reversed_bits(values: Words) -> Words:
    """The values at places whose binary digits stand in reverse."""
    size = values.shape[0]
    found = np.empty_like(values)
    reverse = 0
    for place in range(size):
        put(found, reverse, element_at(values, place))
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
                even = element_at(values, start + i)
                odd = times(element_at(values, start + i + half), element_at(roots, i * step), p)
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
        put(found, place, element_at(scaled, -place))
    return found


@kernel
def double_values(values: Words, roots: Words, finer: Words, part: Words, p: Words) -> Words:
    """The values at twice as many roots, ``finer``, of a polynomial known at ``roots``."""
    coefficients = inverse_transform(values, roots, part, p)
    padded = np.zeros_like(finer)
    for place in range(values.shape[0]):
        put(padded, place, element_at(coefficients, place))
    return transform(padded, finer, p)


@kernel
def complete_values(values: Words, roots: Words, p: Words) -> Words:
    """The values at all roots of a polynomial of two degrees less, known at all but the last."""
    size = roots.shape[0]
    found = np.zeros_like(roots)
    for place in range(size - 1):
        put(found, place, element_at(values, place))
    # 1/x_{n-1} is x_1.
    weighted = times(element_at(dot(found, roots, p), 0), element_at(roots, 1), p)
    put(found, size - 1, minus(element_at(found, size - 1), weighted, p))
    return found


@kernel
def lagrange_weights(point: Words, roots: Words, part: Words, p: Words) -> Words:
    """The weights L_i at ``point`` by which values at the roots add up to the value there.

    Without a division: the product of the factors before i times that of those after.
    """
    size = roots.shape[0]
    found = np.empty_like(roots)
    before = element_at(part, 0)
    for i in range(size):
        put(found, i, before)
        before = times(before, minus(element_at(point, 0), element_at(roots, i), p), p)
    after = element_at(roots, 0)
    for i in range(size - 1, -1, -1):
        put(found, i, times(times(element_at(found, i), after, p), element_at(roots, i), p))
        after = times(after, minus(element_at(point, 0), element_at(roots, i), p), p)
    return found


@dataclass(frozen=True)
class Proof:
    """Proofs for a circuit: how they are made, asked and judged, and how long they are."""

    circuit: Circuit[Any, Any]

    @cached_property
    def field(self) -> Field:
        """The circuit's."""
        return self.circuit.field

    @cached_property
    def arity(self) -> int:
        """Wires of the gadget."""
        return 2 * self.circuit.products

    @cached_property
    def points(self) -> int:
        """P."""
        return 1 << self.circuit.calls.bit_length()

    @cached_property
    def length(self) -> int:
        """Elements of a proof."""
        return self.arity + 2 * self.points - 1

    @cached_property
    def query_length(self) -> int:
        """Random elements of a query: factors, if there are several outputs, and t."""
        return 1 + self._factors

    @cached_property
    def verifier_length(self) -> int:
        """Elements of a verifier: v, the wires at t, and G(t)."""
        return 2 + self.arity

    @property
    def _factors(self) -> int:
        return self.circuit.checks if self.circuit.checks > 1 else 0

    def prove(self, vector: Words, seeds: Words, joint: Words) -> Words:
        """A proof that ``vector`` is valid; ``seeds`` are random, one for each wire."""
        field, size = self.field, self.points
        wires = self._wires(vector, seeds, joint, 1)
        found = apply_gadget(
            wires, field.roots(size), field.roots(2 * size), field.part(size), field.p
        )
        return np.concatenate([seeds, found[:-1]])

    def query(self, vector: Words, proof: Words, asked: Words, joint: Words, shares: int) -> Words:
        """A share of the verifier, of a share of a vector and of its proof.

        ``asked`` is the random query, the same for all who hold shares.
        """
        field, size = self.field, self.points
        roots, finer = field.roots(size), field.roots(2 * size)
        point = asked[self._factors :]
        if (roots == point).all(axis=1).any():
            raise ProtocolError("the point of a query is a root of unity; drop this report.")
        wires = self._wires(vector, proof[: self.arity], joint, shares)
        values = complete_values(proof[self.arity :], finer, field.p)
        results = np.ascontiguousarray(values[2 : 2 * self.circuit.calls + 1 : 2])
        outputs = self.circuit.outputs(results, vector, shares)
        if self._factors:
            outputs = field.dot(asked[: self._factors], outputs)
        at_point = combine_values(
            wires, lagrange_weights(point, roots, field.part(size), field.p), field.p
        )
        last = field.dot(values, lagrange_weights(point, finer, field.part(2 * size), field.p))
        return np.concatenate([outputs, at_point, last])

    def holds(self, verifier: Words) -> bool:
        """Whether a verifier, its shares added up, is that of a valid vector."""
        wires = verifier[1:-1]
        left, right = np.ascontiguousarray(wires[::2]), np.ascontiguousarray(wires[1::2])
        result = self.field.dot(left, right)
        return not verifier[0].any() and bool((result[0] == verifier[-1]).all())

    def _wires(self, vector: Words, seeds: Words, joint: Words, shares: int) -> Words:
        """Every wire at the P-th roots of unity."""
        calls = self.circuit.calls
        found = np.zeros((self.arity, self.points, 2), dtype=np.uint64)
        found[:, 0] = seeds
        found[:, 1 : calls + 1] = self.circuit.wires(vector, joint, shares)
        return found


@kernel
def apply_gadget(wires: Words, roots: Words, finer: Words, part: Words, p: Words) -> Words:
    """The gadget of wires that are polynomials, at twice as many roots of unity."""
    found = np.zeros_like(finer)
    for pair in range(0, wires.shape[0], 2):
        left = double_values(wires[pair], roots, finer, part, p)
        right = double_values(wires[pair + 1], roots, finer, part, p)
        for i in range(finer.shape[0]):
            product = times(element_at(left, i), element_at(right, i), p)
            put(found, i, plus(element_at(found, i), product, p))
    return found


@kernel
def combine_values(rows: Words, factors: Words, p: Words) -> Words:
    """The sum of every row's elements, each by its factor."""
    found = np.empty((rows.shape[0], 2), dtype=np.uint64)
    for row in range(rows.shape[0]):
        put(found, row, element_at(dot(rows[row], factors, p), 0))
    return found


def add_shares(field: Field, vectors: Sequence[Words]) -> Words:
    """The sum of shares."""
    found = vectors[0]
    for vector in vectors[1:]:
        found = field.plus(found, vector)
    return found
