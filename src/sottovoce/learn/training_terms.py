"""What a training starts from: terms that everybody knows, and what each peer brings.

A `Recipe` says how a classifier is trained, whatever the run; `TrainingTerms` name the peers and
features of one two-class training. A run may hold several of these: see `run.terms`.
`LocalData` is what one peer trains on, with the summands that it works out of it by itself.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows, checked_signs
from sottovoce.learn.rados.rados import RadoMaker, RadoMoments
from sottovoce.learn.ridge import PENALTIES, Standard, local_label_sums
from sottovoce.learn.sums.fixed import AllowTwo, Among, FixedPoint, checked_parties
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.support import (
    FEWEST_DOCUMENTS,
    FEWEST_PEERS,
    Flags,
    KeptFeatures,
    OpenedLimit,
    local_support,
    with_columns,
)
from sottovoce.learn.wire.codec import encode_value
from sottovoce.parsing import check_choice

if TYPE_CHECKING:
    from sottovoce.learn.features import FeatureMap
    from sottovoce.learn.openings import EarlierSums

Mode: TypeAlias = Literal["open", "hidden"]
Statistics: TypeAlias = Literal["exact", "rados"]
Solver: TypeAlias = Literal["masked", "chebyshev"]
Offset: TypeAlias = Literal["mean"]
AllowRare: TypeAlias = Literal["a word of one document is that document"]
ALLOW_RARE: AllowRare = "a word of one document is that document"
DEFAULT_PENALTY = 0.1
COORDINATOR, KEY_HOLDER = "coordinator", "key holder"
_ROOM_BITS = 62  # of a signed word, one bit left so that no rounding of a bound reaches the sign
_MOST_ROWS = 1 << 40


@dataclass(frozen=True)
class Recipe:
    """How a classifier is trained; public, and the same at every party.

    Attributes:
        statistics: ``exact`` adds up sums of the examples; ``rados`` those of sampled rados.
        penalty: ridge's lambda; None chooses the likeliest from the sums that are opened anyway.
        penalties: the candidates.
        fraction_bits: binary places of the statistics.
        moment_bits: binary places of the moments that features are standardised by.
        rados: how many rados each peer makes.
        fewest_documents: how many documents must use a feature that is opened,
        fewest_peers: whichever peers, one fewer than these, are taken off with theirs: see
            `support`.
        allow_rare: the name of what peers accept who go below five documents or two peers.
        allow_two: the name of what two peers accept.
        key_bits: of Paillier keys, where there are any.
        solver: of the hidden mode: exact under masks, or Chebyshev on shares for many features.
        queries: how many rows each peer may have classified in the hidden mode; None: its part of
            ``queries_together``.
        queries_together: how many rows all peers may have classified together; None: as many as
            ``queries``, or half as many as there are features if that is None too.
    """

    statistics: Statistics = "exact"
    penalty: float | None = None
    penalties: Sequence[float] = PENALTIES
    fraction_bits: int = 30
    moment_bits: int = 30
    rados: int = 1000
    fewest_documents: int = FEWEST_DOCUMENTS
    fewest_peers: int = FEWEST_PEERS
    allow_rare: AllowRare | None = None
    allow_two: AllowTwo | None = None
    key_bits: int = 3072
    solver: Solver = "masked"
    queries: int | None = None
    queries_together: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalties", tuple(map(float, self.penalties)))
        if self.penalty is not None:
            object.__setattr__(self, "penalty", float(self.penalty))
        check_choice("statistics", self.statistics, get_args(Statistics))
        check_choice("solver", self.solver, get_args(Solver))
        if self.penalty is not None and not (math.isfinite(self.penalty) and self.penalty > 0):
            raise ParameterError(f"penalty must be finite and > 0, got {self.penalty}.")
        self._check_support()
        if min(self.rados, self.queries or 1, self.queries_together or 1) < 1 or 0 in (
            self.queries,
            self.queries_together,
        ):
            raise ParameterError("rados, queries and queries_together must be >= 1.")

    def _check_support(self) -> None:
        if min(self.fewest_documents, self.fewest_peers) < 1:
            raise ParameterError("fewest_documents and fewest_peers must be >= 1.")
        rare = self.fewest_documents < FEWEST_DOCUMENTS or self.fewest_peers < FEWEST_PEERS
        if rare and self.allow_rare != ALLOW_RARE:
            raise LeakError(
                f"features must be used by at least {FEWEST_DOCUMENTS} documents and "
                f"{FEWEST_PEERS} peers to be opened, got {self.fewest_documents} and "
                f'{self.fewest_peers}; pass allow_rare="{ALLOW_RARE}" to accept that.'
            )


@dataclass(frozen=True)
class TrainingTerms:
    """One training.

    Attributes:
        session: the run's name.
        identities: every peer's name with its public identity.
        features: the common dictionary: the names of all features, in the order of theta.
        recipe: how it is trained.
        mapping: from words to features, where features are columns that a map makes of words.
        words: how many words the map is of.
        classifiers: how many labels, each against the others, are trained from the same sums.
        opens_labels: whether sums by label are opened: then a label must have enough documents.
        documents: how many documents each peer has stated that it gives, signed.
        presence: whether rows are of 0 and 1, which words a document has; then no peer's sums weigh
            more than the documents that it has stated.
    """

    session: bytes
    identities: Mapping[str, bytes]
    features: tuple[str, ...]
    recipe: Recipe = field(default_factory=Recipe)
    mapping: "FeatureMap | None" = None
    words: int = 0
    classifiers: int = 1
    opens_labels: bool = False
    documents: Mapping[str, int] = field(default_factory=dict)
    presence: bool = False

    def __post_init__(self) -> None:
        peers = checked_parties(list(self.identities), allow_two=self.recipe.allow_two)
        if {COORDINATOR, KEY_HOLDER} & set(peers):
            raise ParameterError(f"no peer may be called {COORDINATOR} or {KEY_HOLDER}.")
        if not self.features or len(set(self.features)) != len(self.features):
            raise InputError("features must have names, each its own, and at least one.")

    @property
    def peers(self) -> tuple[str, ...]:
        """All peers, in the order of their names."""
        return tuple(sorted(self.identities))

    def stated_documents(self, peers: tuple[str, ...]) -> dict[str, int]:
        """How many documents each of these peers has stated; none, if nothing was said."""
        return {peer: self.documents.get(peer, 0) for peer in peers}

    @property
    def counted_features(self) -> int:
        """Of how many words or features support is counted: of every word behind a map."""
        return len(self.features) if self.mapping is None else self.words

    @property
    def counted_columns(self) -> int:
        """The same, with a column for each label whose sums are opened."""
        return self.counted_features + self.classifiers * self.opens_labels

    @cached_property
    def digest(self) -> bytes:
        """What peers compare to know that they mean the same features and the same recipe."""
        recipe = "\0".join(f"{name}={value!r}" for name, value in sorted(vars(self.recipe).items()))
        several = () if self.classifiers == 1 else (f"classifiers={self.classifiers}",)
        return hashlib.sha256(encode_value((recipe, *several, *self.features))).digest()

    def counts(self) -> FixedPoint:
        """Numbers for sums of whole numbers."""
        return FixedPoint(float(_MOST_ROWS), len(self.identities), 0)

    def numbers(self, fraction_bits: int | None = None) -> FixedPoint:
        """Numbers for sums of statistics: as large as a word has room for."""
        places = self.recipe.fraction_bits if fraction_bits is None else fraction_bits
        room = (1 << (_ROOM_BITS - places)) // len(self.identities)
        if room < 1:
            raise ParameterError(f"fraction_bits must be lower, got {places}: no sum has room.")
        return FixedPoint(float(room), len(self.identities), places)


def mode_recipe(mode: Mode, options: dict[str, Any]) -> Recipe:
    """A recipe from a user's options, with what the mode needs where nothing is said."""
    unknown = set(options) - set(Recipe.__dataclass_fields__)
    if unknown:
        known = ", ".join(Recipe.__dataclass_fields__)
        raise ParameterError(f"options must be among {known}; got {', '.join(sorted(unknown))}.")
    from_sums = mode == "open" and options.get("statistics", "exact") == "exact"
    if not from_sums and options.get("penalty") is None:
        options = {**options, "penalty": DEFAULT_PENALTY}
    return Recipe(**options)


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
        cls, rows: Rows, signs: ArrayLike, names: Sequence[str], dictionary: Sequence[str]
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
