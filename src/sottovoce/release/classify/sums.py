"""Sums over released documents, class by class, which is all that naive Bayes asks of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.classify._rows import LabelledRows
from sottovoce.release.classify._shrink import positive_means
from sottovoce.release.classify.expected import LARGEST_CELL, ExpectedCells
from sottovoce.release.classify.features import Feature
from sottovoce.release.classify.inputs import Labelled


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
    def of(cls, data: Labelled, feature: Feature) -> "ClassSums":
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
        return ExpectedCells.of(law, self.mean_counts(law), feature, self.largest)


def mean_counts(totals: Floats, documents: float, law: NoiseLaw) -> Floats:
    """Of each word in a document, from the totals of its cells, shrunk so that none is negative."""
    return positive_means(totals / documents, law.variance / documents)


def class_sums(data: Labelled, feature: Feature) -> Floats:
    """Unbiased sums of the feature, classes x words."""
    stored, shift = feature.released(data.cells)
    sums = sparse.csr_array(data.indicator @ stored).toarray()
    return np.asarray(sums + shift * data.sizes[:, None])


def fold_sums(data: LabelledRows, feature: Feature) -> list[ClassSums]:
    """Those of each fold, added up block by block."""
    found: dict[int, ClassSums] = {}
    for fold, documents in data.parts():
        sums = ClassSums.of(documents, feature)
        found[fold] = found[fold] + sums if fold in found else sums
    return [found[fold] for fold in data.fold_numbers]


def all_but(sums: Sequence[ClassSums], fold: int) -> ClassSums:
    """Those of the other folds together."""
    return reduce(add, [own for place, own in enumerate(sums) if place != fold])
