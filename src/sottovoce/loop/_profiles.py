"""With which words a topic comes: from public knowledge, or learnt from the release itself."""

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.loop.knowledge import Knowledge
from sottovoce.topics import Catalogue, LdaModel, Topic
from sottovoce.topics.match import match_model

_PRIOR = 0.1


def public_profiles(knowledge: Knowledge, words: tuple[str, ...]) -> Floats:
    """Topics x words: the catalogue's words evenly, and half of it the latent model's, if any."""
    even = np.stack([_even(topic, words) for topic in knowledge.catalogue])
    latent = [space for space in knowledge.spaces if isinstance(space, LdaModel)]
    if not latent:
        return even
    learnt = _of_model(latent[0], knowledge.catalogue, words)
    known = learnt.sum(axis=1, keepdims=True) > 0
    return np.asarray(np.where(known, (even + learnt) / 2, even))


def learnt_profiles(topics: Floats, knowledge: Knowledge, words: tuple[str, ...]) -> Floats:
    """The same from ``topics`` (x words) of a release; public ones where none of them fits."""
    vocabulary = Vocabulary.public(words, origin="a public list")
    columns = np.ascontiguousarray(topics.T / topics.sum(axis=1), dtype=np.float32)
    model = LdaModel(columns, np.full(len(topics), _PRIOR), vocabulary, TokenRules())
    plain = Catalogue(
        tuple(
            Topic(topic.name, topic.words, topic.domain, topic.sensitive)
            for topic in knowledge.catalogue
        )
    )
    learnt = _of_model(model, match_model(plain, model).catalogue, words)
    known = learnt.sum(axis=1, keepdims=True) > 0
    return np.asarray(np.where(known, learnt, public_profiles(knowledge, words)))


def _even(topic: Topic, words: tuple[str, ...]) -> Floats:
    own = np.isin(words, topic.words).astype(np.float64)
    return np.asarray(own / max(1.0, own.sum()))


def _of_model(model: LdaModel, catalogue: Catalogue, words: tuple[str, ...]) -> Floats:
    """What the dimensions of each topic give ``words``; nothing where there is no dimension."""
    column = model.vocabulary.column
    places = np.array([column.get(word, -1) for word in words])
    found = np.zeros((len(catalogue), len(words)))
    for row, topic in enumerate(catalogue):
        shares = model.phi[:, list(topic.dimensions)].sum(axis=1, dtype=np.float64)
        found[row] = np.where(places >= 0, shares[places], 0.0)
        found[row] /= max(found[row].sum(), np.finfo(float).tiny)
    return found
