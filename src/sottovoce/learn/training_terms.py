"""What everybody who trains together has agreed on before the first message.

A `Recipe` says how a classifier is trained, whatever the run; `TrainingTerms` name the peers and
features of one two-class training. A run may hold several of these: see `run.terms`.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from sottovoce.errors import InputError, LeakError, ParameterError, check_choice
from sottovoce.learn.ridge import PENALTIES
from sottovoce.learn.sums.fixed import AllowTwo, FixedPoint, checked_parties
from sottovoce.learn.support import FEWEST_DOCUMENTS, FEWEST_PEERS
from sottovoce.learn.wire.codec import encode_value

if TYPE_CHECKING:
    from sottovoce.learn.features import FeatureMap

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
