"""What the parties of a run start from: terms that all of them know, and what each brings.

`RunTerms` are public and the same at every party; a party's `Holdings` are shown to nobody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Self, TypeAlias, get_args

from sottovoce.errors import DamagedMessageError, DamagedRecordError, DataError, ParameterError
from sottovoce.learn.count.recipe import CountRecipe, check_cells
from sottovoce.learn.documents import Examples
from sottovoce.learn.features import MOST_FEATURES, TextRecipe
from sottovoce.learn.sums.fixed import checked_parties
from sottovoce.learn.sums.keys import Identity, derive_key
from sottovoce.learn.support import OpenedLimit
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, Mode, Offset, Recipe
from sottovoce.learn.wire.codec import (
    Value,
    check_numbers,
    decode_value,
    encode_value,
    from_value,
    to_value,
)
from sottovoce.learn.wire.message import SESSION_BYTES
from sottovoce.parsing import check_choice

if TYPE_CHECKING:
    from sottovoce.learn.count.recipe import CountTrust
    from sottovoce.learn.count.spend import Spending
    from sottovoce.learn.openings import OpeningMemory
    from sottovoce.learn.paillier.keys import PrivateKey
    from sottovoce.learn.query_budget import QueryLedger

RunKind: TypeAlias = Literal["train", "classify", "evaluate", "rados", "count"]
KINDS: tuple[RunKind, ...] = get_args(RunKind)
MODES: tuple[Mode, ...] = get_args(Mode)
INTERMEDIARY = "intermediary"
ROLES = (COORDINATOR, KEY_HOLDER, INTERMEDIARY)
MOST_CLASSES = 64
MOST_ROWS = 1 << 20
_IDENTITY_BYTES = 32
VERSION = 5


@dataclass(frozen=True)
class RunTerms:
    """One run: the same at every party, and public.

    Attributes:
        session: the run's name.
        kind: ``train`` a classifier; ``classify`` rows or ``evaluate`` held-out ones with one that
            was trained before; make ``rados`` under encryption and learn from them; ``count``
            words or pairs of words together.
        mode: the trust mode.
        identities: every peer's name with its public identity.
        recipe: how a classifier is trained.
        text: how texts become rows; None where peers bring rows of numbers.
        features: the names of all columns, where peers bring rows of numbers.
        labels: the label names; none where the peers agree on them through the coordinator.
        most_classes: the most labels that may be agreed on.
        held_out: about what fraction of its documents each peer keeps for evaluation: see
            `documents`.
        training: the session of the training whose classifier is used.
        asker: the peer that asks, where rows are classified.
        contributors: other peers that add their features' part of each score.
        offset: what they add: None, their own rows of the same entities; ``mean``, the mean row of
            a rado in place of entities that they do not know.
        rows: how many rows it asks for; of a hidden evaluation, how many of each peer are used.
        count: how documents are counted, by a run that counts.
    """

    session: bytes
    kind: RunKind
    mode: Mode
    identities: Mapping[str, bytes]
    recipe: Recipe = field(default_factory=Recipe)
    text: TextRecipe | None = None
    features: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    most_classes: int = 16
    held_out: float = 0.0
    training: bytes = b""
    asker: str = ""
    rows: int = 0
    contributors: tuple[str, ...] = ()
    offset: Offset | None = None
    count: CountRecipe | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "held_out", float(self.held_out))
        check_choice("kind", self.kind, KINDS)
        check_choice("mode", self.mode, MODES)
        self._check_peers()
        self._check_features()
        self._check_labels()
        if not 0 <= self.held_out <= 0.5:  # noqa: PLR2004 - at least half is trained on
            raise ParameterError(f"held_out must be from 0 to 0.5, got {self.held_out}.")
        self._check_count()
        self._check_use()

    @property
    def peers(self) -> tuple[str, ...]:
        """All peers, in the order of their names."""
        return tuple(sorted(self.identities))

    @property
    def parties(self) -> tuple[str, ...]:
        """Who takes part, the helpers first."""
        if self.kind == "rados":
            return (COORDINATOR, KEY_HOLDER, INTERMEDIARY, *self.peers)
        if self.kind == "classify" and self.mode == "open" and not self.contributors:
            return (self.asker,)
        helpers = (COORDINATOR, KEY_HOLDER) if self._has_key_holder else (COORDINATOR,)
        return (*helpers, *(self.order if self.kind == "classify" else self.peers))

    @property
    def order(self) -> tuple[str, ...]:
        """Whose features are used in a query, the asker's first."""
        return (self.asker, *self.contributors)

    @property
    def most_trainings(self) -> int:
        """How many two-class classifiers there may be: one for two labels, one each for more."""
        labels = len(self.labels) or self.most_classes
        return 1 if labels == 2 else labels  # noqa: PLR2004 - one against the other

    def to_bytes(self) -> bytes:
        """The terms as they travel and are kept."""
        return encode_value({"version": VERSION, "terms": to_value(self)})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The terms that ``data`` holds, or DamagedRecordError."""
        try:
            whole = decode_value(data)
        except DamagedMessageError as error:
            raise DamagedRecordError(f"these bytes are no terms of a run: {error}") from error
        if not isinstance(whole, Mapping) or set(whole) != {"version", "terms"}:
            raise DamagedRecordError("a run's terms must be a record of two known fields.")
        if whole["version"] != VERSION:
            raise DamagedRecordError(
                f"a run's terms must be of version {VERSION}, got {whole['version']!r}; use the "
                "same release of Sottovoce at all parties."
            )
        check_numbers(whole["terms"])
        return from_value(whole["terms"], cls)

    @property
    def _has_key_holder(self) -> bool:
        return self.mode == "hidden"

    def _check_peers(self) -> None:
        if len(self.session) != SESSION_BYTES:
            raise ParameterError(f"a session has {SESSION_BYTES} bytes, got {len(self.session)}.")
        peers = checked_parties(list(self.identities), allow_two=self.recipe.allow_two)
        if set(ROLES) & set(peers):
            raise ParameterError(f"no peer may be called {', '.join(ROLES)}.")
        if any(len(public) != _IDENTITY_BYTES for public in self.identities.values()):
            raise ParameterError(f"a peer's public identity has {_IDENTITY_BYTES} bytes.")

    def _check_features(self) -> None:
        makes = self.kind in {"train", "rados"}
        if makes and (self.text is None) == (not self.features):
            raise ParameterError(
                "a run is either about texts (text=TextRecipe(...)) or about rows of numbers "
                f"(features=names of the columns), got {len(self.features)} names."
            )
        if len(set(self.features)) != len(self.features) or len(self.features) > MOST_FEATURES:
            raise ParameterError(
                f"features must differ and be at most {MOST_FEATURES}, got {len(self.features)}."
            )

    def _check_labels(self) -> None:
        if len(self.labels) == 1 or len(set(self.labels)) != len(self.labels):
            raise ParameterError(
                f"labels must be at least two, all different, got {len(self.labels)}; leave them "
                "out to have the peers agree on them."
            )
        if list(self.labels) != sorted(self.labels) or not all(self.labels):
            raise ParameterError("labels must be in alphabetical order, none of them empty.")
        if not 2 <= self.most_classes <= MOST_CLASSES or len(self.labels) > MOST_CLASSES:  # noqa: PLR2004 - two
            raise ParameterError(
                f"most_classes must be from 2 to {MOST_CLASSES}, got {self.most_classes}, "
                f"and labels at most {MOST_CLASSES}."
            )

    def _check_count(self) -> None:
        if (self.count is not None) != (self.kind == "count"):
            raise ParameterError("a run that counts, and no other, says how it is counted.")
        if self.count is None:
            return
        if self.text is None or self.text.dictionary != "given" or self.mode != "open":
            raise ParameterError("a count is of given public words, in the open mode.")
        self.count.check_parties(len(self.identities))
        check_cells(self.count.what, len(self.text.words), len(self.labels))

    def _check_contributors(self) -> None:
        others = set(self.contributors)
        if self.contributors and (self.kind != "classify" or not others < set(self.identities)):
            raise ParameterError("contributors are peers that help to classify a peer's rows.")
        if list(self.contributors) != sorted(others) or self.asker in others:
            raise ParameterError("contributors must be in alphabetical order, without the asker.")
        _check_offset(self.mode, self.offset, alone=not self.contributors)

    def _check_use(self) -> None:
        if not 0 <= self.rows <= MOST_ROWS:
            raise ParameterError(f"rows must be from 0 to {MOST_ROWS}, got {self.rows}.")
        if self.kind in {"train", "rados", "count"}:
            return
        if len(self.training) != SESSION_BYTES:
            raise ParameterError("a classifier is used by the session of its training.")
        if self.kind == "classify" and (self.asker not in self.identities or self.rows < 1):
            raise ParameterError(
                f"a query needs a peer that asks and at least 1 row, got {self.rows} rows."
            )
        self._check_contributors()
        if self.kind == "evaluate" and self.mode != "open" and self.rows < 1:
            raise ParameterError(
                f"rows must be >= 1, got {self.rows}: in the {self.mode} mode an evaluation asks "
                "for so many rows of each peer, and they count towards the budget."
            )


def _check_offset(mode: Mode, offset: Offset | None, *, alone: bool) -> None:
    if offset not in {None, "mean"}:
        raise ParameterError(f"offset must be None or mean, got {offset!r}.")
    if offset is not None and (mode == "open" or alone):
        raise ParameterError("offset is for contributors in the hidden mode.")


@dataclass(frozen=True, repr=False)
class Holdings:
    """A party's own.

    Attributes:
        identity: who it is, if it is a peer.
        examples: its documents or rows.
        key: its Paillier key, if the mode gives it one.
        earlier: the result of an earlier run of its own: the training whose classifier is used.
        secret: what a peer's digests of its documents are keyed by, the same in all its runs; where
            none is brought, one that its identity gives.
        memory: what a peer's earlier trainings opened, if it remembers.
        ledger: where a helper counts the rows that are asked for, over all trainings.
        spending: where a peer's documents pay for being counted.
        trust: whose noise a peer counts on.
        limit: how much of documents it lets opened sums hold.
    """

    identity: Identity | None = None
    examples: Examples | None = None
    key: "PrivateKey | None" = None
    earlier: Mapping[str, Value] | None = None
    secret: bytes = b""
    memory: "OpeningMemory | None" = None
    ledger: "QueryLedger | None" = None
    spending: "Spending | None" = None
    trust: "CountTrust | None" = None
    limit: OpenedLimit = field(default_factory=OpenedLimit)

    def wanted_identity(self, name: str) -> Identity:
        """Who the peer is."""
        if self.identity is None:
            raise DataError(f"{name} must bring its identity.")
        return self.identity

    def known_identity(self, name: str, terms: RunTerms) -> Identity:
        """The same, if the run knows it by that."""
        identity = self.wanted_identity(name)
        if terms.identities[name] != identity.public:
            raise DataError(f"{name} must bring the identity that this run knows it by.")
        return identity

    def wanted_secret(self, name: str) -> bytes:
        """What its digests are keyed by."""
        return self.secret or derive_key(self.wanted_identity(name).secret, b"", "digests")

    def wanted_examples(self, name: str) -> Examples:
        """Its documents or rows."""
        if self.examples is None or not len(self.examples):
            raise DataError(f"{name} must bring at least 1 document or row, got none.")
        return self.examples

    def wanted_key(self, name: str) -> "PrivateKey":
        """Its Paillier key."""
        if self.key is None:
            raise DataError(f"the {name} must bring a Paillier key of its own.")
        return self.key

    def wanted_earlier(self, name: str) -> Mapping[str, Value]:
        """What it kept of the training."""
        if self.earlier is None:
            raise DataError(f"{name} must bring its result of the training; train first.")
        return self.earlier
