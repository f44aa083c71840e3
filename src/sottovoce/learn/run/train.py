"""A training from documents to a classifier at every peer, as one script for each party.

Private Text Classification, Protocol 2, with LOCALTEXT before it: the peers agree on the features
and the labels, and train one classifier for two labels or, for more, one for each against the
others: all of them from the same opened sums where these do not depend on the label.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.errors import DataError
from sottovoce.learn.documents import Examples, data_digest, held_out, keyed_digest
from sottovoce.learn.features import Features
from sottovoce.learn.modes import open as open_training
from sottovoce.learn.openings import (
    ChangedDocuments,
    EarlierSums,
    TrainedDocuments,
    changed_before,
    word_rules,
)
from sottovoce.learn.run import records
from sottovoce.learn.run.agree import (
    AGREEING_STAGES,
    Agreed,
    add_signs,
    agreeing_coordinator,
    agreeing_helper,
    agreeing_peer,
    checked_examples,
    local_data,
    own_labels,
)
from sottovoce.learn.run.dictionary import PeerSecrets
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.sums.fixed import TRAINED, Among
from sottovoce.learn.support import OpenedLimit
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, LocalData, TrainingTerms
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.stages import Stage, Staged

if TYPE_CHECKING:
    from sottovoce.learn.paillier.keys import PrivateKey


Record: TypeAlias = dict[str, Value]
RunScript: TypeAlias = Generator[Stage, Any, Record]


def train_plan(terms: RunTerms) -> tuple[str, ...]:
    """The names of all stages that a training may have, in their order."""
    inner = _stages(terms)
    trainings = range(1 if terms.mode == "open" else terms.most_trainings)
    return (*AGREEING_STAGES, *(prefix(k) + stage for k in trainings for stage in inner))


def prefix(training: int) -> str:
    """What the stages of one two-class training are called by."""
    return f"class {training}: "


def training_peer(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A peer's part; what it may not bring is refused at once."""
    brought = brought_examples(name, terms, holdings)

    def script() -> RunScript:
        agreed, features = yield from agreeing_peer(
            name, terms, brought.secrets, brought.examples, brought.among
        )
        data = brought.data(terms, features, agreed)

        def make(inner: TrainingTerms, positives: tuple[str, ...], first: Any) -> Staged:  # noqa: ANN401 - a party
            return _peer(name, terms, inner, add_signs(data, brought.labels, positives), first)

        trained = yield from _trainings(terms, agreed, make)
        return records.peer_record(terms, agreed, features, data, trained)

    return script()


@dataclass(frozen=True, repr=False)
class Brought:
    """Who a peer is, what it trains on, its labels, among whom, and words that it has dropped."""

    secrets: PeerSecrets
    examples: Examples
    labels: tuple[str, ...]
    tag: bytes
    among: Among
    limit: OpenedLimit
    changed: tuple[ChangedDocuments, ...] = ()
    earlier: EarlierSums | None = None
    fewest: int = 0

    def data(self, terms: RunTerms, features: Features | None, agreed: Agreed) -> LocalData:
        """The examples over the common columns; features that must not be opened are marked."""
        data = local_data(terms, self.examples, features, agreed, self.secrets.identity)
        names = features.names if features else agreed.features
        unopened = frozenset[str]().union(
            *(each.unopened_words(self.fewest) for each in self.changed)
        )
        vetoed = None
        if unopened and features is None:
            vetoed = np.isin(agreed.features, list(unopened))
        elif unopened and features is not None:
            vetoed = features.columns_of(unopened)
        changed = tuple(
            (each.documents, _uses_of(each.uses, features, names))
            for each in self.changed
            if each.documents
        )
        return replace(
            data,
            tag=self.tag,
            among=self.among,
            limit=self.limit,
            vetoed=vetoed,
            changed=changed,
            earlier=self.earlier,
        )


def brought_examples(name: str, terms: RunTerms, holdings: Holdings) -> Brought:
    """What a peer brings, as the run wants it; refused if it differs too little from before."""
    identity = holdings.known_identity(name, terms)
    given = checked_examples(name, terms, holdings.wanted_examples(name))
    secret = holdings.wanted_secret(name)
    examples = given.part(~held_out(given, terms.held_out, secret))
    if not len(examples) or examples.labels is None:
        raise DataError(
            f"{name} must have at least 1 labelled document to train with, got none; bring "
            "labels, or hold out less."
        )
    own_labels(examples.labels, terms)
    # Of all its data: what is held out of them makes no other classifier to speak of.
    among = Among.from_memory(holdings.memory, terms.session, TRAINED)
    secrets = PeerSecrets(identity, secret, holdings.memory)
    tag = data_digest(given, secret)
    brought = Brought(secrets, examples, examples.labels, tag, among, holdings.limit)
    if holdings.memory is None:
        return brought
    recipe = terms.recipe
    documents = TrainedDocuments.from_examples(examples, terms.text, secret)
    fewest, session = recipe.fewest_documents, terms.session
    changed = changed_before(documents, holdings.memory, session, fewest)
    meant = keyed_digest(secret, "columns", *_meaning(terms)).hex()
    earlier = EarlierSums(holdings.memory, session, *documents.opened_digests, meant)
    return replace(brought, changed=changed, earlier=earlier, fewest=fewest)


def _uses_of(words: Mapping[str, int], features: Features | None, names: tuple[str, ...]) -> Floats:
    if features is None:
        return np.array([words.get(name, 0) for name in names], np.float64)
    return features.uses_of(words)


def _meaning(terms: RunTerms) -> tuple[Value, ...]:
    """What the name of a column means: rados are others in every run."""
    text = terms.text
    match terms.recipe.statistics:
        case "rados":
            drawn = terms.session
        case "exact":
            drawn = b""
        case _:
            assert_never(terms.recipe.statistics)
    if text is None:
        return (drawn,)
    mapped = text.mapping is not None
    buckets = (text.width, text.buckets, int(text.keyed)) if not text.words or mapped else ()
    return (drawn, *word_rules(text), text.values, text.words if mapped else (), *buckets)


def training_helper(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    """A helper's part."""
    part = training_coordinator if name == COORDINATOR else training_key_holder
    return part(terms, holdings)


def training_coordinator(terms: RunTerms, holdings: Holdings) -> RunScript:
    """The coordinator's part."""
    key = None if terms.mode == "open" else holdings.wanted_key(COORDINATOR)
    helpers = (KEY_HOLDER,) if terms.mode == "hidden" else ()

    def script() -> RunScript:
        agreed = yield from agreeing_coordinator(terms, helpers)
        trained = yield from _trainings(
            terms, agreed, lambda t, _, first: _coordinator(t, key, first, holdings.limit)
        )
        return records.helper_record(terms, agreed, trained)

    return script()


def training_key_holder(terms: RunTerms, holdings: Holdings) -> RunScript:
    """The key holder's part."""
    from sottovoce.learn.modes.hidden import HiddenKeyHolder  # noqa: PLC0415 - masks need no gmpy2

    key = holdings.wanted_key(KEY_HOLDER)

    def script() -> RunScript:
        agreed = yield from agreeing_helper(KEY_HOLDER, terms)
        trained = yield from _trainings(
            terms, agreed, lambda inner, _, first: HiddenKeyHolder(inner, key, first)
        )
        return records.helper_record(terms, agreed, trained)

    return script()


def _trainings(
    terms: RunTerms, agreed: Agreed, made: Callable[[TrainingTerms, tuple[str, ...], Any], Staged]
) -> Generator[Stage, Any, list[Any]]:
    """All labels in one training, or one after the other where each is solved by itself.

    In the hidden mode all sums are opened with the first one, and the others take what came of it.
    """
    peers, positives = agreed.peers, agreed.positives
    trained: list[Any] = []
    if terms.mode == "open":
        together = replace(
            agreed.training(terms, peers), classifiers=len(positives), opens_labels=True
        )
        party: Any = yield from made(together, positives, None).nest(prefix(0))
        return [party]
    for k, positive in enumerate(positives):
        inner = agreed.training(terms, peers)
        first = trained[0] if trained else None
        party = yield from made(inner, (positive,), first).nest(prefix(k))
        peers = getattr(party, "survivors", peers)
        trained.append(party)
    return trained


def _stages(terms: RunTerms) -> tuple[str, ...]:
    match terms.mode:
        case "open":
            return open_training.STAGES
        case "hidden":
            from sottovoce.learn.modes import hidden as hidden_training  # noqa: PLC0415 - masks need no gmpy2

            return hidden_training.STAGES
        case _:
            assert_never(terms.mode)


def _peer(
    name: str,
    terms: RunTerms,
    inner: TrainingTerms,
    data: LocalData,
    first: Any,  # noqa: ANN401 - the party of the run's first label, or None
) -> Staged:
    match terms.mode:
        case "open":
            return open_training.TrainingPeer(name, inner, data)
        case "hidden":
            from sottovoce.learn.modes.hidden import HiddenPeer  # noqa: PLC0415 - likewise

            return HiddenPeer(name, inner, data, first)
        case _:
            assert_never(terms.mode)


def _coordinator(
    inner: TrainingTerms,
    key: "PrivateKey | None",
    first: Any,  # noqa: ANN401 - likewise
    limit: OpenedLimit,
) -> Staged:
    if key is None:
        return open_training.TrainingCoordinator(inner, limit)
    from sottovoce.learn.modes.hidden import HiddenCoordinator  # noqa: PLC0415 - likewise

    return HiddenCoordinator(inner, key, first)
