"""What peers send of their rados: how many, their sum, and the sum of their outer products."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, checked_rows


@dataclass(frozen=True)
class RadoMoments:
    """A set of rados by its first two sums.

    Private Text Classification, Definition 5, in the form that needs no global mean: peers send
    S1 = sum pi and S2 = sum pi pi', and sum (pi - b)(pi - b)' = S2 - n b b'.

    Attributes:
        count: n, how many rados.
        total: S1 (eq. 17).
        products: S2.
    """

    count: int
    total: Floats
    products: Floats

    @classmethod
    def of(cls, rados: ArrayLike) -> Self:
        """The sums of one peer's rados."""
        pi = checked_rows(rados)
        return cls(len(pi), pi.sum(axis=0), pi.T @ pi)

    @property
    def width(self) -> int:
        """d, the number of features."""
        return self.total.size

    @property
    def mean(self) -> Floats:
        """B of eq. 15, which prints a sum and means the mean."""
        return self.total / self.count

    @property
    def covariance(self) -> Floats:
        """The sum of eq. 18 over all peers, divided by n."""
        return self.products / self.count - np.outer(self.mean, self.mean)

    def to_vector(self) -> Floats:
        """As secure sums carry it: n, S1, and the upper triangle of S2."""
        upper = self.products[np.triu_indices(self.width)]
        return np.concatenate([[self.count], self.total, upper])

    @classmethod
    def from_vector(cls, vector: ArrayLike, width: int) -> Self:
        """What `to_vector` made, also of a sum of such vectors."""
        numbers = np.asarray(vector, np.float64)
        if numbers.shape != (vector_size(width),):
            raise InputError(
                f"the moments of {width} features take {vector_size(width)} numbers, "
                f"got shape {numbers.shape}."
            )
        products = symmetric(numbers[1 + width :], width)
        return cls(round(numbers[0]), numbers[1 : 1 + width], products)


def summed_moments(moments: Iterable[RadoMoments]) -> RadoMoments:
    """The moments of the union of the peers' rados: what a secure sum gives."""
    parts = list(moments)
    if len({part.width for part in parts}) != 1:
        raise InputError("peers must agree on the features; give each the same columns.")
    vector = np.sum([part.to_vector() for part in parts], axis=0)
    return RadoMoments.from_vector(vector, parts[0].width)


def vector_size(width: int) -> int:
    """How many numbers the moments of ``width`` features take."""
    return 1 + width + width * (width + 1) // 2


def symmetric(upper: Floats, width: int) -> Floats:
    """A symmetric matrix from its upper triangle, row by row."""
    matrix = np.zeros((width, width))
    matrix[np.triu_indices(width)] = upper
    return matrix + np.triu(matrix, 1).T
