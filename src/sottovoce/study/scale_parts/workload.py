"""The work that is measured: a simulated query log, and an adversary who knows its topics."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sottovoce.corpus.simulate.query_log import QueryLog
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel

MEASURE = "lda-dt"
KEPT = 3
"""As many buckets as -m asks for."""
_TOPICS_OF_A_DOMAIN = 10
_SALIENT_WORDS = 20
_ALPHA = 0.1


@dataclass(frozen=True)
class Workload:
    """A log, the model that it was drawn from, and a catalogue of all its topics.

    Each latent topic is a topic of the catalogue, ten make a domain, and the first of each ten is
    sensitive.
    """

    log: QueryLog

    @cached_property
    def model(self) -> LdaModel:
        """The log's own distributions: training would only blur them, and take its time."""
        vocabulary = Vocabulary.public(sorted(self.log.words))
        place = {word: number for number, word in enumerate(self.log.words)}
        rows = [place[word] for word in vocabulary.terms]
        alpha = np.full(self.log.topics, _ALPHA)
        return LdaModel(self.log.phi()[rows], alpha, vocabulary, TokenRules())

    @cached_property
    def catalogue(self) -> Catalogue:
        """Every topic, matched to its dimension."""
        words, own = self.log.words, self.log.topic_words
        return Catalogue(
            tuple(
                Topic(
                    f"topic {number}",
                    tuple(words[word] for word in own[number, :_SALIENT_WORDS]),
                    f"domain {number // _TOPICS_OF_A_DOMAIN}",
                    sensitive=number % _TOPICS_OF_A_DOMAIN == 0,
                    dimensions=(number,),
                )
                for number in range(self.log.topics)
            ),
            self.model.fingerprint,
        )
