"""Which features may be opened: those that enough documents at enough peers use.

A word that one document uses makes its row of X'X that document. So before any aggregate is
opened, peers add up how many documents use each feature, and rare features are merged or dropped.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats, LeakError, checked_rows

FEWEST_DOCUMENTS = 5
FEWEST_PEERS = 2
RareFeatures: TypeAlias = Literal["drop", "merge"]
_PARTS = 4


def local_support(rows: ArrayLike) -> Floats:
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
    """

    kept: NDArray[np.bool_]
    rare: RareFeatures = "drop"

    @property
    def width(self) -> int:
        """How many columns are left."""
        return int(self.kept.sum()) + (self.rare == "merge")

    def applied(self, rows: ArrayLike) -> Floats:
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


def all_kept(width: int) -> KeptFeatures:
    """Every feature, for sums that nobody else will see: those of a learner's own rows."""
    return KeptFeatures(np.ones(width, bool))


def kept_from_sums(
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
    rare: RareFeatures = "drop",
) -> KeptFeatures:
    """Decide from the sum of `local_support` over the peers.

    A yes-or-no feature that all but a few documents have shows those few just as well (the totals
    less its row), so it is rare too. Merging needs enough rare documents to hide among.
    """
    if fewest_documents < 1 or fewest_peers < 1:
        raise ParameterError("fewest_documents and fewest_peers must be >= 1.")
    documents, everyone, peers, other = _parts(summed)
    lacking = everyone - documents
    conspicuous = (other == 0) & (lacking > 0) & (lacking < fewest_documents)
    kept = (documents >= fewest_documents) & (peers >= fewest_peers) & ~conspicuous
    if not kept.any():
        raise LeakError(
            f"no feature is used by {fewest_documents} documents at {fewest_peers} peers; "
            "nothing may be opened."
        )
    enough = (~kept).sum() > 1 and documents[~kept].sum() >= fewest_documents
    return KeptFeatures(kept, rare if enough else "drop")


def _parts(summed: ArrayLike) -> Floats:
    numbers = np.asarray(summed, np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.size % _PARTS:
        raise InputError(f"summed supports must be {_PARTS} numbers per feature.")
    return numbers.reshape(_PARTS, -1)
