"""What comes before a training: the peers' features and labels, agreed through the coordinator."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats
from sottovoce.learn.protocols.local import LocalData, feature_places
from sottovoce.learn.protocols.stages import Stage
from sottovoce.learn.protocols.terms import TrainingTerms
from sottovoce.learn.runs.dictionary import (
    KEY_STAGES,
    NOMINATION_STAGES,
    Buckets,
    hearing_helper,
    nominating_coordinator,
    nominating_peer,
    word_key_coordinator,
    word_key_peer,
)
from sottovoce.learn.runs.labels import (
    LABEL_STAGES,
    agreed_labels_coordinator,
    agreed_labels_peer,
    hearing_labels,
    own_labels,
)
from sottovoce.learn.runs.opening import OPENING_STAGES, opening_coordinator, opening_party
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.sums import Identity
from sottovoce.learn.texts.data import SentenceData
from sottovoce.learn.texts.documents import Documents, Examples, Table
from sottovoce.learn.texts.features import Features, nominated

AGREEING_STAGES = (*OPENING_STAGES, *KEY_STAGES, *NOMINATION_STAGES, *LABEL_STAGES)


class WrongExamplesError(InputError):
    """A peer brings examples of another kind or width than the run's."""


@dataclass(frozen=True)
class Agreed:
    """What all parties know before the first training of a run.

    Attributes:
        features: the columns' names.
        labels: the label names in alphabetical order.
        peers: who is still there.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    peers: tuple[str, ...]

    def training(self, terms: RunTerms, peers: tuple[str, ...]) -> TrainingTerms:
        """The terms of one two-class training among ``peers``."""
        identities = {peer: terms.identities[peer] for peer in peers}
        return TrainingTerms(terms.session, identities, self.features, terms.recipe)

    @property
    def positives(self) -> tuple[str, ...]:
        """The label that each two-class training tells from the others; the second of two."""
        return self.labels[1:] if len(self.labels) == 2 else self.labels  # noqa: PLR2004 - two


def agreeing_peer(
    name: str, terms: RunTerms, identity: Identity, examples: Examples
) -> Generator[Stage, Any, tuple[Agreed, Features | None]]:
    """A peer's part."""
    yield from opening_party(name, terms)
    features, peers = None, terms.peers
    own = own_labels(examples.labels, terms)
    if terms.text is not None and isinstance(examples, Documents):
        key = b""
        if terms.text.needs_key:
            key = yield from word_key_peer(name, terms, identity)
        chosen = None
        if terms.text.dictionary == "agreed":
            marks = nominated(examples.texts, terms.text, key)
            chosen, peers = yield from nominating_peer(name, terms, identity, marks)
        features = Features(terms.text, key, chosen)
    labels = yield from agreed_labels_peer(name, terms, own)
    return Agreed(features.names if features else terms.features, labels, peers), features


def agreeing_coordinator(
    terms: RunTerms, helpers: tuple[str, ...]
) -> Generator[Stage, Any, Agreed]:
    """The coordinator's part; ``helpers`` are told what the peers are."""
    yield from opening_coordinator(terms)
    chosen, peers = None, terms.peers
    text = terms.text
    if text is not None and text.needs_key:
        yield from word_key_coordinator(terms)
        if text.dictionary == "agreed":
            chosen, peers = yield from nominating_coordinator(terms, text, helpers)
    labels = yield from agreed_labels_coordinator(terms, peers, helpers)
    return Agreed(column_names(terms, chosen), labels, peers)


def agreeing_helper(name: str, terms: RunTerms) -> Generator[Stage, Any, Agreed]:
    """A key holder's or an intermediary's part: it hears."""
    yield from opening_party(name, terms)
    chosen, peers = None, terms.peers
    if terms.text is not None and terms.text.dictionary == "agreed":
        chosen, peers = yield from hearing_helper(name, terms)
    labels = yield from hearing_labels(name, terms)
    return Agreed(column_names(terms, chosen), labels, peers)


def column_names(terms: RunTerms, chosen: Buckets | None) -> tuple[str, ...]:
    """What all parties call the columns."""
    return terms.features if terms.text is None else Features(terms.text, chosen=chosen).names


def checked_examples(name: str, terms: RunTerms, examples: Examples) -> Examples:
    """A peer's examples as the run wants them, sentences where those have labels."""
    if isinstance(examples, Documents) != (terms.text is not None):
        wanted = "documents" if terms.text is not None else "rows of numbers"
        raise WrongExamplesError(f"{name} must bring {wanted}: this run is about those.")
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
        raise WrongExamplesError(
            f"a peer's rows must have {len(named)} columns, as named, got "
            f"{table.rows.shape[1]}; name its own columns if it has others."
        )
    return feature_places(named, features)


def lifted_rows(examples: Examples, features: Features | None, agreed: Agreed) -> Floats:
    """A peer's examples over the columns of the run; one that it lacks is zero."""
    if isinstance(examples, Documents):
        if features is None:
            raise WrongExamplesError("documents need the features of the run.")
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


def local_data(
    terms: RunTerms, examples: Examples, features: Features | None, agreed: Agreed, who: Identity
) -> LocalData:
    """What the peer trains on; the labels' signs come with each training."""
    rows = lifted_rows(examples, features, agreed)
    has = declared_features(terms, examples, rows, agreed)
    signs = np.ones(len(rows))
    if examples.groups is None:
        return LocalData(rows, signs, has, who)
    return SentenceData(rows, signs, has, who, examples.groups)


def signed(data: LocalData, labels: tuple[str, ...], positive: str) -> LocalData:
    """The same rows with 1 for one label and -1 for the others."""
    return replace(data, signs=np.where(np.array(labels, object) == positive, 1.0, -1.0))
