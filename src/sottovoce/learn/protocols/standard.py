"""Standardisation from summed moments, at every peer alike."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats, Rows
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import KeptFeatures

_CONSTANT = 1e-9  # of a feature's mean square: what varies by less does not vary
_FLOAT = 2.0**-46  # how far sums, squares and quotients of floats are off, in terms of mean squares
_TELLABLE = 16  # a variance must be so many times its error


class UnscaledFeatureError(InputError):
    """A feature's variance drowns in the rounding of the moments it is worked out from."""


@dataclass(frozen=True)
class Standard:
    """Means and scales of the kept features over all peers' rows.

    Attributes:
        kept: which features are kept.
        count: m, all peers' rows.
        means: of the kept features.
        scales: their standard deviations, rounded up so that no standardised column's mean square
            exceeds 1; 1 where a feature is constant.
        constant: the features that do not vary: their columns are zero, and they add to no score.
    """

    kept: KeptFeatures
    count: float
    means: Floats
    scales: Floats
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, summed: ArrayLike, kept: KeptFeatures, *, rounding: float = 0.0) -> "Standard":
        """From the sum of the peers' `LocalData.moments`, each at most ``rounding`` off.

        Refuses features of which the moments do not tell whether they vary; one whose moments are
        exactly those of a constant is taken for one.
        """
        numbers = np.asarray(summed, np.float64)
        if numbers.shape != (1 + 2 * kept.width,) or not numbers[0] >= 1:
            raise InputError(f"the moments of {kept.width} features take {1 + 2 * kept.width}.")
        totals, squares = np.split(numbers[1:] / numbers[0], 2)
        off = rounding / numbers[0]
        errors = off * (1 + 2 * np.abs(totals) + off) + _FLOAT * squares
        variances = squares - totals**2
        unclear = variances < _TELLABLE * errors
        # A used feature whose squares all round to zero is not constant but too small.
        constant = np.asarray(variances == 0) & (squares > 0)
        if rounding == 0:
            constant = variances <= _CONSTANT * squares
        _check_tellable(unclear & ~constant)
        scales = np.sqrt(np.where(constant, 1.0, variances + errors))
        return cls(kept, float(numbers[0]), totals, scales, constant)

    @property
    def width(self) -> int:
        """D + 1: the kept features and the intercept's column."""
        return self.kept.width + 1

    def applied(self, rows: Rows) -> Floats:
        """Standardised kept columns, and a last one of ones."""
        x = (self.kept.applied(rows) - self.means) / self.scales
        x[:, self.constant] = 0.0
        return np.hstack([x, np.ones((len(x), 1))])

    def undone(self, theta: Floats) -> LinearModel:
        """A classifier of standardised rows as one of the kept features as they came."""
        coefficients = np.where(self.constant, 0.0, theta[:-1] / self.scales)
        return LinearModel(coefficients, float(theta[-1] - coefficients @ self.means))


def _check_tellable(unclear: NDArray[np.bool_]) -> None:
    if unclear.any():
        raise UnscaledFeatureError(
            f"every feature's variance must be {_TELLABLE} times the rounding of its moments, but "
            f"{int(unclear.sum())} of {unclear.size} features vary less; raise moment_bits, centre "
            "the features, scale them up, or drop them if they are constant."
        )


def lifted(model: LinearModel, kept: KeptFeatures) -> LinearModel:
    """A classifier of the kept features as one of the whole dictionary."""
    coefficients = np.zeros(kept.kept.size)
    coefficients[kept.kept] = model.coefficients[: int(kept.kept.sum())]
    if kept.rare == "merge":
        coefficients[~kept.kept] = model.coefficients[-1]
    return LinearModel(coefficients, model.intercept)
