"""Which features may be opened: those that enough documents at enough peers use.

A word that one document uses makes its row of X'X that document. So before any aggregate is
opened, peers add up how many documents use each feature, and rare features are merged or dropped.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce._arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn._examples import LeakError, Rows, checked_rows

FEWEST_DOCUMENTS = 5
FEWEST_PEERS = 2
RareFeatures: TypeAlias = Literal["drop", "merge"]
_PARTS = 4


def local_support(rows: Rows) -> Floats:
    """One peer's summand: per feature its documents, whether it has any, whether it counts.

    Four numbers a feature, in this order: documents that use it; documents; 1 if any uses it; 1
    if some value is neither 0 nor 1.
    """
    matrix = checked_rows(rows)
    used = matrix != 0
    documents = used.sum(axis=0)
    other = ((matrix != 0) & (matrix != 1)).any(axis=0)
    everyone = np.full(matrix.shape[1], len(matrix))
    return np.concatenate([documents, everyone, documents > 0, other]).astype(np.float64)


@dataclass(frozen=True)
class KeptFeatures:
    """Which of the peers' features may be opened, decided from summed supports.

    Attributes:
        kept: one truth value per feature.
        rare: what becomes of the others: dropped, or merged (added up) into one last column.
        folds: over how many folds the support was counted in each: sums of parts of the rows
            show more than the sum of all.
    """

    kept: NDArray[np.bool_]
    rare: RareFeatures = "drop"
    folds: int = 1

    @property
    def width(self) -> int:
        """How many columns are left."""
        return int(self.kept.sum()) + (self.rare == "merge")

    def applied(self, rows: Rows) -> Floats:
        """The columns that may be opened."""
        matrix = checked_rows(rows)
        if matrix.shape[1] != self.kept.size:
            raise InputError(
                f"peers must agree on the features: {self.kept.size} were counted, "
                f"got {matrix.shape[1]} columns."
            )
        columns = matrix[:, self.kept]
        if self.rare == "drop":
            return columns
        return np.column_stack([columns, matrix[:, ~self.kept].sum(axis=1)])


def all_kept(width: int, *, folds: int = 1) -> KeptFeatures:
    """Every feature, for sums that nobody else will see: those of a learner's own rows."""
    return KeptFeatures(np.ones(width, bool), folds=folds)


def local_fold_support(rows: Rows, folds: ArrayLike, number: int) -> Floats:
    """One peer's summand where folds will be opened: the support in each, one row a fold."""
    matrix = checked_rows(rows)
    fold = checked_folds(folds, len(matrix), number)
    nothing = np.zeros(_PARTS * matrix.shape[1])
    parts = (matrix[fold == k] for k in range(number))
    return np.array([local_support(part) if len(part) else nothing for part in parts])


def kept_from_fold_sums(
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
) -> KeptFeatures:
    """Decide from the sum of `local_fold_support`: what may be opened in every single fold."""
    decisions = [_often_used(each, fewest_documents, fewest_peers) for each in np.asarray(summed)]
    kept: NDArray[np.bool_] = np.all(decisions, axis=0)
    if not kept.any():
        raise LeakError(
            f"no feature is used by {fewest_documents} documents at {fewest_peers} peers in every "
            "fold; use fewer folds."
        )
    return KeptFeatures(kept, folds=len(decisions))


def kept_from_sums(
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
) -> KeptFeatures:
    """Decide from the sum of `local_support` over the peers; rare features are dropped.

    A yes-or-no feature that all but a few documents have shows those few just as well (the totals
    less its row), so it is rare too.
    """
    kept = _often_used(summed, fewest_documents, fewest_peers)
    if not kept.any():
        raise LeakError(
            f"no feature is used by {fewest_documents} documents at {fewest_peers} peers; "
            "nothing may be opened."
        )
    return KeptFeatures(kept)


def local_rare_support(rows: Rows, kept: KeptFeatures) -> Floats:
    """One peer's summand before rare features are merged: the support of their common column."""
    merged = replace(kept, rare="merge").applied(rows)[:, -1:]
    return local_support(merged)


def merged_from_sums(
    kept: KeptFeatures,
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
) -> KeptFeatures:
    """Merge the rare features if enough documents use any of them; drop them if not.

    How often each is used does not tell: one document may hold them all.
    """
    (often,) = _often_used(summed, fewest_documents, fewest_peers)
    return replace(kept, rare="merge" if often else "drop")


def _often_used(summed: ArrayLike, fewest_documents: int, fewest_peers: int) -> NDArray[np.bool_]:
    if fewest_documents < 1 or fewest_peers < 1:
        raise ParameterError("fewest_documents and fewest_peers must be >= 1.")
    documents, everyone, peers, other = _parts(summed)
    lacking = everyone - documents
    conspicuous = (other == 0) & (lacking > 0) & (lacking < fewest_documents)
    often = (documents >= fewest_documents) & (peers >= fewest_peers)
    decided: NDArray[np.bool_] = often & ~conspicuous
    return decided


def checked_folds(folds: ArrayLike, rows: int, number: int) -> NDArray[np.int64]:
    """A fold from 0 to ``number`` - 1 for each row."""
    fold = np.asarray(folds)
    if number < 2 or fold.shape != (rows,) or not np.isin(fold, np.arange(number)).all():  # noqa: PLR2004 - one fold leaves nothing to learn from
        raise InputError(
            f"folds must be one number from 0 to {number - 1} per row, at least two of them."
        )
    return fold


def _parts(summed: ArrayLike) -> Floats:
    numbers = np.asarray(summed, np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.size % _PARTS:
        raise InputError(f"summed supports must be {_PARTS} numbers per feature.")
    return numbers.reshape(_PARTS, -1)
