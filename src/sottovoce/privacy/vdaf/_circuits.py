r"""Validity circuits: which vectors are an honest measurement, by sums of products alone.

A circuit calls one gadget as often as it needs, c products added up (the standard's Mul is c = 1,
its ParallelSum(Mul) is any c):

    gadget(a_1, b_1, ..., a_c, b_c) = sum_j a_j b_j

What goes into the calls (`wires`) is affine in the measurement, and what comes of the calls
(`outputs`) is affine in their results, so that servers that hold shares compute shares of both. A
constant is divided by the number of shares, which so add up to it. The measurement is valid if
every output is zero:

    Count        x x - x
    SumVec       sum_i sum_j r_i^j x_ij (x_ij - 1)        for bits x_ij, chunk i, place j from 1
    Histogram    the same, and sum_ij x_ij - 1

r is the joint randomness, unforeseen by the client: a bit that is neither 0 nor 1 makes the sum a
polynomial in r that is not zero, whose value is zero for at most c of p values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from sottovoce.compiled import kernel
from sottovoce.errors import ParameterError
from sottovoce.privacy.vdaf.field import (
    FIELD64,
    FIELD128,
    Field,
    Words,
    element_at,
    minus,
    put,
    times,
)

Measurement_contra = TypeVar("Measurement_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)


class Circuit(Protocol[Measurement_contra, Result_co]):
    """A kind of measurement, its proof's sizes, and which vectors are one."""

    @property
    def field(self) -> Field:
        """The field of its vectors."""

    @property
    def measurement_length(self) -> int:
        """Elements of an encoded measurement."""

    @property
    def output_length(self) -> int:
        """Elements that are aggregated."""

    @property
    def products(self) -> int:
        """Products in one call of the gadget."""

    @property
    def calls(self) -> int:
        """Calls of the gadget."""

    @property
    def joint_length(self) -> int:
        """Elements of joint randomness."""

    @property
    def checks(self) -> int:
        """Outputs, each of which must be zero."""

    def encode(self, measurement: Measurement_contra) -> Words:
        """The vector of a measurement."""

    def truncate(self, vector: Words) -> Words:
        """What of a vector, or of a share of one, is aggregated."""

    def wires(self, vector: Words, joint: Words, shares: int) -> Words:
        """What goes into the gadget: two wires for each product, an element for each call."""

    def outputs(self, results: Words, vector: Words, shares: int) -> Words:
        """The outputs, given the results of the calls."""

    def result(self, numbers: list[int]) -> Result_co:
        """What the sums of aggregated elements mean."""


class CountCircuit:
    """Whether something holds: 0 or 1."""

    field = FIELD64
    measurement_length = output_length = products = calls = checks = 1
    joint_length = 0

    def encode(self, measurement: int) -> Words:
        """The one bit."""
        if measurement not in {0, 1}:
            raise ParameterError("what is counted must be 0 or 1.")
        return self.field.elements([measurement])

    def truncate(self, vector: Words) -> Words:
        """The bit itself."""
        return vector

    def wires(self, vector: Words, joint: Words, shares: int) -> Words:  # noqa: ARG002 - needs none
        """The bit, twice."""
        return np.stack([vector, vector])

    def outputs(self, results: Words, vector: Words, shares: int) -> Words:  # noqa: ARG002 - likewise
        """The square less the bit."""
        return self.field.minus(results, vector)

    def result(self, numbers: list[int]) -> int:
        """The one number."""
        return numbers[0]


@dataclass(frozen=True)
class _Bits:
    """Vectors of zeros and ones, in chunks."""

    length: int
    """Entries of a result."""
    chunk_length: int

    field = FIELD128

    def __post_init__(self) -> None:
        for name in ("length", "chunk_length"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be >= 1, got {getattr(self, name)}.")

    @property
    def measurement_length(self) -> int:
        return self.length

    @property
    def output_length(self) -> int:
        return self.length

    @property
    def products(self) -> int:
        return self.chunk_length

    @property
    def calls(self) -> int:
        return -(-self.measurement_length // self.chunk_length)

    @property
    def joint_length(self) -> int:
        return self.calls

    def wires(self, vector: Words, joint: Words, shares: int) -> Words:
        """r_i^j x_ij and x_ij - 1 for each place j of a chunk i; zeros fill the last chunk."""
        one = self.field.part(shares)
        return bit_wires(vector, joint, one, self.chunk_length, self.field.p)

    def result(self, numbers: list[int]) -> list[int]:
        """The numbers themselves."""
        return numbers


@dataclass(frozen=True)
class HistogramCircuit(_Bits):
    """One of ``length`` buckets."""

    checks = 2

    def encode(self, measurement: int) -> Words:
        """Zeros, and a one in the bucket."""
        if not 0 <= measurement < self.length:
            raise ParameterError(f"a bucket must be 0 to {self.length - 1}.")
        return self.field.elements(bucket == measurement for bucket in range(self.length))

    def truncate(self, vector: Words) -> Words:
        """The vector itself."""
        return vector

    def outputs(self, results: Words, vector: Words, shares: int) -> Words:
        """Every entry is 0 or 1, and they add up to 1."""
        one = self.field.minus(self.field.total(vector), self.field.part(shares))
        return np.concatenate([self.field.total(results), one])


@dataclass(frozen=True)
class SumVecCircuit(_Bits):
    """``length`` whole numbers, each 0 to ``max_measurement``.

    A number is written in bits b_0, b_1, ..., b_(k-1), the last of which does not weigh 2^(k-1) but
    what is missing to the maximum, so that no choice of bits exceeds it.
    """

    max_measurement: int

    checks = 1

    def __post_init__(self) -> None:
        """Check the bounds."""
        super().__post_init__()
        most = self.field.modulus // 2
        if not 1 <= self.max_measurement < most:
            raise ParameterError("max_measurement must be >= 1 and below half the field's modulus.")

    @property
    def weights(self) -> list[int]:
        """Of the bits of a number."""
        lower = self.max_measurement.bit_length() - 1
        return [1 << bit for bit in range(lower)] + [self.max_measurement - ((1 << lower) - 1)]

    @property
    def measurement_length(self) -> int:
        """All bits of all numbers."""
        return self.length * len(self.weights)

    def encode(self, measurement: Sequence[int]) -> Words:
        """The bits of every number."""
        if len(measurement) != self.length:
            raise ParameterError(f"a vector must have {self.length} numbers.")
        return self.field.elements(bit for number in measurement for bit in self._bits(number))

    def _bits(self, number: int) -> list[int]:
        if not 0 <= number <= self.max_measurement:
            raise ParameterError(f"a number must be 0 to {self.max_measurement}.")
        lower = len(self.weights) - 1
        last = int(number >> lower > 0)
        rest = number - last * self.weights[-1]
        return [rest >> bit & 1 for bit in range(lower)] + [last]

    def truncate(self, vector: Words) -> Words:
        """The numbers: their bits by their weights."""
        weights = self.field.elements(self.weights)
        rows = vector.reshape(self.length, len(weights), 2)
        return np.concatenate([self.field.dot(row, weights) for row in rows])

    def outputs(self, results: Words, vector: Words, shares: int) -> Words:  # noqa: ARG002 - needs them not
        """Every bit is 0 or 1."""
        return self.field.total(results)


@kernel
def bit_wires(vector: Words, joint: Words, one: Words, chunk: int, p: Words) -> Words:
    """The wires of `_Bits`, ``one`` being 1 divided by the number of shares."""
    calls = joint.shape[0]
    found = np.zeros((2 * chunk, calls, 2), dtype=np.uint64)
    for i in range(calls):
        power = element_at(joint, i)
        for j in range(chunk):
            place = i * chunk + j
            entry = element_at(found[2 * j], i)
            if place < vector.shape[0]:
                entry = element_at(vector, place)
            put(found[2 * j], i, times(power, entry, p))
            put(found[2 * j + 1], i, minus(entry, element_at(one, 0), p))
            power = times(power, element_at(joint, i), p)
    return found
