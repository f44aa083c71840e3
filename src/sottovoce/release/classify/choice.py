"""The classifier of a release, chosen by what it loses on released documents that it never saw."""

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from sottovoce.privacy.noise_law import Rate
from sottovoce.release.classify.base import ReleasedDocumentsClassifier
from sottovoce.release.classify.bayes import PrivateNaiveBayes
from sottovoce.release.classify.inputs import ReleasedCounts, refuse_several_maps
from sottovoce.release.classify.logistic import PrivateLogistic

if TYPE_CHECKING:
    from sottovoce.release.counts import Matrix

# What fits released documents a little better need not fit true ones better: naive Bayes stays
# unless logistic regression loses at least 2% less.
CLEARLY = 0.98


def fit_released(
    release: ReleasedCounts, labels: ArrayLike, *, seed: int = 0
) -> ReleasedDocumentsClassifier:
    """The classifier of a release that loses least on released documents it does not know.

    Naive Bayes and logistic regression are compared; no true text is needed. The result's
    ``candidates_`` has the held-out loss of each, and ``chosen_`` its own name. Naive Bayes, the
    simplest, stays unless the other loses at least 2% less.

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
    fitted: dict[str, ReleasedDocumentsClassifier] = {
        "naive Bayes": PrivateNaiveBayes(rate, random_state=seed).fit(cells, labels),
        "logistic": PrivateLogistic(rate, random_state=seed).fit(cells, labels),
    }
    losses = {name: each.held_out_loss_ for name, each in fitted.items()}
    best = "logistic" if losses["logistic"] < CLEARLY * losses["naive Bayes"] else "naive Bayes"
    chosen = fitted[best]
    chosen.candidates_, chosen.chosen_ = losses, best
    return chosen
