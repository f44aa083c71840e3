"""What ridge needs of the examples, as sums that secure sums can carry."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, Rows, checked_signs
from sottovoce.learn.learners.support import KeptFeatures
from sottovoce.learn.rados.moments import symmetric


@dataclass(frozen=True, repr=False)
class ExampleSums:
    """Sums over examples: their number, y, x, x y and x x'.

    Standardisation, intercept and the solve follow from these alone, so that one secure sum
    carries all of them.
    """

    count: float
    label_total: float
    totals: Floats
    cross: Floats
    products: Floats

    @property
    def width(self) -> int:
        """d, the number of features."""
        return self.totals.size

    @property
    def means(self) -> Floats:
        """Of the features."""
        return self.totals / self.count

    @property
    def scales(self) -> Floats:
        """Standard deviations of the features; 1 where a feature is constant."""
        second = np.diag(self.products) / self.count
        variances = second - self.means**2
        # What rounding leaves of a constant feature is no spread.
        constant = variances <= 1e-9 * second + 1e-300
        return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variances)))

    def to_vector(self) -> Floats:
        """As secure sums carry it."""
        upper = self.products[np.triu_indices(self.width)]
        head = [self.count, self.label_total]
        return np.concatenate([head, self.totals, self.cross, upper])

    @classmethod
    def from_vector(cls, vector: ArrayLike, width: int) -> Self:
        """What `to_vector` made, also of a sum of such vectors."""
        numbers = np.asarray(vector, np.float64)
        if numbers.shape != (example_vector_size(width),):
            raise InputError(
                f"the sums of {width} features take {example_vector_size(width)} numbers, "
                f"got shape {numbers.shape}; peers must agree on the features."
            )
        totals, cross, upper = np.split(numbers[2:], [width, 2 * width])
        return cls(float(numbers[0]), float(numbers[1]), totals, cross, symmetric(upper, width))

    def __sub__(self, other: Self) -> Self:
        """The sums over the examples that are not in ``other``."""
        return self.from_vector(self.to_vector() - other.to_vector(), self.width)


def local_sums(rows: Rows, labels: ArrayLike, kept: KeptFeatures) -> ExampleSums:
    """One peer's summand, of the features that may be opened."""
    x = kept.applied(rows)
    y = checked_signs(labels, len(x))
    return ExampleSums(float(len(x)), float(y.sum()), x.sum(axis=0), x.T @ y, x.T @ x)


def example_vector_size(width: int) -> int:
    """How many numbers the sums of ``width`` features take."""
    return 2 + 2 * width + width * (width + 1) // 2
