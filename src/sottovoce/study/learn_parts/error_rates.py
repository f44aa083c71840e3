"""How often a classifier errs: on rows at hand, and on those that each fold holds out."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from sottovoce.study.learn_parts.ionosphere import Examples

Fit = Callable[[Examples], Any]


def error_rate(fitted: Any, examples: Examples) -> float:  # noqa: ANN401 - a scikit-learn classifier
    """The share of examples with the wrong label."""
    return float(np.mean(fitted.predict(examples.rows) != examples.signs))


def held_out_rate(fit: Fit, examples: Examples, folds: int) -> float:
    """The same by cross-validation, every row held out once."""
    split = StratifiedKFold(folds, shuffle=True, random_state=0).split(*examples)
    wrong = sum(
        error_rate(fit(_chosen(examples, train)), _chosen(examples, test)) * len(test)
        for train, test in split
    )
    return wrong / len(examples.rows)


def _chosen(examples: Examples, places: NDArray[np.intp]) -> Examples:
    return Examples(examples.rows[places], examples.signs[places])
