"""The learners as scikit-learn classifiers."""

from collections.abc import Sequence

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.boosting import boosted
from sottovoce.learn.learners.choosing import PENALTIES, local_fold_sums, penalty_from_sums
from sottovoce.learn.learners.classifier import TwoClassLinear, own_rados, prepared
from sottovoce.learn.learners.descent import descended
from sottovoce.learn.learners.mloss import PAPER_PENALTY, confidence_weights, m_loss_minimiser
from sottovoce.learn.learners.ridge import LinearModel, ridge_from_sums
from sottovoce.learn.learners.statistics import local_sums
from sottovoce.learn.learners.support import all_kept
from sottovoce.learn.rados.moments import RadoMoments


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

    def _learned(self, rows: Floats, signs: Floats) -> LinearModel:
        ready = prepared(rows)
        rados = own_rados(ready.rows, signs, self.n_rados, self.random_state)
        return ready.undone(boosted(rados, self.rounds))


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

    def _learned(self, rows: Floats, signs: Floats) -> LinearModel:
        if not self.weight > 0:
            raise ParameterError(f"weight must be > 0, got {self.weight}.")
        ready = prepared(rows)
        rados = own_rados(ready.rows, signs, self.n_rados, self.random_state)
        weights = np.full(rados.shape[1], float(self.weight))
        end = descended(rados, weights, most_steps=self.most_steps, tolerance=self.tolerance)
        self.n_iter_ = max(end.steps, 1)
        return ready.undone(end.theta)


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

    def _learned(self, rows: Floats, signs: Floats) -> LinearModel:
        ready = prepared(rows)
        moments = RadoMoments.of(own_rados(ready.rows, signs, self.n_rados, self.random_state))
        weights = confidence_weights(
            moments.width,
            low_confidence=(*self.low_confidence, moments.width - 1),
            epsilon=self.epsilon,
        )
        theta = m_loss_minimiser(moments, len(rows), weights, penalty=self.penalty)
        return ready.undone(theta)


class SummedRidgeClassifier(TwoClassLinear):
    """Ridge from the sums that peers would add up, on standardised features.

    Args:
        penalty: lambda; None chooses it by cross-validation from the folds' sums.
        penalties: the candidates.
        folds: how many folds; row i is in fold i modulo folds.

    Example:
        >>> from sottovoce.learn import SummedRidgeClassifier
        >>> rows, labels = [[0.0, 1.0], [1.0, 0.0]] * 10, ["no", "yes"] * 10
        >>> SummedRidgeClassifier(penalty=0.1).fit(rows, labels).predict([[1.0, 0.0]]).tolist()
        ['yes']
    """

    def __init__(
        self,
        penalty: float | None = 0.1,
        *,
        penalties: Sequence[float] = PENALTIES,
        folds: int = 5,
    ) -> None:
        self.penalty = penalty
        self.penalties = penalties
        self.folds = folds

    def _learned(self, rows: Floats, signs: Floats) -> LinearModel:
        everything = all_kept(rows.shape[1])
        self.penalty_ = self.penalty or self._chosen(rows, signs)
        return ridge_from_sums(local_sums(rows, signs, everything), self.penalty_)

    def _chosen(self, rows: Floats, signs: Floats) -> float:
        if len(rows) < 2 * self.folds:
            raise InputError(
                f"{self.folds} folds need at least {2 * self.folds} rows, got {len(rows)}; "
                "give a penalty or use fewer folds."
            )
        folds = np.arange(len(rows)) % self.folds
        everything = all_kept(rows.shape[1], folds=self.folds)
        sums = local_fold_sums(rows, signs, everything, folds, self.folds)
        return penalty_from_sums(sums, rows.shape[1], penalties=self.penalties).penalty
