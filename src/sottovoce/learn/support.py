"""Which features may be opened: those that enough documents at enough peers use.

A word that one document uses makes its row of X'X that document. So before any aggregate is
opened, peers add up how many documents use each feature, and rare features are dropped.

With k `fewest_documents` and q `fewest_peers`, a feature j is kept if for one of a few caps c

    sum over peers p of min(c, n_pj)  >=  c (q - 1) + k

where peer p has n_pj documents that use it: for k = 5 and q = 2, ten where a peer counts at most
five, or eight where it counts at most three, or seven where it counts at most two. Then, whichever
q - 1 peers are taken off, with documents that they may have made up, at least k documents of the
others use it. Proof: q - 1 peers count at most c (q - 1), so that at least k of the sum is the
others', who count no more than they have. With q = 2 that is the coordinator and one peer. Who lies
about its count, and not about its documents, passes any feature.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows

FEWEST_DOCUMENTS = 5
FEWEST_PEERS = 2
Flags: TypeAlias = NDArray[np.bool_]


class FeatureCounts(NamedTuple):
    """What a peer counts by itself, of each feature.

    Attributes:
        uses: documents that use it.
        lacks: documents of which some row lacks it.
        binary: whether it is 0 or 1 in all of the peer's rows.
    """

    uses: Floats
    lacks: Floats
    binary: Flags

    def summand(self, fewest: int, vetoed: Flags | None = None) -> Floats:
        """Documents that use each feature under each cap, those that lack it, and a veto.

        The last is 1 where this peer wants the feature dropped whatever the others have. A
        yes-or-no feature that all but a few documents have shows those few (the totals less its
        row), so that those count too; a feature of other values lacks as many as may be said.
        """
        lacks = np.where(self.binary, self.lacks, fewest)
        last = np.zeros(len(self.uses)) if vetoed is None else vetoed.astype(np.float64)
        capped = [np.minimum(each, c) for each in (self.uses, lacks) for c in caps(fewest)]
        return np.concatenate([*capped, last])


def caps(fewest: int) -> tuple[int, ...]:
    """How many documents a peer counts at most: all that are needed, half, or a third of them."""
    return tuple(sorted({-(-fewest // 3), -(-fewest // 2), fewest}))


def support_size(fewest: int) -> int:
    """How many numbers a peer says of each feature."""
    return 2 * len(caps(fewest)) + 1


def used_entries(rows: Rows) -> sparse.csr_array:
    """1 where a row uses a feature, and nothing elsewhere."""
    matrix = _sparse(rows).copy()
    matrix.data = (matrix.data != 0).astype(np.float64)
    matrix.eliminate_zeros()
    return matrix


def _sparse(rows: Any) -> sparse.csr_array:  # noqa: ANN401 - scipy's stubs know no common type
    return sparse.csr_array(rows)


def with_columns(rows: Rows, columns: ArrayLike) -> sparse.csr_array:
    """The rows with further columns beside their own."""
    return _sparse(sparse.hstack([_sparse(rows), _sparse(columns)]))


def feature_counts(rows: Rows, documents: ArrayLike | None = None) -> FeatureCounts:
    """Count documents: each row is one, or ``documents`` says which each row is of."""
    matrix, used = _sparse(rows), used_entries(rows)
    sizes = np.ones(matrix.shape[0])
    if documents is not None:
        _, at, counts = np.unique(np.asarray(documents), return_inverse=True, return_counts=True)
        groups = sparse.csr_array((sizes, (at, np.arange(len(at)))), shape=(len(counts), len(at)))
        used, sizes = sparse.csr_array(groups @ used), counts.astype(np.float64)
    columns = used.tocoo()
    width = matrix.shape[1]
    whole = np.bincount(columns.col[columns.data == sizes[columns.row]], minlength=width)
    uses = np.bincount(columns.col, minlength=width)
    odd = np.bincount(matrix.indices[~np.isin(matrix.data, (0.0, 1.0))], minlength=width)
    return FeatureCounts(uses.astype(float), (len(sizes) - whole).astype(float), odd == 0)


def local_support(
    rows: Rows,
    *,
    documents: ArrayLike | None = None,
    fewest_documents: int = FEWEST_DOCUMENTS,
    vetoed: Flags | None = None,
) -> Floats:
    """One peer's summand: see `feature_counts` and `FeatureCounts.summand`."""
    return feature_counts(rows, documents).summand(fewest_documents, vetoed)


@dataclass(frozen=True)
class KeptFeatures:
    """Which of the peers' features may be opened, decided from summed supports.

    Attributes:
        kept: one truth value per feature.
    """

    kept: Flags

    @property
    def width(self) -> int:
        """How many columns are left."""
        return int(self.kept.sum())

    def apply(self, rows: Rows) -> Floats:
        """The columns that may be opened."""
        matrix = checked_rows(rows)
        if matrix.shape[1] != self.kept.size:
            raise InputError(
                f"peers must agree on the features: {self.kept.size} were counted, "
                f"got {matrix.shape[1]} columns."
            )
        return matrix[:, self.kept]


def all_kept(width: int) -> KeptFeatures:
    """Every feature, for sums that nobody else will see: those of a learner's own rows."""
    return KeptFeatures(np.ones(width, bool))


def kept_from_sums(
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
) -> KeptFeatures:
    """Decide from the sum of `local_support` over the peers; rare features are dropped."""
    kept = _often_used(summed, fewest_documents, fewest_peers)
    if not kept.any():
        raise LeakError(
            "no feature has enough support: of the documents that use it at least "
            f"{fewest_documents} must be left without those of any {_peers(fewest_peers - 1)}; "
            f"nothing may be opened.{_why(summed, fewest_documents)}"
        )
    return KeptFeatures(kept)


def check_label_support(
    summed: ArrayLike,
    *,
    fewest_documents: int = FEWEST_DOCUMENTS,
    fewest_peers: int = FEWEST_PEERS,
) -> None:
    """Refuse to open sums by label where few documents have a label, or lack it: they show those.

    Of a label, the sum of its documents is (sum of x + sum of xy) / 2: of one document that is the
    document itself. A label that no document has, or all have, shows nothing.
    """
    uses, lacks, enough, _ = _count_support(summed, fewest_documents, fewest_peers)
    sound = [(each == 0).all(axis=0) | (each >= enough).any(axis=0) for each in (uses, lacks)]
    if not np.all(sound):
        raise LeakError(
            "a label has too few documents, or too few are of other labels: at least "
            f"{fewest_documents} must be left without those of any {_peers(fewest_peers - 1)}, or "
            "their sum shows single documents; nothing may be opened. Leave the documents of rare "
            "labels out or join labels, or use the hidden mode."
        )


def _peers(number: int) -> str:
    return "peer" if number == 1 else f"{number} peers"


def _why(summed: ArrayLike, fewest_documents: int) -> str:
    """What to do where peers had features dropped that others may have had enough of."""
    dropped = int(np.count_nonzero(_parts(summed, support_size(fewest_documents))[-1]))
    if not dropped:
        return ""
    return (
        f" Peers had {dropped} features dropped, since too few of the "
        "documents that differ from an earlier training use them: train on the documents of before "
        "and hold out as many, or change many more."
    )


def _often_used(summed: ArrayLike, fewest_documents: int, fewest_peers: int) -> Flags:
    uses, lacks, enough, vetoes = _count_support(summed, fewest_documents, fewest_peers)
    often = (uses >= enough).any(axis=0)
    inconspicuous = (lacks == 0).all(axis=0) | (lacks >= enough).any(axis=0)
    decided: Flags = often & inconspicuous & (vetoes == 0)
    return decided


def _count_support(
    summed: ArrayLike, fewest_documents: int, fewest_peers: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Who uses and who lacks each feature under each cap, how many are enough, and vetoes."""
    if fewest_documents < 1 or fewest_peers < 1:
        raise ParameterError("fewest_documents and fewest_peers must be >= 1.")
    *counts, vetoes = _parts(summed, support_size(fewest_documents))
    each = caps(fewest_documents)
    enough = np.array(each)[:, None] * (fewest_peers - 1) + fewest_documents
    return np.array(counts[: len(each)]), np.array(counts[len(each) :]), enough, vetoes


def _parts(summed: ArrayLike, size: int) -> Floats:
    numbers = np.asarray(summed, np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.size % size:
        raise InputError(f"summed supports must be {size} numbers per feature.")
    return numbers.reshape(size, -1)
