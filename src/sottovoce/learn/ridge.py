"""Ridge from sums over examples, which secure sums can carry.

Each peer sums up its examples (`local_sums`); from the sum over all peers follow the classifier
(`ridge_from_sums`), its likeliest penalty (`likeliest_penalties`) and, where rows must be
standardised before they are encrypted or made into rados, the common means and scales (`Standard`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DataError, InputError, ParameterError
from sottovoce.learn._examples import Rows, checked_signs, symmetric
from sottovoce.learn.support import KeptFeatures

PENALTIES = tuple(float(penalty) for penalty in np.logspace(-4, 2, 13))
FEWEST_EXAMPLES = 2
_CONSTANT = 1e-9  # of a feature's mean square: what varies by less does not vary
_FLOAT = 2.0**-46  # how far sums, squares and quotients of floats are off, in terms of mean squares
_TELLABLE = 16  # a variance must be so many times its error


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
        """The features' means."""
        return self.totals / self.count

    @property
    def scales(self) -> Floats:
        """Standard deviations of the features; 1 where a feature is constant."""
        second = np.diag(self.products) / self.count
        variances = second - self.means**2
        # What rounding leaves of a constant feature is no spread.
        constant = variances <= _CONSTANT * second + 1e-300
        return np.where(constant, 1.0, np.sqrt(np.where(constant, 1.0, variances)))

    @property
    def covariance(self) -> Floats:
        """The standardised features' covariance: (X'X/m - mean mean') over the scales."""
        mean, scale = self.means, self.scales
        centred = self.products / self.count - np.outer(mean, mean)
        covariance: Floats = centred / np.outer(scale, scale)
        return covariance

    @property
    def label_covariance(self) -> Floats:
        """The standardised features' covariance with the label."""
        shifted = self.cross / self.count - self.label_total / self.count * self.means
        covariance: Floats = shifted / self.scales
        return covariance

    def to_vector(self) -> Floats:
        """The sums as one vector, which secure sums carry."""
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


def local_sums(rows: Rows, labels: ArrayLike, kept: KeptFeatures) -> ExampleSums:
    """One peer's summand, of the features that may be opened."""
    x = kept.apply(rows)
    y = checked_signs(labels, len(x))
    return ExampleSums(float(len(x)), float(y.sum()), x.sum(axis=0), x.T @ y, x.T @ x)


def example_vector_size(width: int) -> int:
    """How many numbers the sums of ``width`` features take."""
    return 2 + 2 * width + width * (width + 1) // 2


@dataclass(frozen=True)
class LinearModel:
    """A score theta'x + c, in the units of the features as they came."""

    coefficients: Floats
    intercept: float

    def scores(self, rows: ArrayLike) -> Floats:
        """Positive for the class 1."""
        return np.asarray(rows, np.float64) @ self.coefficients + self.intercept


def ridge_from_sums(sums: ExampleSums, penalty: float) -> LinearModel:
    """Minimise (1/m) sum (y - theta'x - c)^2 + lambda theta'theta over standardised features.

    Centring and scaling are done on the sums: X'X - m mean mean', and so on.
    """
    return ridge_of_labels([sums], penalty)[0]


def ridge_of_labels(sums: Sequence[ExampleSums], penalty: float) -> list[LinearModel]:
    """Each label's ridge, from sums that differ in y and x y alone: x x' is factored once.

    Every label is solved for by itself, so that it comes out as it would alone, to the last bit.
    """
    from scipy.linalg import lu_factor, lu_solve  # noqa: PLC0415 - slow, and few peers solve

    if not penalty > 0:
        raise ParameterError(f"penalty must be > 0, got {penalty}.")
    first = _checked_count(sums[0])
    factors = lu_factor(first.covariance + penalty * np.eye(first.width))
    models = []
    for each in sums:
        theta = lu_solve(factors, each.label_covariance) / first.scales
        label_mean = each.label_total / each.count
        models.append(LinearModel(theta, label_mean - float(theta @ first.means)))
    return models


def _checked_count(sums: ExampleSums) -> ExampleSums:
    if sums.count < FEWEST_EXAMPLES:
        raise InputError(f"ridge needs at least {FEWEST_EXAMPLES} examples, got {sums.count:g}.")
    return sums


def likeliest_penalties(
    sums: Sequence[ExampleSums], penalties: Sequence[float] = PENALTIES
) -> list[float]:
    """Each label's penalty with the largest evidence of Bayesian ridge, from the totals alone.

    MacKay, Bayesian interpolation (Neural Computation 4, 1992). Let y, less its mean, be normal
    around X theta with variance s^2, and theta normal around 0 with variance s^2 / (m lambda), X
    being standardised: ridge's theta is then the likeliest. Minus twice the logarithm of the
    probability of y, at the likeliest s^2 and but for a constant, is

        (m - 1) ln(y'y/m - sum_i z_i^2 / (e_i + lambda)) + sum_i ln(1 + e_i / lambda)

    with X'X/m = V diag(e) V' and z = V'X'y/m. All of it follows from m, y, x, xy and xx'.
    """
    from scipy.linalg import eigh  # noqa: PLC0415 - slow, and few peers solve

    if not penalties or not min(penalties) > 0:
        raise ParameterError("penalties must hold at least one candidate, all > 0.")
    first, found = _checked_count(sums[0]), []
    values, vectors = eigh(first.covariance)
    spread = np.maximum(values, 0)[:, None]
    ridge = np.asarray(penalties, np.float64)
    widths = np.log1p(spread / ridge).sum(axis=0)
    for each in sums:
        shares = (vectors.T @ each.label_covariance)[:, None] ** 2 / (spread + ridge)
        variance = 1 - (each.label_total / each.count) ** 2  # y is -1 or 1
        unexplained = np.maximum(variance - shares.sum(axis=0), _FLOAT)
        evidence = (each.count - 1) * np.log(unexplained) + widths
        found.append(float(ridge[evidence.argmin()]))
    return found


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
    def from_moments(
        cls, summed: ArrayLike, kept: KeptFeatures, *, rounding: float = 0.0
    ) -> "Standard":
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

    def apply(self, rows: Rows) -> Floats:
        """Standardised kept columns, and a last one of ones."""
        x = (self.kept.apply(rows) - self.means) / self.scales
        x[:, self.constant] = 0.0
        return np.hstack([x, np.ones((len(x), 1))])

    def unstandardise(self, theta: Floats) -> LinearModel:
        """A classifier of standardised rows as one of the kept features as they came."""
        coefficients = np.where(self.constant, 0.0, theta[:-1] / self.scales)
        return LinearModel(coefficients, float(theta[-1] - coefficients @ self.means))


def _check_tellable(unclear: NDArray[np.bool_]) -> None:
    if unclear.any():
        raise DataError(
            f"every feature's variance must be {_TELLABLE} times the rounding of its moments, but "
            f"{int(unclear.sum())} of {unclear.size} features vary less; raise moment_bits, centre "
            "the features, scale them up, or drop them if they are constant."
        )


def lift_model(model: LinearModel, kept: KeptFeatures) -> LinearModel:
    """A classifier of the kept features as one of the whole dictionary."""
    coefficients = np.zeros(kept.kept.size)
    coefficients[kept.kept] = model.coefficients
    return LinearModel(coefficients, model.intercept)


def label_vector_size(width: int, labels: int) -> int:
    """How many numbers the sums of ``width`` features and so many labels take."""
    return example_vector_size(width) + (labels - 1) * (width + 1)


def local_label_sums(rows: Floats, signs: Floats, kept: KeptFeatures) -> Floats:
    """One peer's summand: the first label's sums, and what the others add.

    ``signs`` has a column of -1 and 1 for each label.
    """
    first = local_sums(rows, signs[:, 0], kept).to_vector()
    x = kept.apply(rows)
    columns = [checked_signs(column, len(x)) for column in signs[:, 1:].T]
    return np.concatenate([first, *(np.append(y.sum(), x.T @ y) for y in columns)])


def sums_of_labels(vector: ArrayLike, width: int, labels: int) -> list[ExampleSums]:
    """The sums of every label; those that do not depend on it are one array for all."""
    numbers = np.asarray(vector, np.float64)
    if numbers.shape != (label_vector_size(width, labels),):
        raise InputError(
            f"the sums of {width} features and {labels} labels take "
            f"{label_vector_size(width, labels)} numbers, got shape {numbers.shape}; peers must "
            "agree on the features."
        )
    own = example_vector_size(width)
    first = ExampleSums.from_vector(numbers[:own], width)
    rest = numbers[own:].reshape(labels - 1, width + 1)
    return [first, *(replace(first, label_total=float(y[0]), cross=y[1:]) for y in rest)]
