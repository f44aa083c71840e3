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
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sottovoce.compiled import kernel
from sottovoce.errors import ProtocolError
from sottovoce.privacy.vdaf._circuits import Circuit
from sottovoce.privacy.vdaf._modular import Words, at, dot, plus, put, times
from sottovoce.privacy.vdaf._polynomials import completed, doubled, weights
from sottovoce.privacy.vdaf.field import Field


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
        found = gadget(wires, field.roots(size), field.roots(2 * size), field.part(size), field.p)
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
        values = completed(proof[self.arity :], finer, field.p)
        results = np.ascontiguousarray(values[2 : 2 * self.circuit.calls + 1 : 2])
        outputs = self.circuit.outputs(results, vector, shares)
        if self._factors:
            outputs = field.dot(asked[: self._factors], outputs)
        at_point = combined(wires, weights(point, roots, field.part(size), field.p), field.p)
        last = field.dot(values, weights(point, finer, field.part(2 * size), field.p))
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
def gadget(wires: Words, roots: Words, finer: Words, part: Words, p: Words) -> Words:
    """The gadget of wires that are polynomials, at twice as many roots of unity."""
    found = np.zeros_like(finer)
    for pair in range(0, wires.shape[0], 2):
        left = doubled(wires[pair], roots, finer, part, p)
        right = doubled(wires[pair + 1], roots, finer, part, p)
        for i in range(finer.shape[0]):
            product = times(at(left, i), at(right, i), p)
            put(found, i, plus(at(found, i), product, p))
    return found


@kernel
def combined(rows: Words, factors: Words, p: Words) -> Words:
    """The sum of every row's elements, each by its factor."""
    found = np.empty((rows.shape[0], 2), dtype=np.uint64)
    for row in range(rows.shape[0]):
        put(found, row, at(dot(rows[row], factors, p), 0))
    return found


def added_up(field: Field, vectors: Sequence[Words]) -> Words:
    """The sum of shares."""
    found = vectors[0]
    for vector in vectors[1:]:
        found = field.plus(found, vector)
    return found
