"""Logistic regression on what the released cells say of their counts.

Multinomial logistic regression with given intercepts, shrunk towards given weights.

In every class the Hessian of the mean loss is at most X'X/2n (Boehning 1992): with that bound as
the metric of accelerated descent no step is too long, and all penalties share the matrix.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, special

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import ParameterError
from sottovoce.privacy.noise_law import Rate
from sottovoce.release.classify.bayes import (
    ClassSums,
    PrivateNaiveBayes,
    all_but,
    bayes_reader,
    fold_sums,
)
from sottovoce.release.classify.features import BitFeature, Feature
from sottovoce.release.classify.inputs import (
    Labelled,
    LabelledRows,
    LinearReader,
    ReleasedCounts,
    ReleasedDocumentsClassifier,
    log_loss,
    refuse_several_maps,
)
from sottovoce.release.counts import Weights

if TYPE_CHECKING:
    from sottovoce.release.counts import Matrix

Narrow: TypeAlias = NDArray[np.float32]

STEPS = 100
TOLERANCE = 2e-3
ROWS_AT_ONCE = 4_096
# Where more cells are stored than this, a dense matrix is smaller and faster.
_FILLED = 0.2
_MOST_DENSE = 50_000_000


@dataclass(frozen=True, eq=False)
class SoftmaxFit:
    """Weights (words x classes) for one penalty."""

    penalty: float
    weights: Floats


class SoftmaxProblem:
    """Documents with their classes; solved for one penalty after the other.

    Args:
        features: documents x words, what each has above ``shift``.
        shift: of each word, in all documents.
        codes: the class of each document.
        intercepts: of each class; they stay.
    """

    def __init__(
        self, features: Weights, shift: Floats, codes: Integers, intercepts: Floats
    ) -> None:
        self._rows: Any = _handy(features)
        self._shift = shift.astype(np.float32)
        self._intercepts = intercepts.astype(np.float32)
        self._targets = np.eye(len(intercepts), dtype=np.float32)[codes]
        self._bound = _gram(features, self._shift) / 2

    def path(self, centre: Floats, penalties: Sequence[float]) -> Iterator[SoftmaxFit]:
        """Sum of losses + penalty/2 ||weights - centre||^2, minimised; largest penalty first."""
        start = weights = centre.astype(np.float32)
        for penalty in sorted(penalties, reverse=True):
            weights = self._solve(weights, start, penalty / len(self._targets))
            yield SoftmaxFit(penalty, weights.astype(np.float64))

    def _solve(self, weights: Narrow, centre: Narrow, penalty: float) -> Narrow:
        metric = self._metric(penalty)
        ahead, momentum = weights, 1.0
        for _ in range(STEPS):
            slope = self._gradient(ahead) + penalty * (ahead - centre)
            step: Narrow = linalg.cho_solve(metric, slope, check_finite=False)
            stepped = ahead - step
            moved = stepped - weights
            if float((slope * moved).sum()) > 0:  # the momentum leads uphill: begin it again
                momentum = 1.0
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = stepped + np.float32((momentum - 1) / grown) * moved
            weights, momentum = stepped, grown
            if np.abs(moved).max() <= TOLERANCE * np.abs(weights).max():
                break
        return weights

    def _metric(self, penalty: float) -> Any:  # noqa: ANN401 - scipy's pair of factor and side
        bound = self._bound.copy()
        bound[np.diag_indices_from(bound)] += penalty
        return linalg.cho_factor(bound, overwrite_a=True, check_finite=False)

    def _gradient(self, weights: Narrow) -> Narrow:
        scores = self._rows @ weights + (self._intercepts + self._shift @ weights)
        surplus = (special.softmax(scores, axis=1) - self._targets) / np.float32(len(scores))
        return np.asarray(self._rows.T @ surplus + np.outer(self._shift, surplus.sum(axis=0)))


def _handy(features: Weights) -> Any:  # noqa: ANN401 - sparse or dense, whichever is smaller
    narrow = features.astype(np.float32)
    size = features.shape[0] * features.shape[1]
    dense = features.nnz > _FILLED * size and size <= _MOST_DENSE
    return narrow.toarray() if dense else narrow


def _gram(features: Weights, shift: Narrow) -> Narrow:
    """X'X/n, a block of rows at a time."""
    rows, columns = features.shape
    total = np.zeros((columns, columns), np.float32)
    for start in range(0, rows, ROWS_AT_ONCE):
        block = features[start : start + ROWS_AT_ONCE].astype(np.float32).toarray() + shift
        total += block.T @ block
    return total / np.float32(rows)


# The precision of a weight: 10 lets a word's logarithmic ratio leave naive Bayes' by about 0.3.
PENALTIES = (100.0, 30.0, 10.0)
# Words of a document repeat one another, so that naive Bayes is about twice too sure.
TRUST = 0.5


class PrivateLogistic(ReleasedDocumentsClassifier):
    """Logistic regression on E[g(c) | z], shrunk towards naive Bayes.

    g(c) = (1 - alpha^c)/(1 - alpha) counts a word's first tokens in a document most. What a
    released cell says of it is its expectation under the noise's law; cells at most 0 all say the
    same. The weights are shrunk towards half of those of naive Bayes, which is too sure of itself;
    how far they may leave them is chosen by the loss of documents that are held out. The
    intercepts stay those of naive Bayes: fitted to expected features, which are closer to one
    another than true ones, they would be wrong for true documents.

    Args:
        rate: of the noise, nats per cell; or the release itself.
        penalties: candidates for the precision of a weight around that of naive Bayes; below 10
            what fits released documents no longer fits true ones.
        random_state: seed of the parts that are held out.

    Attributes:
        held_out_losses_: for each penalty, the mean of -ln P(right class) of released documents
            that were held out.
        held_out_loss_: the least of them.
        penalty_: the one that has it.

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> kinds = np.repeat(["debt", "sport"], 300)
    >>> counts = generator.poisson(np.where(kinds[:, None] == "debt", [2, 0.2], [0.2, 2]))
    >>> released = counts + generator.geometric(0.6, counts.shape)
    >>> released -= generator.geometric(0.6, counts.shape)
    >>> PrivateLogistic(rate=-np.log(0.4)).fit(released, kinds).predict([[3, 0], [0, 1]])
    array(['debt', 'sport'], dtype='<U5')
    """

    def __init__(
        self, rate: Rate = None, *, penalties: Sequence[float] = PENALTIES, random_state: int = 0
    ) -> None:
        self.rate = rate
        self.penalties = penalties
        self.random_state = random_state

    def _learn(self, data: LabelledRows) -> None:
        feature = BitFeature(self.law_)
        sums = fold_sums(data, feature)
        self.held_out_losses_ = losses = self._try_penalties(data, sums, feature)
        self.held_out_loss_ = min(losses.values())
        self.penalty_ = min(losses, key=lambda penalty: losses[penalty])
        warmer = [penalty for penalty in losses if penalty >= self.penalty_]
        bayes = bayes_reader(reduce(add, sums), self.law_, feature)
        self.reader_ = _readers(bayes, data.sample.documents, warmer)[-1]

    def _try_penalties(
        self, data: LabelledRows, sums: Sequence[ClassSums], feature: Feature
    ) -> dict[float, float]:
        """Each penalty's loss on documents that a fit on the others does not know."""
        penalties = _check_penalties(self.penalties)
        losses = []
        for fold in data.fold_numbers:
            bayes = bayes_reader(all_but(sums, fold), self.law_, feature)
            readers = _readers(bayes, data.sample.kept_in(fold), penalties)
            held = data.sample.held_out(fold)
            losses.append([log_loss(r.released_scores(held.cells), held.codes) for r in readers])
        return dict(zip(penalties, np.mean(losses, axis=0).tolist(), strict=True))


def _readers(bayes: LinearReader, data: Labelled, penalties: Sequence[float]) -> list[LinearReader]:
    """One for each penalty, from the largest on."""
    features, shift = bayes.expected.above_zero(data.cells), bayes.expected.at_zero
    problem = SoftmaxProblem(features, shift, data.codes, bayes.intercepts)
    centre = TRUST * (bayes.weights - bayes.weights.mean(axis=1, keepdims=True))
    return [replace(bayes, weights=fit.weights) for fit in problem.path(centre, penalties)]


def _check_penalties(penalties: Sequence[float]) -> list[float]:
    if not len(penalties) or not min(penalties) > 0:
        raise ParameterError("penalties must be one or more numbers > 0.")
    return sorted({float(penalty) for penalty in penalties}, reverse=True)


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
