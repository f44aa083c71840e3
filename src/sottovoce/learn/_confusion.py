"""How well a classifier does, from counts that secure sums can carry."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sottovoce._arrays import Floats
from sottovoce._notebook import html_facts
from sottovoce.errors import InputError
from sottovoce.learn._examples import checked_signs


@dataclass(frozen=True)
class ConfusionCounts:
    """Counts over all peers' rows."""

    true_positive: float
    false_positive: float
    false_negative: float
    true_negative: float

    @property
    def count(self) -> float:
        """All rows."""
        wrong = self.false_positive + self.false_negative
        return self.true_positive + self.true_negative + wrong

    @property
    def misclassification(self) -> float:
        """The share of rows with the wrong label."""
        return (self.false_positive + self.false_negative) / self.count

    @property
    def precision(self) -> float:
        """The share of rows called 1 that are 1; 0 if none is called so."""
        called = self.true_positive + self.false_positive
        return self.true_positive / called if called else 0.0

    @property
    def recall(self) -> float:
        """The share of rows that are 1 and are called so; 0 if none is."""
        positive = self.true_positive + self.false_negative
        return self.true_positive / positive if positive else 0.0

    def _repr_html_(self) -> str:
        return html_facts(
            {
                "rows": int(self.count),
                "misclassified": self.misclassification,
                "precision": self.precision,
                "recall": self.recall,
            }
        )


def local_counts(predicted: ArrayLike, labels: ArrayLike) -> Floats:
    """One peer's summand: its rows by called and true label."""
    truth = np.asarray(labels)
    called = checked_signs(predicted, truth.size)
    known = checked_signs(truth, truth.size)
    pairs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    return np.array([np.sum((called == c) & (known == t)) for c, t in pairs], np.float64)


def evaluation_from_sums(summed: ArrayLike) -> ConfusionCounts:
    """What the sum of `local_counts` over the peers says."""
    counts = np.asarray(summed, np.float64)
    if counts.shape != (4,) or counts.sum() <= 0:
        raise InputError("an evaluation takes the four counts of at least one row.")
    return ConfusionCounts(*counts.tolist())
