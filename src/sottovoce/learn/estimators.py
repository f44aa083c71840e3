"""The learners on one's own rows, with scikit-learn's conventions."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, MissingExtraError, ParameterError
from sottovoce.learn.rados.rados import (
    PAPER_PENALTY,
    RadoMoments,
    boost,
    confidence_weights,
    descend,
    fresh_signatures,
    m_loss_minimiser,
    rademacher_observations,
)
from sottovoce.learn.ridge import (
    PENALTIES,
    LinearModel,
    likeliest_penalties,
    local_sums,
    ridge_from_sums,
)
from sottovoce.learn.support import all_kept

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

    def unstandardise(self, theta: Floats) -> LinearModel:
        """A classifier of prepared rows as one of the rows as they came."""
        coefficients = theta[:-1] / self.scales
        return LinearModel(coefficients, float(theta[-1] - coefficients @ self.means))


def prepare_rows(rows: Floats) -> Prepared:
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
        x, y = _validate(self, X, y, ensure_min_samples=2)
        dense = x if isinstance(x, np.ndarray) else x.toarray()
        self.classes_, signs = two_classes(y)
        model = self._learn(dense, signs)
        self.coef_ = model.coefficients[None, :]
        self.intercept_ = np.array([model.intercept])
        return self

    @abstractmethod
    def _learn(self, rows: Floats, signs: Floats) -> LinearModel:
        """The classifier of these rows."""

    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803 - sklearn's signature
        """A score per row, positive for the second class."""
        check_is_fitted(self)
        x = _validate(self, X, reset=False)
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


def _validate(estimator: TwoClassLinear, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - sklearn's
    """What scikit-learn makes of rows and labels, or why not, without quoting any of them."""
    try:
        return validate_data(estimator, *given, accept_sparse="csr", dtype=np.float64, **options)
    except (TypeError, ValueError) as error:
        if _holds_text(given[0]):
            raise InputError("rows must be numbers, got texts among them.") from None
        if "array=" in str(error):
            raise InputError(
                "rows must be a matrix of rows by features. Reshape your data: reshape(-1, 1) for "
                "rows of a single feature, reshape(1, -1) for a single row."
            ) from None
        raise


def _holds_text(rows: object) -> bool:
    return any(isinstance(each, str | bytes) for each in _flat(rows))


def _flat(values: Any) -> Iterator[Any]:  # noqa: ANN401 - whatever a user took for rows
    """The single values of rows, however deep and ragged."""
    if isinstance(values, list | tuple):
        for each in values:
            yield from _flat(each)
    else:
        yield from np.asarray(values, object).ravel()


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


class RadoBoostClassifier(TwoClassLinear):
    """RadoBoost on sampled rados of standardised features.

    Args:
        n_rados: how many rados.
        rounds: of boosting, one feature each.
        random_state: a seed for studies; None draws signatures from the operating system.

    Example:
        >>> from sottovoce.learn import RadoBoostClassifier
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10
        >>> RadoBoostClassifier(random_state=0).fit(rows, labels).predict([[1.0, 0.0]]).tolist()
        ['yes']
    """

    def __init__(
        self, n_rados: int = 1000, *, rounds: int = 500, random_state: int | None = None
    ) -> None:
        self.n_rados = n_rados
        self.rounds = rounds
        self.random_state = random_state

    def _learn(self, rows: Floats, signs: Floats) -> LinearModel:
        ready = prepare_rows(rows)
        rados = own_rados(ready.rows, signs, self.n_rados, self.random_state)
        return ready.unstandardise(boost(rados, self.rounds))


class RadoDescentClassifier(TwoClassLinear):
    """Gradient descent on the exponential loss of rados.

    Private Text Classification, Problem 1.

    Args:
        n_rados: how many rados.
        weight: of each square of theta; 1 in the paper.
        most_steps: of the descent.
        tolerance: the largest slope at which it stops.
        random_state: a seed for studies; None draws signatures from the operating system.

    Example:
        >>> from sottovoce.learn import RadoDescentClassifier
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10
        >>> RadoDescentClassifier(random_state=0).fit(rows, labels).predict([[1.0, 0.0]]).tolist()
        ['yes']
    """

    def __init__(
        self,
        n_rados: int = 1000,
        *,
        weight: float = 1.0,
        most_steps: int = 2000,
        tolerance: float = 1e-4,
        random_state: int | None = None,
    ) -> None:
        self.n_rados = n_rados
        self.weight = weight
        self.most_steps = most_steps
        self.tolerance = tolerance
        self.random_state = random_state

    def _learn(self, rows: Floats, signs: Floats) -> LinearModel:
        if not self.weight > 0:
            raise ParameterError(f"weight must be > 0, got {self.weight}.")
        ready = prepare_rows(rows)
        rados = own_rados(ready.rows, signs, self.n_rados, self.random_state)
        weights = np.full(rados.shape[1], float(self.weight))
        end = descend(rados, weights, most_steps=self.most_steps, tolerance=self.tolerance)
        self.n_iter_ = max(end.steps, 1)
        return ready.unstandardise(end.theta)


class MLossClassifier(TwoClassLinear):
    """The closed-form minimiser of the M-loss of rados.

    Private Text Classification, Definition 4 and eq. 14, corrected.

    Args:
        n_rados: how many rados.
        penalty: ridge's lambda that the M-loss stands for; 2 in the paper.
        low_confidence: columns whose weight in Gamma is ``epsilon``, as the intercept's is.
        epsilon: the small weight of eq. 13.
        random_state: a seed for studies; None draws signatures from the operating system.

    Example:
        >>> from sottovoce.learn import MLossClassifier
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10
        >>> MLossClassifier(random_state=0).fit(rows, labels).predict([[1.0, 0.0]]).tolist()
        ['yes']
    """

    def __init__(
        self,
        n_rados: int = 1000,
        *,
        penalty: float = PAPER_PENALTY,
        low_confidence: Sequence[int] = (),
        epsilon: float = 0.01,
        random_state: int | None = None,
    ) -> None:
        self.n_rados = n_rados
        self.penalty = penalty
        self.low_confidence = low_confidence
        self.epsilon = epsilon
        self.random_state = random_state

    def _learn(self, rows: Floats, signs: Floats) -> LinearModel:
        ready = prepare_rows(rows)
        moments = RadoMoments.from_rados(
            own_rados(ready.rows, signs, self.n_rados, self.random_state)
        )
        weights = confidence_weights(
            moments.width,
            low_confidence=(*self.low_confidence, moments.width - 1),
            epsilon=self.epsilon,
        )
        theta = m_loss_minimiser(moments, len(rows), weights, penalty=self.penalty)
        return ready.unstandardise(theta)


class SummedRidgeClassifier(TwoClassLinear):
    """Ridge from the sums that peers would add up, on standardised features.

    Args:
        penalty: lambda; None chooses the likeliest from the sums, see `likeliest_penalties`.
        penalties: the candidates.

    Example:
        >>> from sottovoce.learn import SummedRidgeClassifier
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10
        >>> SummedRidgeClassifier(penalty=0.1).fit(rows, labels).predict([[1.0, 0.0]]).tolist()
        ['yes']
    """

    def __init__(
        self, penalty: float | None = 0.1, *, penalties: Sequence[float] = PENALTIES
    ) -> None:
        self.penalty = penalty
        self.penalties = penalties

    def _learn(self, rows: Floats, signs: Floats) -> LinearModel:
        sums = local_sums(rows, signs, all_kept(rows.shape[1]))
        given = self.penalty
        self.penalty_ = likeliest_penalties([sums], self.penalties)[0] if given is None else given
        return ridge_from_sums(sums, self.penalty_)
