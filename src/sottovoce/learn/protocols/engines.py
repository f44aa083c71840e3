"""A trained classifier's parties in one process, by mode: whom to ask, and what it costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.party import Exchange, Faults, Party, StalledError, Traffic, new_session
from sottovoce.learn.protocols.block_training import (
    BlockCoordinator,
    BlockData,
    BlockLayout,
    BlockPeer,
)
from sottovoce.learn.protocols.given import Training
from sottovoce.learn.protocols.local import feature_places
from sottovoce.learn.protocols.open_training import (
    TrainingCoordinator,
    TrainingKeyHolder,
    TrainingPeer,
)
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER, TrainingTerms
from sottovoce.learn.sums import secure_total

Parts: TypeAlias = Mapping[str, Floats]
Offset: TypeAlias = Literal["print", "mean"]
Signs: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class Query:
    """Rows to classify.

    Attributes:
        asker: the peer that asks.
        parts: for each peer that knows the entities, its lifted rows; the asker's among them.
        offset: what other peers add for entities that they do not know: nothing, the rado as
            printed, or its mean row.
    """

    asker: str
    parts: Parts
    offset: Offset | None = None

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.parts[self.asker])


class Engine(Protocol):
    """The parties behind a classifier."""

    exchange: Exchange
    penalty: float
    model: LinearModel | None

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Classify rows by the mode's protocol."""


def claims(query: Query, holdings: Mapping[str, NDArray[np.bool_]]) -> dict[str, NDArray[np.bool_]]:
    """Which features each contributor adds: its own that nobody before it has, the asker first.

    Alone, the asker adds every feature: one that it lacks counts as zero, as in training.
    """
    width = len(holdings[query.asker])
    if len(query.parts) == 1 and query.offset is None:
        return {query.asker: np.ones(width, bool)}
    others = holdings if query.offset is not None else query.parts
    order = [query.asker, *(name for name in sorted(others) if name != query.asker)]
    taken, claimed = np.zeros(width, bool), {}
    for name in order:
        claimed[name] = holdings[name] & ~taken
        taken |= holdings[name]
    return claimed


class OpenEngine:
    """Everybody has theta, and classifies alone, or adds local scores (eq. 24) securely."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        key: object = None,
        faults: Faults | None = None,
    ) -> None:
        self._terms, self._training = terms, training
        coordinator = TrainingCoordinator(terms)
        peers = [TrainingPeer(name, terms, data) for name, data in training.data.items()]
        parties: list[Party] = [coordinator, *peers]
        if terms.recipe.way == "packed":
            parties.append(TrainingKeyHolder(terms, key or _fresh_key(terms)))  # type: ignore[arg-type] # a PrivateKey
        self.exchange = Exchange(parties, faults=faults)
        self.exchange.run()
        told = [peer for peer in peers if peer.model is not None]
        if not told or coordinator.model is None:
            raise StalledError("nobody who is left knows the classifier.")
        self.model: LinearModel | None = told[0].model
        self.penalty = told[0].penalty
        self.kept = told[0].kept

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Local scores, summed over the peers that hold parts of the same entities.

        Private Text Classification, Protocol 3 in the form of eq. 24.
        """
        if query.offset is not None:
            raise ParameterError(
                "offset is for the paper and hidden modes; in the open mode every peer has theta."
            )
        model = self.model
        if model is None:
            raise StalledError("there is no classifier.")
        holdings = {name: data.has for name, data in self._training.data.items()}
        claimed = claims(query, holdings)
        scores = {
            name: query.parts[name] @ np.where(own, model.coefficients, 0.0)
            for name, own in claimed.items()
        }
        scores[query.asker] = scores[query.asker] + model.intercept
        if len(scores) == 1:
            return np.where(scores[query.asker] > 0, 1, -1), Traffic()
        recipe = self._terms.recipe
        summed = secure_total(
            scores,
            bound=float(1 << (62 - recipe.fraction_bits)) / len(scores),
            fraction_bits=recipe.fraction_bits,
            allow_two=recipe.allow_two,
        )
        return np.where(summed.total > 0, 1, -1), summed.traffic


class BlockEngine(OpenEngine):
    """Peers with different features and no entity matching: everybody has theta in the end."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        shared: tuple[str, ...],
        *,
        faults: Faults | None = None,
    ) -> None:
        self._terms, self._training = terms, training
        data, layout = block_parts(training, shared)
        terms = replace(
            terms, identities={name: each.identity.public for name, each in data.items()}
        )
        coordinator = BlockCoordinator(terms, layout)
        peers = [BlockPeer(name, terms, layout, each) for name, each in data.items()]
        self.exchange = Exchange([coordinator, *peers], faults=faults)
        self.exchange.run()
        if peers[0].model is None:
            raise StalledError("nobody who is left knows the classifier.")
        self.model = in_dictionary(peers[0].model, training, shared)
        self.penalty = peers[0].penalty


def block_parts(
    training: Training, shared: tuple[str, ...]
) -> tuple[dict[str, BlockData], BlockLayout]:
    """Each peer's shared and own columns, and where they stand in theta."""
    common = feature_places(shared, training.dictionary)
    data, own = {}, {}
    for name, each in training.data.items():
        if not each.has[common].all():
            raise InputError(f"{name} must have every shared feature; share only what all have.")
        places = _own_places(training, name, shared)
        own[name] = len(places)
        if not len(places):
            raise InputError(f"{name} must have at least one feature of its own.")
        data[name] = BlockData(each.rows[:, common], each.rows[:, places], each.signs)
    if sum(own.values()) + len(shared) != len(training.dictionary):
        raise InputError("a feature must be shared by all peers or belong to one of them.")
    return data, BlockLayout(len(shared), own)


def in_dictionary(
    model: LinearModel, training: Training, shared: tuple[str, ...]
) -> LinearModel:
    """A classifier in the order of block rados as one in the order of the dictionary."""
    order = [feature_places(shared, training.dictionary)]
    order += [_own_places(training, name, shared) for name in sorted(training.data)]
    coefficients = np.zeros(len(training.dictionary))
    coefficients[np.concatenate(order)] = model.coefficients
    return LinearModel(coefficients, model.intercept)


def _own_places(training: Training, name: str, shared: tuple[str, ...]) -> NDArray[np.intp]:
    names = [each for each in training.names[name] if each not in shared]
    return feature_places(names, training.dictionary)


class HiddenEngine:
    """Coordinator and key holder hold theta in shares, and answer within the budget."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        keys: tuple[object, object] | None = None,
        faults: Faults | None = None,
    ) -> None:
        from sottovoce.learn.protocols import budget, hidden_training  # noqa: PLC0415 - needs gmpy2

        own, held = keys or (_fresh_key(terms), _fresh_key(terms))
        self._terms, self._training = terms, training
        self._keys = {COORDINATOR: own, KEY_HOLDER: held}
        self._coordinator = hidden_training.HiddenCoordinator(terms, own)  # type: ignore[arg-type] # PrivateKey
        self._holder = hidden_training.HiddenKeyHolder(terms, held)  # type: ignore[arg-type] # PrivateKey
        self._peers = {
            name: hidden_training.HiddenPeer(name, terms, data)
            for name, data in training.data.items()
        }
        self.exchange = Exchange(
            [self._coordinator, self._holder, *self._peers.values()], faults=faults
        )
        self.exchange.run()
        self.model: LinearModel | None = None
        self.penalty = hidden_training.checked_penalty(terms)
        rows = terms.recipe.queries
        self.budgets = {
            name: budget.QueryBudget(terms.peers, rows) for name in (COORDINATOR, KEY_HOLDER)
        }
        self._rados: dict[str, Floats] = {}

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Private Text Classification, Protocol 3, corrected."""
        from sottovoce.learn.protocols import hidden_classify as hidden  # noqa: PLC0415 - gmpy2

        if query.offset == "print":
            raise ParameterError('offset="print" is the paper mode\'s; use offset="mean".')
        weights = self._weights(query)
        classifier = self._classifier(query.asker)
        terms = hidden.QueryTerms(
            new_session(),
            query.asker,
            tuple(weights),
            query.rows,
            classifier.modulus,
            len(self._terms.peers),
        )
        contributors = {
            name: hidden.HiddenContributor(name, terms, self._classifier(name), rows)
            for name, rows in weights.items()
        }
        scorers = [self._scorer(name, terms) for name in (COORDINATOR, KEY_HOLDER)]
        traffic = Exchange([*contributors.values(), *scorers]).run()
        signs = contributors[query.asker].signs
        if signs is None:
            raise StalledError("the query ended without an answer.")
        return signs, traffic

    def _scorer(self, name: str, terms: object) -> Party:
        from sottovoce.learn.protocols.hidden_classify import HiddenScorer  # noqa: PLC0415 - gmpy2

        other = KEY_HOLDER if name == COORDINATOR else COORDINATOR
        public = self._keys[other].public  # type: ignore[attr-defined] # a PrivateKey
        return HiddenScorer(name, terms, self._keys[name], public, self.budgets[name])  # type: ignore[arg-type]

    def _weights(self, query: Query) -> dict[str, Floats]:
        """Each contributor's standardised numbers, zero where it adds nothing."""
        holdings = {name: data.has for name, data in self._training.data.items()}
        weights = {}
        for name, own in claims(query, holdings).items():
            standard = self._classifier(name).standard
            if name in query.parts:
                rows = standard.applied(query.parts[name])
            else:
                rows = np.tile(self._mean_row(name), (query.rows, 1))
            mask = np.append(own[standard.kept.kept], name == query.asker)
            weights[name] = rows * mask
        return weights

    def _mean_row(self, name: str) -> Floats:
        """The mean row of a peer's rado: what it adds for entities that it does not know."""
        from sottovoce.learn.protocols.paper_training import extra_rado  # noqa: PLC0415 - gmpy2

        if name not in self._rados:
            data = self._training.data[name]
            rows = self._classifier(name).standard.applied(data.rows)
            rado, count = extra_rado(rows, data.signs)
            self._rados[name] = rado / max(count, 1)
        return self._rados[name]

    def _classifier(self, name: str):  # type: ignore[no-untyped-def] # noqa: ANN202 - needs gmpy2
        classifier = self._peers[name].classifier
        if classifier is None:
            raise InputError(f"{name} has not finished the training.")
        return classifier


class PaperEngine:
    """The paper's coordinator, who sees every score."""

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        key: object = None,
        faults: Faults | None = None,
    ) -> None:
        from sottovoce.learn.protocols import paper_training as paper  # noqa: PLC0415 - gmpy2

        self._terms, self._training = terms, training
        self._key = key or _fresh_key(terms)
        self.coordinator = paper.PaperCoordinator(terms, self._key)  # type: ignore[arg-type] # PrivateKey
        self._peers = {
            name: paper.PaperPeer(name, terms, data) for name, data in training.data.items()
        }
        self.exchange = Exchange([self.coordinator, *self._peers.values()], faults=faults)
        self.exchange.run()
        self.model = self.coordinator.model
        self.penalty = terms.recipe.penalty or 0.0
        self.seen_scores: list[Floats] = []

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Private Text Classification, Protocol 3, as printed unless told otherwise."""
        from sottovoce.learn.protocols import paper_classify as paper  # noqa: PLC0415 - gmpy2

        holdings = {name: data.has for name, data in self._training.data.items()}
        claimed = claims(query, holdings)
        terms = paper.PaperQuery(
            new_session(),
            tuple(claimed),
            query.rows,
            len(self._terms.peers),
            len(self._terms.features) + 1,
        )
        contributors = {}
        for name, own in claimed.items():
            classifier = self._peers[name].classifier
            if classifier is None:
                raise InputError(f"{name} has not finished the training.")
            if name in query.parts:
                rows = classifier.standard.applied(query.parts[name])[:, classifier.has]
            else:
                rows = paper.offset_weights(classifier, query.offset or "print", query.rows)
            mask = np.append(own, name == query.asker)[classifier.has]
            contributors[name] = paper.PaperContributor(name, terms, classifier, rows * mask)
        scorer = paper.PaperScorer(terms, self._key)  # type: ignore[arg-type] # PrivateKey
        traffic = Exchange([scorer, *contributors.values()]).run()
        signs = contributors[query.asker].signs
        if signs is None or scorer.scores is None:
            raise StalledError("the query ended without an answer.")
        self.seen_scores.append(scorer.scores)
        return signs, traffic


def _fresh_key(terms: TrainingTerms):  # type: ignore[no-untyped-def] # noqa: ANN202 - a PrivateKey
    from sottovoce.learn.paillier import generate_key  # noqa: PLC0415 - masks need no gmpy2

    return generate_key(terms.recipe.key_bits)
