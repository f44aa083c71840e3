"""What one peer trains on, and the summands that it works out of it by itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
from sottovoce.learn.opened_bits import OpenedLimit
from sottovoce.learn.rados.rados import RadoMaker, RadoMoments
from sottovoce.learn.ridge import Standard, local_label_sums
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.sums.mask_peer import Among
from sottovoce.learn.support import (
    FEWEST_DOCUMENTS,
    Flags,
    KeptFeatures,
    local_support,
    with_columns,
)

if TYPE_CHECKING:
    from sottovoce.learn.openings import EarlierSums


@dataclass(frozen=True, repr=False)
class LocalData:
    """One peer's examples over the common dictionary; a feature it lacks is zero in every row.

    Private Text Classification, Protocol 2: X_p, y_p and the binary vector f_p.

    Attributes:
        rows: m by d, d being the size of the dictionary.
        signs: -1 or 1 per row; a column for each label where several share a training.
        has: f_p, which features the peer has.
        identity: who the peer is.
        vetoed: counted features that the peer wants dropped, whatever the others have.
        tag: what helpers know these data by; it tells them nothing but whether they are the same.
        among: what the peer makes of who is left when sums are opened.
        limit: how much of its documents it lets sums hold.
        changed: of each earlier training how many documents changed, and use each column.
        earlier: of which columns sums were opened before, if that is remembered.
    """

    rows: Floats
    signs: Floats
    has: NDArray[np.bool_]
    identity: Identity = field(default_factory=Identity)
    vetoed: Flags | None = field(default=None, kw_only=True)
    tag: bytes = field(default=b"", kw_only=True)
    among: Among = field(default_factory=Among, kw_only=True)
    limit: OpenedLimit = field(default_factory=OpenedLimit, kw_only=True)
    changed: tuple[tuple[int, Floats], ...] = field(default=(), kw_only=True)
    earlier: "EarlierSums | None" = field(default=None, kw_only=True)

    @classmethod
    def from_rows(
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

    @property
    def counted_rows(self) -> Rows:
        """The rows whose features' support decides what is opened."""
        return self.rows

    @property
    def row_documents(self) -> NDArray[np.int64] | None:
        """Which document each row is of, if several may be of one."""
        return None

    def support(self, fewest_documents: int = FEWEST_DOCUMENTS, *, labels: bool = False) -> Floats:
        """How many documents use each feature.

        With ``labels`` the documents of each label are counted beside, as if it were a feature.
        """
        counted, vetoed = self.counted_rows, self.vetoed
        if labels:
            signs = self.signs.reshape(len(self.signs), -1)
            counted = with_columns(counted, (signs > 0).astype(np.float64))
            beside = np.zeros(signs.shape[1], bool)
            vetoed = None if vetoed is None else np.append(vetoed, beside)
        return local_support(
            counted, documents=self.row_documents, fewest_documents=fewest_documents, vetoed=vetoed
        )

    def restrict(self, decided: Flags) -> "LocalData":
        """The data as they may be opened, once it is decided which counted features are kept."""
        del decided
        return self

    def sums(self, kept: KeptFeatures) -> Floats:
        """The statistics that will be opened."""
        return local_label_sums(self.rows, self.signs.reshape(len(self.signs), -1), kept)

    def moments(self, kept: KeptFeatures) -> Floats:
        """How many rows, and each feature's sum and sum of squares."""
        # Along the rows of a transposed copy numpy adds pairwise, which loses the fewest bits.
        x = np.ascontiguousarray(kept.apply(self.rows).T)
        return np.concatenate([[x.shape[1]], x.sum(axis=1), (x**2).sum(axis=1)])

    def rado_moments(self, standard: Standard, number: int) -> Floats:
        """The mean of ``number`` rados of standardised rows, and their covariance.

        Private Text Classification, Definition 5, with each peer's own mean in place of the global
        one: the rados of different peers are independent, so that means and covariances add up to
        those of a rado of all peers' rows. Divided by the root of all rows, and by their number, so
        that they stay small.

        A rado is half of sum of sigma x, and half of sum of y x. So of the same signatures the
        rados of two labels differ by half of the sum of (y - y') x, one and the same vector, and
        their covariance is that of every label: of several labels it is added up once, and of each
        further label the shift of its mean.
        """
        rows, root = standard.apply(self.rows), np.sqrt(standard.count)
        first, *others = self.signs.reshape(len(rows), -1).T
        moments = RadoMoments.from_rados(RadoMaker(rows, first).sample(number) / root)
        upper = moments.covariance[np.triu_indices(moments.width)]
        shifts = [rows.T @ (signs - first) / (2 * root) for signs in others]
        return np.concatenate([moments.mean, upper, *shifts])


@dataclass(frozen=True, repr=False)
class SentenceData(LocalData):
    """One peer's rows with the document that each is of.

    A word of five sentences of one document shows that document, so that support is counted in
    documents.
    """

    documents: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def row_documents(self) -> NDArray[np.int64]:
        """The documents."""
        return self.documents


@dataclass(frozen=True, repr=False)
class MappedData(LocalData):
    """One peer's rows over columns that a map makes of words.

    Whoever chose the map could put a rare word into a common word's column, with a weight that
    tells them apart. So support is counted for every word, and a rare word adds to no column. What
    is opened then follows from the sums of the kept words: M'X'XM from X'X.
    """

    words: sparse.csr_array = field(default_factory=lambda: sparse.csr_array((0, 0)))
    matrix: sparse.csr_array = field(default_factory=lambda: sparse.csr_array((0, 0)))
    documents: NDArray[np.int64] | None = None

    @property
    def counted_rows(self) -> Rows:
        """The words."""
        return self.words

    @property
    def row_documents(self) -> NDArray[np.int64] | None:
        """The documents, if rows are sentences."""
        return self.documents

    def restrict(self, decided: Flags) -> LocalData:
        """Rows of the kept words only."""
        kept = sparse.diags_array(decided.astype(np.float64))
        rows: Floats = sparse.csr_array(self.words @ kept @ self.matrix).toarray()
        return replace(self, rows=rows)


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
