"""The paper mode's parties in one process."""

import numpy as np

from sottovoce.errors import InputError
from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.support import KeptFeatures
from sottovoce.learn.paillier import PrivateKey, generate_key
from sottovoce.learn.party import Exchange, Faults, StalledError, Traffic, new_session
from sottovoce.learn.protocols.engines import Query, Signs, claims
from sottovoce.learn.protocols.given import Training
from sottovoce.learn.protocols.paper_classify import (
    PaperContributor,
    PaperQuery,
    PaperScorer,
    offset_weights,
)
from sottovoce.learn.protocols.paper_training import PaperCoordinator, PaperPeer
from sottovoce.learn.protocols.terms import TrainingTerms


class PaperEngine:
    """The paper's coordinator, who sees every score."""

    kept: KeptFeatures | None = None
    seen_scores: list[Floats]

    def __init__(
        self,
        terms: TrainingTerms,
        training: Training,
        *,
        key: PrivateKey | None = None,
        faults: Faults | None = None,
    ) -> None:
        self._terms, self._training = terms, training
        self._key = key or generate_key(terms.recipe.key_bits)
        self.coordinator = PaperCoordinator(terms, self._key)
        self._peers = {name: PaperPeer(name, terms, data) for name, data in training.data.items()}
        self.exchange = Exchange([self.coordinator, *self._peers.values()], faults=faults)
        self.exchange.run()
        self.model = self.coordinator.model
        self.penalty = terms.recipe.penalty or 0.0
        self.seen_scores = []

    def signs(self, query: Query) -> tuple[Signs, Traffic]:
        """Private Text Classification, Protocol 3, as printed unless told otherwise."""
        holdings = {name: data.has for name, data in self._training.data.items()}
        claimed = claims(query, holdings)
        terms = PaperQuery(
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
                rows = offset_weights(classifier, query.offset or "print", query.rows)
            mask = np.append(own, name == query.asker)[classifier.has]
            contributors[name] = PaperContributor(name, terms, classifier, rows * mask)
        scorer = PaperScorer(terms, self._key)
        traffic = Exchange([scorer, *contributors.values()]).run()
        signs = contributors[query.asker].signs
        if signs is None or scorer.scores is None:
            raise StalledError("the query ended without an answer.")
        self.seen_scores.append(scorer.scores)
        return signs, traffic
