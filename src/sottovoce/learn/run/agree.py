"""What comes before a training: the parties agree on terms, features and labels.

First all parties compare a digest of the run's terms, which the peers sign. Then the peers agree on
the columns and on the label names through the coordinator: within a run label names are public.
What came of it is compared in the same way. At the end a peer lifts its own examples into the
common columns (`local_data`).
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DataError
from sottovoce.learn.documents import Documents, Examples, Table
from sottovoce.learn.features import Features, nominate_buckets
from sottovoce.learn.modes.sums import Alike, alike_stages
from sottovoce.learn.run.dictionary import (
    KEY_STAGES,
    NOMINATION_STAGES,
    Buckets,
    PeerSecrets,
    hearing_helper,
    nominating_coordinator,
    nominating_peer,
    word_key_coordinator,
    word_key_peer,
)
from sottovoce.learn.run.terms import ROLES, RunTerms
from sottovoce.learn.sums.fixed import Among
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import (
    COORDINATOR,
    LocalData,
    MappedData,
    SentenceData,
    TrainingTerms,
    feature_places,
)
from sottovoce.learn.wire.codec import encode_value
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Stage, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

OPENING_STAGES = alike_stages("terms")
LABEL_STAGES = ("labels", "classes")
COLUMNS_AND_LABELS = "columns and labels"
AGREEING_STAGES = (
    *OPENING_STAGES,
    *KEY_STAGES,
    *NOMINATION_STAGES,
    *LABEL_STAGES,
    *alike_stages(COLUMNS_AND_LABELS),
)
_LONGEST = 200
_FEWEST = 2


@dataclass(frozen=True)
class Agreed:
    """What all parties know before the first training of a run.

    Attributes:
        features: the columns' names.
        labels: the label names in alphabetical order.
        peers: who is still there.
        documents: how many documents each peer has stated that it gives, signed.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    peers: tuple[str, ...]
    documents: Mapping[str, int] = field(default_factory=dict)

    def training(self, terms: RunTerms, peers: tuple[str, ...]) -> TrainingTerms:
        """The terms of one two-class training among ``peers``."""
        identities = {peer: terms.identities[peer] for peer in peers}
        mapping = None if terms.text is None else terms.text.mapping
        words = 0 if terms.text is None else len(terms.text.words)
        documents = {peer: self.documents[peer] for peer in peers}
        return TrainingTerms(
            terms.session,
            identities,
            self.features,
            terms.recipe,
            mapping,
            words,
            documents=documents,
            presence=terms.text is not None and terms.text.presence,
        )

    @property
    def positives(self) -> tuple[str, ...]:
        """The label that each two-class training tells from the others; the second of two."""
        return self.labels[1:] if len(self.labels) == 2 else self.labels  # noqa: PLR2004 - two


def agreeing_peer(
    name: str, terms: RunTerms, secrets: PeerSecrets, examples: Examples, among: Among | None = None
) -> Generator[Stage, Any, tuple[Agreed, Features | None]]:
    """A peer's part."""
    documents = yield from opening(terms).party(name, secrets.identity, len(examples))
    features, peers = None, terms.peers
    own = own_labels(examples.labels, terms)
    if terms.text is not None and isinstance(examples, Documents):
        key = b""
        if terms.text.needs_key:
            key = yield from word_key_peer(name, terms, secrets)
        chosen = None
        if terms.text.dictionary == "agreed":
            marks = nominate_buckets(examples.texts, terms.text, key)
            nominating = nominating_peer(name, terms, secrets.identity, marks, among)
            chosen, peers = yield from nominating
        features = Features(terms.text, key, chosen)
    labels = yield from agreed_labels_peer(name, terms, own)
    agreed = Agreed(features.names if features else terms.features, labels, peers, documents)
    return (yield from _agreed_alike(name, terms, agreed, secrets.identity)), features


def agreeing_coordinator(
    terms: RunTerms, helpers: tuple[str, ...]
) -> Generator[Stage, Any, Agreed]:
    """The coordinator's part; ``helpers`` are told what the peers are."""
    documents = yield from opening(terms).party(COORDINATOR)
    chosen, peers = None, terms.peers
    text = terms.text
    if text is not None and text.needs_key:
        yield from word_key_coordinator(terms)
        if text.dictionary == "agreed":
            chosen, peers = yield from nominating_coordinator(terms, text, helpers)
    labels = yield from agreed_labels_coordinator(terms, peers, helpers)
    agreed = Agreed(column_names(terms, chosen), labels, peers, documents)
    return (yield from _agreed_alike(COORDINATOR, terms, agreed))


def agreeing_helper(name: str, terms: RunTerms) -> Generator[Stage, Any, Agreed]:
    """A key holder's or an intermediary's part: it hears."""
    documents = yield from opening(terms).party(name)
    chosen, peers = None, terms.peers
    if terms.text is not None and terms.text.dictionary == "agreed":
        chosen, peers = yield from hearing_helper(name, terms)
    labels = yield from hearing_labels(name, terms)
    agreed = Agreed(column_names(terms, chosen), labels, peers, documents)
    return (yield from _agreed_alike(name, terms, agreed))


def column_names(terms: RunTerms, chosen: Buckets | None) -> tuple[str, ...]:
    """What all parties call the columns."""
    return terms.features if terms.text is None else Features(terms.text, chosen=chosen).names


def opening(terms: RunTerms) -> Alike:
    """How all parties make sure that they have the same terms, before anything else is said."""
    signing = {name: terms.identities[name] for name in terms.parties if name not in ROLES}
    helpers = tuple(name for name in terms.parties if name in ROLES and name != COORDINATOR)
    return Alike("terms", terms.session, terms.to_bytes(), signing, helpers)


def _agreed_alike(
    name: str, terms: RunTerms, agreed: Agreed, identity: Identity | None = None
) -> Generator[Stage, Any, Agreed]:
    """The same for columns and labels that were not in the terms, before sums rest on them."""
    if terms.labels and (terms.text is None or terms.text.dictionary != "agreed"):
        return agreed
    stated = tuple(agreed.documents.items())
    told = encode_value((agreed.features, agreed.labels, agreed.peers, stated))
    signing = {peer: terms.identities[peer] for peer in agreed.peers}
    same = replace(opening(terms), what=COLUMNS_AND_LABELS, told=told, identities=signing)
    yield from same.party(name, identity)
    return agreed


def own_labels(labels: tuple[str, ...] | None, terms: RunTerms) -> tuple[str, ...]:
    """A peer's label names, checked against the run's."""
    if not labels:
        raise DataError("a peer must have labels to train with, got none.")
    names = tuple(sorted(set(labels)))
    if any(len(name) > _LONGEST for name in names) or len(names) > terms.most_classes:
        raise DataError(
            f"a peer's labels must be at most {terms.most_classes} names of at most {_LONGEST} "
            f"characters, got {len(names)} names; is another column the labels'?"
        )
    unknown = set(names) - set(terms.labels)
    if terms.labels and unknown:
        raise DataError(
            f"a peer's labels must be among the run's {len(terms.labels)}, got {len(unknown)} "
            "others; name all labels in the run, or leave them out to agree on them."
        )
    return names


def agreed_labels_peer(
    name: str, terms: RunTerms, own: tuple[str, ...]
) -> Generator[Stage, Any, tuple[str, ...]]:
    """Tell one's label names, and hear everybody's."""
    if terms.labels:
        return terms.labels
    piece: dict[str, Value] = {"labels": own}
    yield Stage("labels", lambda s: Teller(name, s, "labels", {COORDINATOR: piece}))
    told = yield Stage("classes", lambda s: Listener(name, s, "classes", [COORDINATOR]))
    labels = told_labels(told.heard[COORDINATOR], terms)
    if not set(own) <= set(labels) or len(labels) < _FEWEST:
        raise DamagedMessageError("the agreed labels must hold every peer's own, two at least.")
    return labels


def agreed_labels_coordinator(
    terms: RunTerms, peers: tuple[str, ...], helpers: tuple[str, ...]
) -> Generator[Stage, Any, tuple[str, ...]]:
    """Hear every peer's label names, and tell all of them to all."""
    if terms.labels:
        return terms.labels
    heard = yield Stage("labels", lambda s: Listener(COORDINATOR, s, "labels", peers))
    labels = common_labels([told_labels(said, terms) for said in heard.heard.values()], terms)
    piece: dict[str, Value] = {"labels": labels}
    pieces = dict.fromkeys((*helpers, *peers), piece)
    yield Stage("classes", lambda s: Teller(COORDINATOR, s, "classes", pieces))
    return labels


def hearing_labels(name: str, terms: RunTerms) -> Generator[Stage, Any, tuple[str, ...]]:
    """A helper hears the label names."""
    if terms.labels:
        return terms.labels
    told = yield Stage("classes", lambda s: Listener(name, s, "classes", [COORDINATOR]))
    return told_labels(told.heard[COORDINATOR], terms)


def common_labels(named: list[tuple[str, ...]], terms: RunTerms) -> tuple[str, ...]:
    """All label names in alphabetical order, or why they cannot be trained on."""
    labels = tuple(sorted({label for names in named for label in names}))
    if not _FEWEST <= len(labels) <= terms.most_classes:
        raise DataError(
            f"the peers' labels together must be from 2 to {terms.most_classes}, got "
            f"{len(labels)}; with one there is nothing to tell apart, of more join the rare ones."
        )
    return labels


def told_labels(message: Message, terms: RunTerms) -> tuple[str, ...]:
    """Label names from outside."""
    names = message.item("labels", tuple)
    sound = all(isinstance(name, str) and 0 < len(name) <= _LONGEST for name in names)
    labels = tuple(str(name) for name in names)
    if (
        not sound
        or not 1 <= len(labels) <= terms.most_classes
        or list(labels) != sorted(set(labels))
    ):
        raise DamagedMessageError(
            f"labels must be 1 to {terms.most_classes} different names in alphabetical order."
        )
    return labels


def local_data(
    terms: RunTerms, examples: Examples, features: Features | None, agreed: Agreed, who: Identity
) -> LocalData:
    """What the peer trains on; the labels' signs come with each training."""
    rows = lifted_rows(examples, features, agreed)
    has = declared_features(terms, examples, rows, agreed)
    signs = np.ones(len(rows))
    mapping = None if terms.text is None else terms.text.mapping
    if mapping is not None and features is not None and isinstance(examples, Documents):
        words = features.word_rows(examples.texts)
        matrix = mapping.matrix(words.shape[1])
        return MappedData(rows, signs, has, who, words, matrix, examples.groups)
    if examples.groups is None:
        return LocalData(rows, signs, has, who)
    return SentenceData(rows, signs, has, who, examples.groups)


def checked_examples(name: str, terms: RunTerms, examples: Examples) -> Examples:
    """A peer's examples as the run wants them, sentences where those have labels."""
    if isinstance(examples, Documents) != (terms.text is not None):
        wanted = "documents" if terms.text is not None else "rows of numbers"
        raise DataError(f"{name} must bring {wanted}: this run is about those.")
    if isinstance(examples, Table):
        own_columns(examples, terms.features)
        return examples
    if terms.text is not None and terms.text.unit == "sentence":
        return examples.split()
    return examples


def own_columns(table: Table, features: tuple[str, ...]) -> NDArray[np.intp]:
    """Where a peer's columns stand among the run's."""
    named = table.columns or features
    if table.rows.shape[1] != len(named):
        raise DataError(
            f"a peer's rows must have {len(named)} columns, as named, got "
            f"{table.rows.shape[1]}; name its own columns if it has others."
        )
    return feature_places(named, features)


def lifted_rows(examples: Examples, features: Features | None, agreed: Agreed) -> Floats:
    """A peer's examples over the columns of the run; one that it lacks is zero."""
    if isinstance(examples, Documents):
        if features is None:
            raise DataError("documents need the features of the run.")
        return features.rows(examples.texts)
    places = own_columns(examples, agreed.features)
    if np.array_equal(places, np.arange(len(agreed.features))):
        return examples.rows
    whole = np.zeros((len(examples), len(agreed.features)))
    whole[:, places] = examples.rows
    return whole


def declared_features(
    terms: RunTerms, examples: Examples, rows: Floats, agreed: Agreed
) -> NDArray[np.bool_]:
    """f_p: which columns the peer has.

    Private Text Classification, Protocol 2: the binary vector f_p.
    """
    if isinstance(examples, Table):
        has = np.zeros(len(agreed.features), bool)
        has[own_columns(examples, agreed.features)] = True
        return has
    if terms.text is not None and terms.text.declared == "used":
        return np.asarray((rows != 0).any(axis=0))
    return np.ones(len(agreed.features), bool)


def add_signs(data: LocalData, labels: tuple[str, ...], positives: tuple[str, ...]) -> LocalData:
    """The same rows with 1 for one label and -1 for the others; of several, a column each."""
    own = np.array(labels, object)
    columns = [np.where(own == positive, 1.0, -1.0) for positive in positives]
    return replace(data, signs=columns[0] if len(columns) == 1 else np.column_stack(columns))
