"""Logistic regression on what the released cells say of their counts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from sottovoce.errors import ParameterError
from sottovoce.release._stated_rate import Rate
from sottovoce.release.classify._linear import LinearReader, log_loss
from sottovoce.release.classify._rows import LabelledRows
from sottovoce.release.classify.base import ReleasedDocumentsClassifier
from sottovoce.release.classify.bayes import bayes_reader
from sottovoce.release.classify.features import BitFeature, Feature
from sottovoce.release.classify.inputs import Labelled
from sottovoce.release.classify.softmax import SoftmaxProblem
from sottovoce.release.classify.sums import ClassSums, all_but, fold_sums

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
        self,
        rate: Rate = None,
        *,
        penalties: Sequence[float] = PENALTIES,
        random_state: int = 0,
    ) -> None:
        self.rate = rate
        self.penalties = penalties
        self.random_state = random_state

    def _learn(self, data: LabelledRows) -> None:
        feature = BitFeature(self.law_)
        sums = fold_sums(data, feature)
        self.held_out_losses_ = losses = self._tried(data, sums, feature)
        self.held_out_loss_ = min(losses.values())
        self.penalty_ = min(losses, key=lambda penalty: losses[penalty])
        warmer = [penalty for penalty in losses if penalty >= self.penalty_]
        bayes = bayes_reader(reduce(add, sums), self.law_, feature)
        self.reader_ = _readers(bayes, data.sample.documents, warmer)[-1]

    def _tried(
        self, data: LabelledRows, sums: Sequence[ClassSums], feature: Feature
    ) -> dict[float, float]:
        """Each penalty's loss on documents that a fit on the others does not know."""
        penalties = _checked(self.penalties)
        losses = []
        for fold in data.fold_numbers:
            bayes = bayes_reader(all_but(sums, fold), self.law_, feature)
            readers = _readers(bayes, data.sample.known(fold), penalties)
            held = data.sample.held(fold)
            losses.append([log_loss(r.released_scores(held.cells), held.codes) for r in readers])
        return dict(zip(penalties, np.mean(losses, axis=0).tolist(), strict=True))


def _readers(bayes: LinearReader, data: Labelled, penalties: Sequence[float]) -> list[LinearReader]:
    """One for each penalty, from the largest on."""
    features, shift = bayes.expected.above_zero(data.cells), bayes.expected.at_zero
    problem = SoftmaxProblem(features, shift, data.codes, bayes.intercepts)
    centre = TRUST * (bayes.weights - bayes.weights.mean(axis=1, keepdims=True))
    return [replace(bayes, weights=fit.weights) for fit in problem.path(centre, penalties)]


def _checked(penalties: Sequence[float]) -> list[float]:
    if not len(penalties) or not min(penalties) > 0:
        raise ParameterError("penalties must be one or more numbers > 0.")
    return sorted({float(penalty) for penalty in penalties}, reverse=True)
