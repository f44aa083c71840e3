"""The plain rows of the learners' table: nothing encrypted, on one data set."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sottovoce.errors import ParameterError
from sottovoce.learn.learners.estimators import (
    MLossClassifier,
    RadoBoostClassifier,
    RadoDescentClassifier,
    SummedRidgeClassifier,
)
from sottovoce.study.learn_parts.ionosphere import Examples
from sottovoce.study.result import Row

FOLDS = 10
# One for all closed forms and not tuned on the rows below: the middle of ridge's candidates.
PENALTY = 0.1


@dataclass(frozen=True)
class Learner:
    """A row of the table: its name, how to make it from a seed, and the paper's figure."""

    name: str
    made: Callable[[int], Any]
    rados: int | None = None
    paper: float | None = None


def _m_loss(number: int, *, paper: float | None = None) -> Learner:
    def made(seed: int) -> MLossClassifier:
        return MLossClassifier(number, penalty=PENALTY, random_state=seed)

    return Learner("radoLearn, M-loss", made, number, paper)


LEARNERS = (
    Learner(
        "logistic regression (baseline)",
        lambda _: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        paper=0.049,
    ),
    Learner(
        "radoBoost", lambda seed: RadoBoostClassifier(1000, random_state=seed), 1000, paper=0.12
    ),
    Learner(
        "radoLearn, descent", lambda seed: RadoDescentClassifier(1000, random_state=seed), 1000
    ),
    _m_loss(100),
    _m_loss(1000, paper=0.089),  # the paper does not say how many rados it took
    _m_loss(10_000),
    Learner("ridge, from sums", lambda _: SummedRidgeClassifier(PENALTY)),
    Learner("ridge, penalty by cross-validation", lambda _: SummedRidgeClassifier(None)),
)


def plain_rows(
    examples: Examples, *, repeats: int = 3, learners: tuple[Learner, ...] = LEARNERS
) -> list[Row]:
    """Misclassification by repeated 10-fold cross-validation and on the training set."""
    if repeats < 1:
        raise ParameterError(f"repeats must be >= 1, got {repeats}.")
    return [_row(learner, examples, repeats) for learner in learners]


def _row(learner: Learner, examples: Examples, repeats: int) -> Row:
    rates = [_held_out_rate(learner, examples, seed) for seed in range(repeats)]
    start = perf_counter()
    fitted = learner.made(0).fit(*examples)
    seconds = perf_counter() - start
    return {
        "learner": learner.name,
        "rados": learner.rados,
        "cross_validation_error": float(np.mean(rates)),
        "training_error": error_rate(fitted, examples),
        "paper_error": learner.paper,
        "fit_seconds": seconds,
        "repeats": repeats,
    }


def _held_out_rate(learner: Learner, examples: Examples, seed: int) -> float:
    wrong = sum(
        error_rate(learner.made(seed).fit(*_chosen(examples, train)), _chosen(examples, test))
        * len(test)
        for train, test in _folds(examples, seed)
    )
    return wrong / len(examples.rows)


def _folds(examples: Examples, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    split = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    yield from split.split(*examples)


def _chosen(examples: Examples, places: NDArray[np.intp]) -> Examples:
    return Examples(examples.rows[places], examples.signs[places])


def error_rate(fitted: Any, examples: Examples) -> float:  # noqa: ANN401 - a scikit-learn classifier
    """The share of examples with the wrong label."""
    return float(np.mean(fitted.predict(examples.rows) != examples.signs))
