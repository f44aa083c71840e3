"""The hidden mode's parties in one process."""

import numpy as np

from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.paillier import PrivateKey, generate_key
from sottovoce.learn.party import Exchange, Faults, StalledError, Traffic, new_session
from sottovoce.learn.protocols.budget import planned_budget
from sottovoce.learn.protocols.engines import Query, Signs, claims
from sottovoce.learn.protocols.given import Training
from sottovoce.learn.protocols.hidden_classify import HiddenContributor, HiddenScorer, QueryTerms
from sottovoce.learn.protocols.hidden_messages import checked_penalty
from sottovoce.learn.protocols.hidden_training import (
    HiddenClassifier,
    HiddenCoordinator,
    HiddenKeyHolder,
    HiddenPeer,
)
from sottovoce.learn.protocols.paper_training import extra_rado
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER, TrainingTerms


class HiddenEngine:
    """Coordinator and key holder hold theta in shares, and answer within the budget."""

    model: LinearModel | None = None

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        keys: tuple[PrivateKey, PrivateKey] | None = None,
        faults: Faults | None = None,
    ) -> None:
        bits = terms.recipe.key_bits
        own, held = keys or (generate_key(bits), generate_key(bits))
        self._terms, self._training = terms, training
        self._keys = {COORDINATOR: own, KEY_HOLDER: held}
        self._coordinator = HiddenCoordinator(terms, own)
        self._holder = HiddenKeyHolder(terms, held)
        self._peers = {name: HiddenPeer(name, terms, data) for name, data in training.data.items()}
        self.exchange = Exchange(
            [self._coordinator, self._holder, *self._peers.values()], faults=faults
        )
        self.exchange.run()
        self.penalty = checked_penalty(terms)
        standard = self._coordinator.standard
        self.kept = None if standard is None else standard.kept
        self.budgets = {
            party.name: planned_budget(terms.recipe, party.features, terms.peers)
            for party in (self._coordinator, self._holder)
        }
        self._rados: dict[str, Floats] = {}

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Private Text Classification, Protocol 3, corrected."""
        if query.offset == "print":
            raise ParameterError('offset="print" is the paper mode\'s; use offset="mean".')
        weights = self._weights(query)
        classifier = self._classifier(query.asker)
        terms = QueryTerms(
            new_session(),
            query.asker,
            tuple(weights),
            query.rows,
            classifier.modulus,
            classifier.score_bound,
            len(self._terms.peers),
        )
        contributors = {
            name: HiddenContributor(name, terms, self._classifier(name), rows)
            for name, rows in weights.items()
        }
        scorers = [self._scorer(name, terms) for name in (COORDINATOR, KEY_HOLDER)]
        traffic = Exchange([*contributors.values(), *scorers]).run()
        signs = contributors[query.asker].signs
        if signs is None:
            raise StalledError("the query ended without an answer.")
        return signs, traffic

    def _scorer(self, name: str, terms: QueryTerms) -> HiddenScorer:
        other = KEY_HOLDER if name == COORDINATOR else COORDINATOR
        public = self._keys[other].public
        return HiddenScorer(name, terms, self._keys[name], public, self.budgets[name])

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
        if name not in self._rados:
            data = self._training.data[name]
            rows = self._classifier(name).standard.applied(data.rows)
            rado, count = extra_rado(rows, data.signs)
            self._rados[name] = rado / max(count, 1)
        return self._rados[name]

    def _classifier(self, name: str) -> HiddenClassifier:
        classifier = self._peers[name].classifier
        if classifier is None:
            raise InputError(f"{name} has not finished the training.")
        return classifier
