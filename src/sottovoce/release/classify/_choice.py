"""The classifier of a release, chosen by what it loses on released documents that it never saw."""

from collections.abc import Callable, Sequence
from typing import Protocol

from numpy.typing import ArrayLike

from sottovoce.errors import ParameterError
from sottovoce.privacy._noise_law import NoiseLaw
from sottovoce.release._counts import Counts, Matrix
from sottovoce.release.classify._base import ReleasedDocumentsClassifier
from sottovoce.release.classify._bayes import PrivateNaiveBayes
from sottovoce.release.classify._inputs import Rate
from sottovoce.release.classify._logistic import PrivateLogistic
from sottovoce.release.classify._ridge import PrivateRidge

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


class ReleasedCounts(Protocol):
    """A release, as far as a classifier reads it."""

    @property
    def counts(self) -> Counts:
        """Documents by columns, the noise included."""

    @property
    def law(self) -> NoiseLaw:
        """Of every cell's noise."""

    @property
    def maps(self) -> Sequence[object]:
        """Which column each word was summed into; document i took map i modulo their number."""


def fit_released(
    release: ReleasedCounts, labels: ArrayLike, *, seed: int = 0
) -> ReleasedDocumentsClassifier:
    """The classifier of a release that loses least on released documents it does not know.

    Naive Bayes, logistic regression and ridge are compared; no true text is needed. The result's
    ``candidates_`` has the held-out loss of each, ``chosen_`` its own name. Naive Bayes, the
    simplest, stays unless another loses at least 2% less.

    Args:
        release: as `sottovoce.load_release` gives it. Of a compressed one the classifier reads
            columns: give it documents as ``release.map`` sums them.
        labels: the class of each document, in their order.
        seed: of the parts that are held out.
    """
    if len(release.maps) > 1:
        raise ParameterError(
            f"this release uses {len(release.maps)} maps, so that one column means different "
            "words in different documents; a classifier needs a release with one map."
        )
    return chosen_classifier(release.counts, labels, release.law.rate, seed=seed)


def chosen_classifier(
    cells: Matrix, labels: ArrayLike, rate: Rate, *, seed: int = 0
) -> ReleasedDocumentsClassifier:
    """As `fit_released`, from released cells and the rate of their noise."""
    fitted = {name: make(rate, seed).fit(cells, labels) for name, make in CANDIDATES.items()}
    losses = {name: each.held_out_loss_ for name, each in fitted.items()}
    least = min(losses, key=lambda name: losses[name])
    best = least if losses[least] < CLEARLY * losses[SIMPLEST] else SIMPLEST
    fitted[best].candidates_, fitted[best].chosen_ = losses, best
    return fitted[best]
