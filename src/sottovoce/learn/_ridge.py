"""Ridge from sums over examples, which secure sums can carry.

Each peer sums up its examples (`local_sums`, or `local_fold_sums` by fold); from the sum over all
peers follow the classifier (`ridge_from_sums`), the choice of its penalty by cross-validation
(`penalty_from_sums`) and, where rows must be standardised before they are encrypted or made into
rados, the common means and scales (`Standard`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn._examples import LeakError, Rows, checked_rows, checked_signs, symmetric
from sottovoce.learn._support import FEWEST_DOCUMENTS, KeptFeatures, checked_folds

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
    m = sums[0].count
    if m < FEWEST_EXAMPLES:
        raise InputError(f"ridge needs at least {FEWEST_EXAMPLES} examples, got {m:g}.")
    mean, scale = sums[0].means, sums[0].scales
    covariance = (sums[0].products / m - np.outer(mean, mean)) / np.outer(scale, scale)
    factors = lu_factor(covariance + penalty * np.eye(mean.size))
    models = []
    for each in sums:
        label_mean = each.label_total / m
        cross = (each.cross / m - label_mean * mean) / scale
        theta = lu_solve(factors, cross) / scale
        models.append(LinearModel(theta, label_mean - float(theta @ mean)))
    return models


def squared_error_from_sums(model: LinearModel, sums: ExampleSums) -> float:
    """The sum of (y - theta'x - c)^2 over examples known by their sums only."""
    theta, c = model.coefficients, model.intercept
    square = theta @ sums.products @ theta + 2 * c * (theta @ sums.totals) + sums.count * c * c
    return float(sums.count - 2 * (theta @ sums.cross + c * sums.label_total) + square)


@dataclass(frozen=True)
class ChosenPenalty:
    """A penalty, and the loss of every candidate by cross-validation."""

    penalty: float
    losses: dict[float, float]


def local_fold_sums(
    rows: Rows, labels: ArrayLike, kept: KeptFeatures, folds: ArrayLike, number: int
) -> Floats:
    """One peer's summand: the sums of each of its folds, one row a fold."""
    matrix, signs = checked_rows(rows), np.asarray(labels)
    fold = checked_folds(folds, len(matrix), number)
    if kept.folds != number:
        raise LeakError(
            f"the sums of {number} folds are opened, and the features' support was counted over "
            f"{kept.folds}; decide with local_fold_support and kept_from_fold_sums."
        )
    return np.array([_fold_vector(matrix, signs, kept, fold == k) for k in range(number)])


def _fold_vector(
    rows: NDArray[np.float64], labels: Floats, kept: KeptFeatures, chosen: NDArray[np.bool_]
) -> Floats:
    if not chosen.any():
        nothing = local_sums(np.zeros((1, rows.shape[1])), [1], kept)
        return np.zeros(nothing.to_vector().size)
    return local_sums(rows[chosen], labels[chosen], kept).to_vector()


def penalty_from_sums(
    summed: ArrayLike, width: int, *, penalties: Sequence[float] = PENALTIES
) -> ChosenPenalty:
    """The penalty with the least squared error over the held-out folds.

    One round: the error of a fold under the model of the others follows from the folds' sums. To
    open them shows the aggregate of each fold, so that a fold must not be small.
    """
    folds = [ExampleSums.from_vector(vector, width) for vector in np.asarray(summed)]
    check_fold_sizes(folds)
    whole = ExampleSums.from_vector(np.sum(np.asarray(summed), axis=0), width)
    losses = {penalty: _held_out_error(whole, folds, penalty) for penalty in penalties}
    if not losses:
        raise ParameterError("penalties must hold at least one candidate.")
    return ChosenPenalty(min(losses, key=losses.__getitem__), losses)


def _held_out_error(whole: ExampleSums, folds: Sequence[ExampleSums], penalty: float) -> float:
    errors = (
        squared_error_from_sums(ridge_from_sums(whole - fold, penalty), fold) for fold in folds
    )
    return sum(errors) / whole.count


def fold_models(
    summed: ArrayLike, width: int, *, penalties: Sequence[float] = PENALTIES
) -> dict[tuple[float, int], LinearModel]:
    """The model of every candidate without each fold, for the peers to count errors with."""
    vectors = np.asarray(summed, np.float64)
    whole = ExampleSums.from_vector(vectors.sum(axis=0), width)
    return {
        (penalty, k): ridge_from_sums(whole - ExampleSums.from_vector(vector, width), penalty)
        for penalty in penalties
        for k, vector in enumerate(vectors)
    }


def local_fold_errors(
    models: dict[tuple[float, int], LinearModel],
    rows: Rows,
    labels: ArrayLike,
    kept: KeptFeatures,
    folds: ArrayLike,
) -> Floats:
    """One peer's summand of a second round: its rows, then each model's errors on its fold."""
    x, y, fold = kept.applied(rows), np.asarray(labels), np.asarray(folds)
    errors = [
        np.count_nonzero(np.where(model.scores(x[fold == k]) > 0, 1, -1) != y[fold == k])
        for (_, k), model in models.items()
    ]
    return np.array([len(x), *errors], np.float64)


def penalty_from_errors(
    models: Mapping[tuple[float, int], object], summed: ArrayLike
) -> ChosenPenalty:
    """The penalty with the fewest misclassified rows over the held-out folds."""
    rows, *errors = np.asarray(summed, np.float64)
    losses: dict[float, float] = {}
    for (penalty, _), wrong in zip(models, errors, strict=True):
        losses[penalty] = losses.get(penalty, 0.0) + float(wrong / rows)
    return ChosenPenalty(min(losses, key=losses.__getitem__), losses)


def check_fold_sizes(folds: Sequence[ExampleSums]) -> None:
    """Refuse folds whose sums would show too few rows."""
    if len(folds) < 2:  # noqa: PLR2004 - one fold leaves nothing to learn from
        raise ParameterError(f"cross-validation needs at least 2 folds, got {len(folds)}.")
    fewest = min(fold.count for fold in folds)
    if fewest < FEWEST_DOCUMENTS:
        raise LeakError(
            f"every fold must have at least {FEWEST_DOCUMENTS} rows over all peers, "
            f"got {fewest:g}; use fewer folds."
        )


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
