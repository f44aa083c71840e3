"""Honest baselines: what anybody would do with a release, all columns clipped at zero.

Naive Bayes, ridge and logistic regression on max(z, 0), each with its strength tuned inside the
training documents, by the accuracy on released ones that are held out there.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import MultinomialNB

from sottovoce.arrays import Floats, Integers
from sottovoce.release.classify.features import positive
from sottovoce.release.classify.inputs import Labelled
from sottovoce.release.classify.logistic import SoftmaxProblem
from sottovoce.release.counts import Counts

# A column of this value lets the intercept be learnt almost without a price.
_CONSTANT = 10.0

Scores = Callable[[Counts], Floats]
Strengths = Sequence[float]


def naive_bayes(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Multinomial, with each of these numbers of tokens added to every word."""
    clipped = positive(data.cells)
    fits = [MultinomialNB(alpha=strength).fit(clipped, data.codes) for strength in strengths]
    return [fit.predict_joint_log_proba for fit in fits]


def ridge(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Least squares on the classes' indicators, with each of these penalties."""
    rows, indicators = positive(data.cells).toarray(), np.eye(data.classes)[data.codes]
    fits = [Ridge(strength * data.documents).fit(rows, indicators) for strength in strengths]
    return [fit.predict for fit in fits]


def logistic(data: Labelled, strengths: Strengths) -> list[Scores]:
    """Multinomial logistic regression with each of these penalties, intercepts learnt."""
    rows = positive(data.cells).astype(np.float64)
    constant = sparse.csr_array(np.full((rows.shape[0], 1), _CONSTANT))
    features = sparse.csr_array(sparse.hstack([rows, constant], format="csr"))
    width = features.shape[1]
    problem = SoftmaxProblem(features, np.zeros(width), data.codes, np.zeros(data.classes))
    fits = problem.path(np.zeros((width, data.classes)), strengths)
    return [_linear(fit.weights[:-1], _CONSTANT * fit.weights[-1]) for fit in fits]


def _linear(weights: Floats, intercepts: Floats) -> Scores:
    return lambda counts: np.asarray(counts @ weights + intercepts)


BASELINES: dict[str, tuple[Callable[[Labelled, Strengths], list[Scores]], Strengths]] = {
    "clipped naive Bayes": (naive_bayes, (100.0, 10.0, 1.0, 0.1, 0.01)),
    "clipped ridge": (ridge, (1000.0, 100.0, 10.0, 1.0, 0.1)),
    "clipped logistic": (logistic, (300.0, 30.0, 3.0)),
}


def tune_strength(name: str, data: Labelled, seed: int) -> float:
    """The strength with the best accuracy on released documents held out of ``data``."""
    fit, strengths = BASELINES[name]
    known, held = next(iter(data.parts(seed)))
    clipped = positive(held.cells)
    scores = [accuracy(each(clipped), held.codes) for each in fit(known, strengths)]
    return strengths[int(np.argmax(scores))]


def fit_baseline(name: str, data: Labelled, strength: float) -> Scores:
    """That baseline, learnt from all of ``data``."""
    return BASELINES[name][0](data, (strength,))[0]


def accuracy(scores: Floats, codes: Integers) -> float:
    """The share of documents whose class has the highest score."""
    return float(np.mean(scores.argmax(axis=1) == codes))
