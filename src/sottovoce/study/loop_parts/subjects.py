"""Whose posts go round the loop, and what an adversary and a holder publicly know."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sottovoce.assess.evaluation import JudgedTopic
from sottovoce.corpus.counting import count_batches
from sottovoce.corpus.simulate import Community
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.release.counts import Floats
from sottovoce.study.assess_parts.communities import (
    DEFAULT,
    simulated_catalogue,
    simulated_community,
)
from sottovoce.study.assess_parts.knowledge import Knowledge, Training, train_knowledge
from sottovoce.topics import Catalogue


@dataclass(frozen=True, eq=False)
class Subject:
    """A community as the loop takes it."""

    posts: pa.Table
    knowledge: Knowledge
    catalogue: Catalogue
    """All its topics; the adversary's knowledge may have fewer."""
    words: tuple[str, ...]
    """That are counted and released: a public list."""
    frequencies: Floats | None = None
    """How often the words occur in public texts; None: nobody knows."""
    judged: tuple[JudgedTopic, ...] = ()
    """Who is afflicted, where that is known."""
    seed: int = 0


def simulated_subject(community: Community, training: Training) -> Subject:
    """A simulated community, with an adversary who has learnt from its background."""
    catalogue = simulated_catalogue(community)
    seed = community.parameters.seed
    texts = community.background["text"]
    knowledge = train_knowledge(texts.to_pylist(), catalogue, training, seed, ("lda",))
    words = public_words(catalogue)
    judged = asked_of(simulated_community(community, DEFAULT).judged, knowledge)
    frequencies = word_frequencies(texts, words)
    return Subject(community.posts, knowledge, catalogue, words, frequencies, judged, seed)


def asked_of(judged: Sequence[JudgedTopic], knowledge: Knowledge) -> tuple[JudgedTopic, ...]:
    """The judged topics that the adversary can ask about."""
    asked = {topic.name for topic in knowledge.catalogue.sensitive}
    return tuple(topic for topic in judged if topic.name in asked)


def public_words(catalogue: Catalogue) -> tuple[str, ...]:
    """The catalogue's single words: public, since the catalogue is."""
    words = (word for topic in catalogue for word in topic.words if " " not in word)
    return tuple(dict.fromkeys(words))


def word_frequencies(texts: pa.ChunkedArray, words: Sequence[str]) -> Floats:
    """How often each word occurs in public texts; one more, so that none has nothing."""
    counted = count_batches(texts.chunks, Vocabulary.public(words, origin="a public list"))
    occurrences: Floats = np.sum([np.asarray(each.sum(axis=0)) for each in counted], axis=0)
    return occurrences + 1.0
