"""The choice of ridge's penalty by cross-validation, its folds held at the peers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats, LeakError, Rows, checked_rows
from sottovoce.learn.learners.ridge import LinearModel, ridge_from_sums, squared_error_from_sums
from sottovoce.learn.learners.statistics import ExampleSums, local_sums
from sottovoce.learn.learners.support import FEWEST_DOCUMENTS, KeptFeatures, checked_folds

PENALTIES = tuple(float(penalty) for penalty in np.logspace(-4, 2, 13))


@dataclass(frozen=True)
class Chosen:
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
) -> Chosen:
    """The penalty with the least squared error over the held-out folds.

    One round: the error of a fold under the model of the others follows from the folds' sums. To
    open them shows the aggregate of each fold, so that a fold must not be small.
    """
    folds = [ExampleSums.from_vector(vector, width) for vector in np.asarray(summed)]
    _check_folds(folds)
    whole = ExampleSums.from_vector(np.sum(np.asarray(summed), axis=0), width)
    losses = {penalty: _held_out_error(whole, folds, penalty) for penalty in penalties}
    if not losses:
        raise ParameterError("penalties must hold at least one candidate.")
    return Chosen(min(losses, key=losses.__getitem__), losses)


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


def penalty_from_errors(models: Mapping[tuple[float, int], object], summed: ArrayLike) -> Chosen:
    """The penalty with the fewest misclassified rows over the held-out folds."""
    rows, *errors = np.asarray(summed, np.float64)
    losses: dict[float, float] = {}
    for (penalty, _), wrong in zip(models, errors, strict=True):
        losses[penalty] = losses.get(penalty, 0.0) + float(wrong / rows)
    return Chosen(min(losses, key=losses.__getitem__), losses)


def _check_folds(folds: Sequence[ExampleSums]) -> None:
    if len(folds) < 2:  # noqa: PLR2004 - one fold leaves nothing to learn from
        raise ParameterError(f"cross-validation needs at least 2 folds, got {len(folds)}.")
    fewest = min(fold.count for fold in folds)
    if fewest < FEWEST_DOCUMENTS:
        raise LeakError(
            f"every fold must have at least {FEWEST_DOCUMENTS} rows over all peers, "
            f"got {fewest:g}; use fewer folds."
        )
