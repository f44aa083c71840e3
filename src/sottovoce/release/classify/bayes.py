"""Naive Bayes from the sums of released documents, shrunk by the variance that their noise has."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy import sparse, special

from sottovoce.arrays import Floats
from sottovoce.parsing import check_choice
from sottovoce.privacy.noise_law import NoiseLaw, Rate
from sottovoce.release.classify.features import (
    LARGEST_CELL,
    CellLikelihoods,
    ExpectedCells,
    Feature,
    feature_of,
)
from sottovoce.release.classify.inputs import (
    Labelled,
    LabelledRows,
    LinearReader,
    ReleasedDocumentsClassifier,
    calibration,
)
from sottovoce.release.counts import Counts

RATIOS = np.exp(np.linspace(-3.5, 3.0, 40))
ROUNDS = 30
_LEAST = 1e-12


def positive_means(means: Floats, variance: float) -> Floats:
    """E[m | its noisy mean], for m > 0 with an exponential prior of the words' mean.

    With noise N(0, s^2) the posterior is N(mean - s^2/m0, s^2) cut to m > 0, m0 the mean over all
    words; its mean is location + s phi(t)/Phi(t), t = location/s.
    """
    deviation = math.sqrt(variance)
    # The mean over words has noise too; where it is lost in that, it is at most about this.
    typical = max(float(means.mean()), deviation / math.sqrt(means.size))
    location = means - variance / typical
    standard = location / deviation
    logs = -0.5 * standard**2 - 0.5 * math.log(2 * math.pi) - special.log_ndtr(standard)
    return np.maximum(location + deviation * np.exp(logs), _LEAST)


def shrunk_ratios(means: Floats, variances: Floats, base: Floats) -> Floats:
    """E[m_kw / m_w | the noisy class means], the ratios' prior learnt from all cells by EM.

    Args:
        means: classes x words, each with noise N(0, variance).
        variances: of each of them.
        base: m_w, of each word over all documents.
    """
    weights = base**2 / variances
    weights /= weights.sum()
    likelihoods = _likelihoods(means, variances, base)
    prior = np.full(RATIOS.size, 1 / RATIOS.size)
    for _ in range(ROUNDS):
        prior = np.einsum("kw,kwg->g", weights, _posterior(likelihoods, prior))
    return np.asarray(_posterior(likelihoods, prior) @ RATIOS)


def _likelihoods(means: Floats, variances: Floats, base: Floats) -> Floats:
    away = means[:, :, None] - RATIOS * base[:, None]
    logs = -0.5 * away**2 / variances[:, :, None]
    return np.asarray(np.exp(logs - logs.max(axis=-1, keepdims=True)))


def _posterior(likelihoods: Floats, prior: Floats) -> Floats:
    joint = likelihoods * prior
    return np.asarray(joint / joint.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Of some documents; those of others can be added.

    Attributes:
        sizes: documents of each class.
        features: unbiased sums of a feature, classes x words.
        totals: of the cells, word by word.
        largest: the largest cell.
    """

    sizes: Floats
    features: Floats
    totals: Floats
    largest: int

    @classmethod
    def sum_documents(cls, data: Labelled, feature: Feature) -> "ClassSums":
        """Those of documents in memory."""
        largest = int(data.cells.data.max(initial=1))
        totals = np.asarray(data.cells.sum(axis=0), np.float64)
        return cls(data.sizes, class_sums(data, feature), totals, min(largest, LARGEST_CELL))

    def __add__(self, other: "ClassSums") -> "ClassSums":
        return ClassSums(
            self.sizes + other.sizes,
            self.features + other.features,
            self.totals + other.totals,
            max(self.largest, other.largest),
        )

    def mean_counts(self, law: NoiseLaw) -> Floats:
        """Of each word, shrunk so that none is negative."""
        return mean_counts(self.totals, float(self.sizes.sum()), law)

    def expected_cells(self, law: NoiseLaw, feature: Feature) -> ExpectedCells:
        """What cells of these documents say of a feature."""
        return ExpectedCells.tabulate(law, self.mean_counts(law), feature, self.largest)


def mean_counts(totals: Floats, documents: float, law: NoiseLaw) -> Floats:
    """Of each word in a document, from the totals of its cells, shrunk so that none is negative."""
    return positive_means(totals / documents, law.variance / documents)


def class_sums(data: Labelled, feature: Feature) -> Floats:
    """Unbiased sums of the feature, classes x words."""
    stored, shift = feature.estimate(data.cells)
    sums = sparse.csr_array(data.indicator @ stored).toarray()
    return np.asarray(sums + shift * data.sizes[:, None])


def fold_sums(data: LabelledRows, feature: Feature) -> list[ClassSums]:
    """Those of each fold, added up block by block."""
    found: dict[int, ClassSums] = {}
    for fold, documents in data.parts():
        sums = ClassSums.sum_documents(documents, feature)
        found[fold] = found[fold] + sums if fold in found else sums
    return [found[fold] for fold in data.fold_numbers]


def all_but(sums: Sequence[ClassSums], fold: int) -> ClassSums:
    """Those of the other folds together."""
    return reduce(add, [own for place, own in enumerate(sums) if place != fold])


AUTOMATIC = "auto"
CHOICES = (AUTOMATIC, "bits", "bursts", "counts")
# Below this rate the chance that a word is there says more than its count: it has less noise.
COUNTS_FROM = 2.0
# What documents add to the noise: the variance of a word's feature, in units of its mean.
SPREAD = 1.5


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """How often each word stands in a document, and how much more often in each class.

    Attributes:
        base: m_w, over all documents.
        ratios: m_kw / m_w, classes x words.
        shares: of documents in each class.
    """

    base: Floats
    ratios: Floats
    shares: Floats

    @classmethod
    def from_class_sums(cls, sums: ClassSums, feature: Feature) -> "ClassMeans":
        """From the sums of released documents."""
        return cls.from_sums(sums.features, sums.sizes, feature)

    @classmethod
    def from_sums(cls, sums: Floats, documents: Floats, feature: Feature) -> "ClassMeans":
        """From unbiased sums per class, which blocks of documents may be added up to.

        The class means have variance v/n_k + 1.5 m_w/n_k.
        """
        total = documents.sum()
        base = positive_means(sums.sum(axis=0) / total, feature.variance / total)
        sizes = np.maximum(documents, 1)[:, None]
        ratios = shrunk_ratios(sums / sizes, (feature.variance + SPREAD * base) / sizes, base)
        # As if one document more of each class had been seen: none is impossible.
        return cls(base, ratios, (documents + 1) / (total + documents.size))

    @property
    def weights(self) -> Floats:
        """Words x classes: the logarithms of the words' shares in each class."""
        means = self.base * self.ratios
        return np.asarray(np.log(means / means.sum(axis=1, keepdims=True)).T)

    def reader(self, sums: ClassSums, law: NoiseLaw, feature: Feature) -> LinearReader:
        """Multinomial naive Bayes on the feature."""
        expected = sums.expected_cells(law, feature)
        return LinearReader(feature, self.weights, np.log(self.shares), expected)

    def likelihoods(self, sums: ClassSums, law: NoiseLaw) -> CellLikelihoods:
        """Of released cells: counts have the words' means, times the ratio of the class."""
        return CellLikelihoods.tabulate(law, sums.mean_counts(law) * self.ratios, sums.largest)


def _held_out(known: ClassSums, held: Labelled, law: NoiseLaw, feature: Feature) -> float:
    """The loss of released documents by the likelihood of their cells, made cool enough."""
    means = ClassMeans.from_class_sums(known, feature)
    scores = means.likelihoods(known, law).scores(held.cells)
    return calibration(scores, np.log(means.shares), held.codes).loss


def bayes_reader(sums: ClassSums, law: NoiseLaw, feature: Feature) -> LinearReader:
    """Multinomial naive Bayes on the feature, learnt from released documents."""
    return ClassMeans.from_class_sums(sums, feature).reader(sums, law, feature)


class PrivateNaiveBayes(ReleasedDocumentsClassifier):
    """Naive Bayes learnt from a release: sums per class need no document to be readable.

    A sum over a class is unbiased and its noise known, so that each word's ratio between class
    and all documents is shrunk as far as that noise asks for, with the ratios' own prior learnt
    from all words (empirical Bayes). Released documents are told by the likelihood of their cells.

    Args:
        rate: of the noise, nats per cell; or the release itself.
        features: "bits" (whether a cell is positive), "bursts" (how likely the word is there at
            all), "counts", or "auto": bursts below rate 2, else counts.
        random_state: seed of the parts that are held out.

    Attributes:
        held_out_loss_: the mean of -ln P(right class) of released documents that were held out.

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> kinds = np.repeat(["debt", "sport"], 300)
    >>> counts = generator.poisson(np.where(kinds[:, None] == "debt", [2, 0.2], [0.2, 2]))
    >>> released = counts + generator.geometric(0.6, counts.shape)
    >>> released -= generator.geometric(0.6, counts.shape)
    >>> PrivateNaiveBayes(rate=-np.log(0.4)).fit(released, kinds).predict([[3, 0], [0, 1]])
    array(['debt', 'sport'], dtype='<U5')
    """

    def __init__(
        self, rate: Rate = None, *, features: str = AUTOMATIC, random_state: int = 0
    ) -> None:
        self.rate = rate
        self.features = features
        self.random_state = random_state

    def _learn(self, data: LabelledRows) -> None:
        feature = self._feature()
        sums = fold_sums(data, feature)
        losses = [
            _held_out(all_but(sums, fold), data.sample.held_out(fold), self.law_, feature)
            for fold in data.fold_numbers
        ]
        self.held_out_loss_ = float(np.mean(losses))
        total = reduce(add, sums)
        means = ClassMeans.from_class_sums(total, feature)
        self.reader_ = means.reader(total, self.law_, feature)
        self.cells_ = means.likelihoods(total, self.law_)

    def _released_scores(self, cells: Counts) -> Floats:
        return self.cells_.scores(cells) + self.reader_.intercepts

    def _feature(self) -> Feature:
        check_choice("features", self.features, CHOICES)
        kind = "bursts" if self.law_.rate < COUNTS_FROM else "counts"
        return feature_of(kind if self.features == AUTOMATIC else self.features, self.law_)
