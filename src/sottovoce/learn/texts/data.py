"""Rows of which several are of one document: documents are counted, not rows."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.examples import Floats
from sottovoce.learn.protocols.local import LocalData


@dataclass(frozen=True, repr=False)
class SentenceData(LocalData):
    """One peer's rows with the document that each is of.

    A word of five sentences of one document shows that document, so that support is counted in
    documents; and sentences of a document are in one fold, or a fold's error would be too small.
    """

    documents: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    def folds(self, number: int) -> NDArray[np.int64]:
        """Document i is in fold i modulo ``number``."""
        return self.documents % number

    def support(self, folds: int) -> Floats:
        """As `local_support`, by document, in each fold that will be opened.

        Documents that use a feature; these and those of which some row lacks it, so that their
        difference finds a feature which all but a few rows have; whether any uses it; whether it
        counts.
        """
        if folds == 1:
            return self._support(np.ones(len(self.rows), bool))[None]
        fold = self.folds(folds)
        return np.array([self._support(fold == k) for k in range(folds)])

    def _support(self, chosen: NDArray[np.bool_]) -> Floats:
        rows, documents = self.rows[chosen], self.documents[chosen]
        width = self.rows.shape[1]
        if not len(rows):
            return np.zeros(4 * width)
        numbers, places = np.unique(documents, return_inverse=True)
        used, lacking = np.zeros((len(numbers), width)), np.zeros((len(numbers), width))
        np.maximum.at(used, places, rows != 0)
        np.maximum.at(lacking, places, rows == 0)
        uses = used.sum(axis=0)
        other = ((rows != 0) & (rows != 1)).any(axis=0)
        return np.concatenate([uses, uses + lacking.sum(axis=0), uses > 0, other])
