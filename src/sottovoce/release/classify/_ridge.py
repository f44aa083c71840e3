"""Ridge regression with errors in variables, on released bits or counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import TypeAlias

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.release._stated_rate import Rate
from sottovoce.release.classify._base import ReleasedDocumentsClassifier
from sottovoce.release.classify._features import Feature, feature_of
from sottovoce.release.classify._inputs import CannotFitError, Labelled
from sottovoce.release.classify._linear import LinearReader
from sottovoce.release.classify._rows import LabelledRows
from sottovoce.release.classify._softmax import ROWS_AT_ONCE
from sottovoce.release.classify._sums import ClassSums, all_but, summed_by_fold

# In units of the noise's variance; -1 would take all of it out of the sums of squares.
PENALTIES = (-0.75, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0)
# Smaller eigenvalues than this part of their mean are taken for noise, not for meaning.
_LEAST = 1e-3

# Weights (words x classes) and intercepts.
Fit: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over documents of features x and of the classes' indicators y; parts add up."""

    documents: float
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats

    @classmethod
    def of(cls, data: Labelled, feature: Feature) -> "Sums":
        """From unbiased features, a block of rows at a time."""
        stored, shift = feature.released(data.cells)
        width = stored.shape[1]
        xx = np.zeros((width, width))
        for start in range(0, data.documents, ROWS_AT_ONCE):
            block = stored[start : start + ROWS_AT_ONCE].toarray() + shift
            xx += block.T @ block
        xy = sparse.csr_array(data.indicator @ stored).toarray().T + shift * data.sizes
        return cls(float(data.documents), xy.sum(axis=1), data.sizes, xx, xy)

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            self.documents + other.documents,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.xy + other.xy,
        )

    def __sub__(self, other: "Sums") -> "Sums":
        return Sums(
            self.documents - other.documents,
            self.x - other.x,
            self.y - other.y,
            self.xx - other.xx,
            self.xy - other.xy,
        )

    def solved(self, penalties: Sequence[float]) -> "list[Fit | None]":
        """(weights, intercepts) for each penalty; None where it would turn noise into meaning."""
        mean, share = self.x / self.documents, self.y / self.documents
        spread = self.xx / self.documents - np.outer(mean, mean)
        values, vectors = np.linalg.eigh(spread)
        turned = vectors.T @ (self.xy / self.documents - np.outer(mean, share))
        fits: list[Fit | None] = []
        for penalty in penalties:
            if values[0] + penalty <= _LEAST * values.mean():
                fits.append(None)
                continue
            weights = vectors @ (turned / (values + penalty)[:, None])
            fits.append((weights, share - mean @ weights))
        return fits

    def loss(self, weights: Floats, intercepts: Floats, variance: float) -> float:
        """The squared loss that the weights would have without noise in the features.

        Noise of variance v in each feature adds v ||weights||^2 to the released loss: errors in
        variables. Each document's indicator has the square 1.
        """
        squares = (
            self.documents
            + float(np.sum(weights * (self.xx @ weights)))
            + self.documents * float(intercepts @ intercepts)
            - 2 * float(np.sum(weights * self.xy))
            - 2 * float(intercepts @ self.y)
            + 2 * float(intercepts @ (self.x @ weights))
        )
        return squares / self.documents - variance * float(np.sum(weights**2))


@dataclass(frozen=True, eq=False)
class _FoldSums:
    """All that is asked of a fold's documents, so that they are read once."""

    squares: Sums
    classes: ClassSums

    @classmethod
    def of(cls, data: Labelled, feature: Feature) -> "_FoldSums":
        return cls(Sums.of(data, feature), ClassSums.of(data, feature))

    def __add__(self, other: "_FoldSums") -> "_FoldSums":
        return _FoldSums(self.squares + other.squares, self.classes + other.classes)


class PrivateRidge(ReleasedDocumentsClassifier):
    """Ridge regression of the classes on released features, with errors in variables.

    The released loss of documents held out, less what the noise adds to it (its variance times
    the squared length of the weights), estimates the loss on true text without bias, and chooses
    the penalty.

    Args:
        rate: of the noise, nats per cell; or the release itself.
        features: "bits" (whether a cell is positive) or "counts".
        penalties: candidates, in units of the features' noise; above -1.
        random_state: seed of the parts that are held out.

    Attributes:
        true_losses_: the estimated squared loss on true text, of each penalty.
        penalty_: the one with the least.

    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> kinds = np.repeat(["debt", "sport"], 300)
    >>> counts = generator.poisson(np.where(kinds[:, None] == "debt", [2, 0.2], [0.2, 2]))
    >>> released = counts + generator.geometric(0.6, counts.shape)
    >>> released -= generator.geometric(0.6, counts.shape)
    >>> PrivateRidge(rate=-np.log(0.4)).fit(released, kinds).predict([[3, 0], [0, 1]])
    array(['debt', 'sport'], dtype='<U5')
    """

    def __init__(
        self,
        rate: Rate = None,
        *,
        features: str = "bits",
        penalties: Sequence[float] = PENALTIES,
        random_state: int = 0,
    ) -> None:
        self.rate = rate
        self.features = features
        self.penalties = penalties
        self.random_state = random_state

    def _learn(self, data: LabelledRows) -> None:
        feature = feature_of(self.features, self.law_)
        penalties = _checked(self.penalties)
        scaled = [penalty * feature.variance for penalty in penalties]
        folds = summed_by_fold(data, partial(_FoldSums.of, feature=feature))
        sums, classes = [each.squares for each in folds], [each.classes for each in folds]
        total = reduce(add, sums)
        tried = [(total - part).solved(scaled) for part in sums]
        losses = [_true_loss(sums, fits, feature) for fits in zip(*tried, strict=True)]
        best = int(np.argmin(losses))
        self.true_losses_ = dict(zip(penalties, losses, strict=True))
        self.penalty_ = penalties[best]
        readers = [
            self._reader(all_but(classes, fold), fits[best:], feature)
            for fold, fits in enumerate(tried)
        ]
        held = [reader.calibrated(data.sample.held(fold)) for fold, reader in enumerate(readers)]
        self.held_out_loss_ = float(np.mean([each.loss for each in held]))
        self.reader_ = self._reader(reduce(add, classes), total.solved(scaled[best:]), feature)

    def _reader(
        self, sums: ClassSums, fits: Sequence[Fit | None], feature: Feature
    ) -> LinearReader:
        """With the first fit that there is."""
        fit = next((fit for fit in fits if fit is not None), None)
        if fit is None:
            more = "add one >= 0" if max(self.penalties) < 0 else "add a larger one"
            raise CannotFitError(
                f"penalties are all so small that they would turn noise into meaning; {more}."
            )
        return LinearReader(feature, *fit, sums.expected_cells(self.law_, feature))


def _true_loss(sums: Sequence[Sums], fits: Sequence[Fit | None], feature: Feature) -> float:
    """Of one penalty, over the parts that its fits do not know."""
    if any(fit is None for fit in fits):
        return np.inf
    each = [part.loss(*fit, feature.variance) for part, fit in zip(sums, fits, strict=True) if fit]
    return float(np.mean(each))


def _checked(penalties: Sequence[float]) -> list[float]:
    if not len(penalties) or not min(penalties) > -1:
        raise ParameterError("penalties must be one or more numbers > -1, in units of the noise.")
    return sorted({float(penalty) for penalty in penalties})
