"""What one peer trains on, and the summands that it works out of it by itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
from sottovoce.learn._rados.rados import RadoMaker, RadoMoments
from sottovoce.learn._ridge import Standard, local_fold_sums, local_sums
from sottovoce.learn._sums.keys import Identity
from sottovoce.learn._support import KeptFeatures, local_fold_support, local_support


@dataclass(frozen=True, repr=False)
class LocalData:
    """One peer's examples over the common dictionary; a feature it lacks is zero in every row.

    Private Text Classification, Protocol 2: X_p, y_p and the binary vector f_p.

    Attributes:
        rows: m by d, d being the size of the dictionary.
        signs: -1 or 1 per row.
        has: f_p, which features the peer has.
        identity: who the peer is.
    """

    rows: Floats
    signs: Floats
    has: NDArray[np.bool_]
    identity: Identity = field(default_factory=Identity)

    @classmethod
    def of(
        cls,
        rows: Rows,
        signs: ArrayLike,
        names: Sequence[str],
        dictionary: Sequence[str],
    ) -> "LocalData":
        """Lift a peer's own columns into the dictionary."""
        own = checked_rows(rows)
        if own.shape[1] != len(names):
            raise InputError(
                f"peers must agree on the features: {len(names)} are named, "
                f"got {own.shape[1]} columns."
            )
        places = feature_places(names, dictionary)
        if np.array_equal(places, np.arange(len(dictionary))):
            lifted = own
        else:
            lifted = np.zeros((len(own), len(dictionary)))
            lifted[:, places] = own
        has = np.zeros(len(dictionary), bool)
        has[places] = True
        return cls(lifted, checked_signs(signs, len(own)), has)

    def folds(self, number: int) -> NDArray[np.int64]:
        """Row i is in fold i modulo ``number``."""
        return np.arange(len(self.rows)) % number

    def support(self, folds: int) -> Floats:
        """How many documents use each feature, in each fold that will be opened."""
        if folds == 1:
            return local_support(self.rows)[None]
        return local_fold_support(self.rows, self.folds(folds), folds)

    def sums(self, kept: KeptFeatures) -> Floats:
        """The statistics of each fold that will be opened, one row a fold."""
        if kept.folds == 1:
            return local_sums(self.rows, self.signs, kept).to_vector()[None]
        folds = self.folds(kept.folds)
        return local_fold_sums(self.rows, self.signs, kept, folds, kept.folds)

    def moments(self, kept: KeptFeatures) -> Floats:
        """How many rows, and each feature's sum and sum of squares."""
        # Along the rows of a transposed copy numpy adds pairwise, which loses the fewest bits.
        x = np.ascontiguousarray(kept.applied(self.rows).T)
        return np.concatenate([[x.shape[1]], x.sum(axis=1), (x**2).sum(axis=1)])

    def rado_moments(self, standard: Standard, number: int) -> Floats:
        """The mean of ``number`` rados of standardised rows, and their covariance.

        Private Text Classification, Definition 5, with each peer's own mean in place of the global
        one: the rados of different peers are independent, so that means and covariances add up to
        those of a rado of all peers' rows. Divided by the root of all rows, and by their number, so
        that they stay small.
        """
        rados = RadoMaker(standard.applied(self.rows), self.signs).sampled(number)
        moments = RadoMoments.of(rados / np.sqrt(standard.count))
        upper = moments.covariance[np.triu_indices(moments.width)]
        return np.concatenate([moments.mean, upper])


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


def feature_places(names: Sequence[str], dictionary: Sequence[str]) -> NDArray[np.intp]:
    """Where a peer's features stand in the dictionary."""
    where = {name: at for at, name in enumerate(dictionary)}
    unknown = [name for name in names if name not in where]
    if unknown or len(set(names)) != len(names):
        raise InputError(
            f"peers must agree on the features: {len(unknown)} of {len(names)} are not in the "
            "common dictionary, or one is named twice."
        )
    return np.array([where[name] for name in names], np.intp)
