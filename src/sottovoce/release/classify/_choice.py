"""The classifier of a release, chosen by what it loses on released documents that it never saw."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.errors import ParameterError
from sottovoce.release._stated_rate import Rate
from sottovoce.release.classify._base import ReleasedDocumentsClassifier
from sottovoce.release.classify._bayes import PrivateNaiveBayes
from sottovoce.release.classify._inputs import CannotFitError, ReleasedCounts, refuse_several_maps
from sottovoce.release.classify._logistic import PrivateLogistic
from sottovoce.release.classify._ridge import PrivateRidge

if TYPE_CHECKING:
    from sottovoce.release._counts import Matrix

Maker = Callable[[Rate, int], ReleasedDocumentsClassifier]


def _bayes(rate: Rate, seed: int) -> ReleasedDocumentsClassifier:
    return PrivateNaiveBayes(rate, random_state=seed)


def _logistic(rate: Rate, seed: int) -> ReleasedDocumentsClassifier:
    return PrivateLogistic(rate, random_state=seed)


def _ridge(rate: Rate, seed: int) -> ReleasedDocumentsClassifier:
    return PrivateRidge(rate, random_state=seed)


CANDIDATES: dict[str, Maker] = {
    "naive Bayes": _bayes,
    "logistic": _logistic,
    "ridge": _ridge,
}
# What fits released documents a little better need not fit true ones better: naive Bayes stays
# unless another loses at least 2% less.
SIMPLEST = "naive Bayes"
CLEARLY = 0.98


def fit_released(
    release: ReleasedCounts, labels: ArrayLike, *, seed: int = 0
) -> ReleasedDocumentsClassifier:
    """The classifier of a release that loses least on released documents it does not know.

    Naive Bayes, logistic regression and ridge are compared; no true text is needed. The result's
    ``candidates_`` has the held-out loss of each, ``chosen_`` its own name, and ``left_out_`` says
    which could not be fitted, and why. Naive Bayes, the simplest, stays unless another loses at
    least 2% less.

    Documents are read block by block: beside their labels, memory does not grow with them. Sums
    are those of all; logistic regression, which has none, and the losses are those of documents
    drawn by chance where there are more than about 20 million cells.

    Args:
        release: as `sottovoce.load_release` gives it. Of a compressed one the classifier reads
            columns: give it documents as ``release.map`` sums them.
        labels: the class of each document, in their order.
        seed: of the parts that are held out.
    """
    refuse_several_maps(release)
    return chosen_classifier(release, labels, release.law.rate, seed=seed)


def chosen_classifier(
    cells: "Matrix | ReleasedCounts", labels: ArrayLike, rate: Rate, *, seed: int = 0
) -> ReleasedDocumentsClassifier:
    """As `fit_released`, from released cells and the rate of their noise."""
    fitted, left_out = _fitted(cells, labels, rate, seed)
    losses = {name: each.held_out_loss_ for name, each in fitted.items()}
    least = min(losses, key=lambda name: losses[name])
    simplest = losses.get(SIMPLEST, math.inf)
    best = least if losses[least] < CLEARLY * simplest else SIMPLEST
    chosen = fitted[best]
    chosen.candidates_, chosen.chosen_, chosen.left_out_ = losses, best, left_out
    return chosen


def _fitted(
    cells: "Matrix | ReleasedCounts", labels: ArrayLike, rate: Rate, seed: int
) -> tuple[dict[str, ReleasedDocumentsClassifier], dict[str, str]]:
    """The candidates that can be fitted, and why the others cannot."""
    fitted: dict[str, ReleasedDocumentsClassifier] = {}
    left_out: dict[str, str] = {}
    for name, make in CANDIDATES.items():
        try:
            tried = make(rate, seed).fit(cells, labels)
        except CannotFitError as error:
            left_out[name] = str(error)
        except np.linalg.LinAlgError:
            left_out[name] = "its equations have no solution."
        else:
            fitted[name] = tried
    if not fitted:
        told = "; ".join(f"{name}: {why.rstrip('.')}" for name, why in left_out.items())
        raise ParameterError(f"no classifier can be fitted to these documents ({told}).")
    return fitted, left_out
