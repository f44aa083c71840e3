"""Standardisation from summed moments, at every peer alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, Rows
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import KeptFeatures

_CONSTANT = 1e-9


@dataclass(frozen=True)
class Standard:
    """Means and scales of the kept features over all peers' rows.

    Attributes:
        kept: which features are kept.
        count: m, all peers' rows.
        means: of the kept features.
        scales: their standard deviations; 1 where a feature is constant.
    """

    kept: KeptFeatures
    count: float
    means: Floats
    scales: Floats

    @classmethod
    def of(cls, summed: ArrayLike, kept: KeptFeatures) -> "Standard":
        """From the sum of the peers' `LocalData.moments`."""
        numbers = np.asarray(summed, np.float64)
        if numbers.shape != (1 + 2 * kept.width,) or not numbers[0] >= 1:
            raise InputError(f"the moments of {kept.width} features take {1 + 2 * kept.width}.")
        totals, squares = np.split(numbers[1:] / numbers[0], 2)
        variances = squares - totals**2
        constant = variances <= _CONSTANT * squares + 1e-300
        scales = np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variances)))
        return cls(kept, float(numbers[0]), totals, scales)

    @property
    def width(self) -> int:
        """D + 1: the kept features and the intercept's column."""
        return self.kept.width + 1

    def applied(self, rows: Rows) -> Floats:
        """Standardised kept columns, and a last one of ones."""
        x = (self.kept.applied(rows) - self.means) / self.scales
        return np.hstack([x, np.ones((len(x), 1))])

    def undone(self, theta: Floats) -> LinearModel:
        """A classifier of standardised rows as one of the kept features as they came."""
        coefficients = theta[:-1] / self.scales
        return LinearModel(coefficients, float(theta[-1] - coefficients @ self.means))


def lifted(model: LinearModel, kept: KeptFeatures) -> LinearModel:
    """A classifier of the kept features as one of the whole dictionary."""
    coefficients = np.zeros(kept.kept.size)
    coefficients[kept.kept] = model.coefficients[: int(kept.kept.sum())]
    if kept.rare == "merge":
        coefficients[~kept.kept] = model.coefficients[-1]
    return LinearModel(coefficients, model.intercept)
