"""What the linear classifiers share with scikit-learn's conventions."""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, MissingExtraError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.rados.definition import rademacher_observations
from sottovoce.learn.rados.maker import fresh_signatures

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingExtraError("scikit-learn", "learn") from error


class Prepared(NamedTuple):
    """Standardised rows with a last column of ones, and how to undo the standardisation."""

    rows: Floats
    means: Floats
    scales: Floats

    def undone(self, theta: Floats) -> LinearModel:
        """A classifier of prepared rows as one of the rows as they came."""
        coefficients = theta[:-1] / self.scales
        return LinearModel(coefficients, float(theta[-1] - coefficients @ self.means))


def prepared(rows: Floats) -> Prepared:
    """Centre and scale each column; a constant one is centred only."""
    means, spread = rows.mean(axis=0), rows.std(axis=0)
    scales = np.where(spread > 1e-9 * np.abs(means) + 1e-300, spread, 1.0)
    ones = np.ones((len(rows), 1))
    return Prepared(np.hstack([(rows - means) / scales, ones]), means, scales)


def own_rados(rows: Floats, signs: Floats, number: int, seed: int | None) -> Floats:
    """Rados of one's own rows; a seed is for studies, since it tells the signatures."""
    if number < 1:
        raise InputError(f"n_rados must be >= 1, got {number}.")
    if seed is None:
        signatures = fresh_signatures(number, len(rows))
    else:
        chance = np.random.default_rng(seed)
        signatures = chance.integers(0, 2, (number, len(rows)), dtype=np.int8) * 2 - 1
    return rademacher_observations(rows, signs, signatures.astype(np.int8))


class TwoClassLinear(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # sklearn has no types
    """A linear classifier of two classes; the second of the sorted labels is the positive one.

    Sparse rows are made dense: for up to a few thousand features.
    """

    coef_: Floats
    intercept_: Floats
    classes_: NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ANN401, N803 - sklearn's signature
        """Learn from rows and their labels."""
        x, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2
        )
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        self.classes_, signs = two_classes(y)
        model = self._learned(dense, signs)
        self.coef_ = model.coefficients[None, :]
        self.intercept_ = np.array([model.intercept])
        return self

    @abstractmethod
    def _learned(self, rows: Floats, signs: Floats) -> LinearModel:
        """The classifier of these rows."""

    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803 - sklearn's signature
        """A score per row, positive for the second class."""
        check_is_fitted(self)
        x = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores: Floats = x @ self.coef_[0] + self.intercept_[0]
        return scores

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: ANN401, N803 - sklearn's signature
        """A label per row."""
        positive = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[positive.astype(int)]
        return labels

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - sklearn's signature
        """Two classes only, sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def two_classes(labels: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
    """The two sorted classes, and a sign per row; anything but two is refused."""
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        raise InputError(
            f"Only binary classification is supported. The type of the target is {kind}."
        )
    classes, places = np.unique(labels, return_inverse=True)
    if classes.size != 2:  # noqa: PLR2004 - two classes
        raise InputError(f"labels must take two values, got {classes.size} class.")
    return classes, (2 * places - 1).astype(np.float64)
