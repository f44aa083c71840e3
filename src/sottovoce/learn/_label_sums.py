"""Ridge for several labels, each against the others, from sums that all labels share.

Of the sums behind a classifier only y and x y depend on the label; the number of examples, x and
x x' do not. So for L labels they are added up and opened once, with L - 1 further pairs of y and
x y: for d features 1 + d numbers a label beside d^2/2 for all. Each label's classifier is the same
as if it had been trained alone, and nobody can be lost between two labels, since there is one sum.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn._examples import checked_signs
from sottovoce.learn._ridge import (
    ChosenPenalty,
    ExampleSums,
    check_fold_sizes,
    example_vector_size,
    local_fold_sums,
    local_sums,
    ridge_of_labels,
    squared_error_from_sums,
)
from sottovoce.learn._support import KeptFeatures


def label_vector_size(width: int, labels: int) -> int:
    """How many numbers the sums of ``width`` features and so many labels take."""
    return example_vector_size(width) + (labels - 1) * (width + 1)


def local_label_sums(
    rows: Floats, signs: Floats, kept: KeptFeatures, folds: NDArray[np.int64]
) -> Floats:
    """One peer's summand, a row a fold: the first label's sums, and what the others add.

    ``signs`` has a column of -1 and 1 for each label.
    """
    first = (
        local_sums(rows, signs[:, 0], kept).to_vector()[None]
        if kept.folds == 1
        else local_fold_sums(rows, signs[:, 0], kept, folds, kept.folds)
    )
    x = kept.applied(rows)
    fold = folds if kept.folds > 1 else np.zeros(len(x), np.int64)
    more = [_label_part(x, signs[:, 1:], fold == k) for k in range(kept.folds)]
    return np.hstack([first, np.array(more)])


def _label_part(x: Floats, signs: Floats, chosen: NDArray[np.bool_]) -> Floats:
    columns = [checked_signs(column, int(chosen.sum())) for column in signs[chosen].T]
    parts = [np.append(y.sum(), x[chosen].T @ y) for y in columns]
    return np.concatenate(parts) if parts else np.zeros(0)


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


def penalties_of_labels(
    summed: Floats, width: int, labels: int, *, penalties: Sequence[float]
) -> list[ChosenPenalty]:
    """Each label's penalty with the least squared error over the held-out folds.

    As `penalty_from_sums` chooses it for a label alone.
    """
    folds = [sums_of_labels(vector, width, labels) for vector in summed]
    check_fold_sizes([fold[0] for fold in folds])
    if not penalties:
        raise ParameterError("penalties must hold at least one candidate.")
    whole = summed.sum(axis=0)
    others = [sums_of_labels(whole - vector, width, labels) for vector in summed]
    count = whole[0]
    losses: list[dict[float, float]] = [{} for _ in range(labels)]
    for penalty in penalties:
        models = [ridge_of_labels(rest, penalty) for rest in others]
        for k, own in enumerate(losses):
            pairs = zip(models, folds, strict=True)
            errors = (squared_error_from_sums(model[k], fold[k]) for model, fold in pairs)
            own[penalty] = sum(errors) / count
    return [ChosenPenalty(min(own, key=own.__getitem__), own) for own in losses]
