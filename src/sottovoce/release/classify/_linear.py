"""Linear scores of a document, true or released, and what they lose on documents held out."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from sottovoce.arrays import Floats, Integers
from sottovoce.release.classify.expected import ExpectedCells
from sottovoce.release.classify.features import Feature, with_values
from sottovoce.release.counts import Counts

HOTTEST = 4.0


@dataclass(frozen=True, eq=False)
class LinearReader:
    """A score for each class: intercept + weights . f(c), or f(c)'s expectation where c is hidden.

    Attributes:
        feature: f, which is summed.
        weights: words x classes.
        intercepts: of each class.
        expected: E[f(c) | z].
    """

    feature: Feature
    weights: Floats
    intercepts: Floats
    expected: ExpectedCells

    def scores(self, counts: Counts) -> Floats:
        """Of true documents."""
        return np.asarray(with_values(counts, self.feature) @ self.weights + self.intercepts)

    def released_scores(self, cells: Counts) -> Floats:
        """Of released documents."""
        return self.expected.scores(cells, self.weights, self.intercepts)


@dataclass(frozen=True)
class Calibration:
    """A factor for scores, and the mean logarithmic loss that they then have."""

    temperature: float
    loss: float


def calibration(scores: Floats, intercepts: Floats, codes: Integers) -> Calibration:
    """The factor of ``scores`` with the least loss; independence makes sums of words too sure."""
    found = optimize.minimize_scalar(
        lambda factor: log_loss(factor * scores + intercepts, codes),
        bounds=(0.0, HOTTEST),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return Calibration(float(found.x), float(found.fun))


def log_loss(scores: Floats, codes: Integers) -> float:
    """The mean of -ln of the probability that ``scores`` give to the right class."""
    return float(np.mean(special.logsumexp(scores, axis=1) - scores[np.arange(codes.size), codes]))
