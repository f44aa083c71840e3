"""Small random models and posts, and strengths worked out the long way."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.w2v.model import SkipGramModel

Floats = NDArray[np.float64]


def words(count: int) -> Vocabulary:
    return Vocabulary.public([f"word{number}" for number in range(count)])


def random_lda(seed: int, *, vocabulary: int = 12, dimensions: int = 5) -> LdaModel:
    generator = np.random.default_rng(seed)
    phi = generator.dirichlet(np.full(vocabulary, 0.2), dimensions).T
    alpha = generator.uniform(0.01, 0.5, dimensions)
    return LdaModel(phi.astype(np.float32), alpha, words(vocabulary), TokenRules())


def random_skip_gram(seed: int, *, vocabulary: int = 12, dimensions: int = 5) -> SkipGramModel:
    vectors = np.random.default_rng(seed).normal(size=(vocabulary, dimensions))
    return SkipGramModel(vectors.astype(np.float32), words(vocabulary), TokenRules())


def random_posts(seed: int, *, rows: int = 20, vocabulary: int = 12) -> sparse.csr_array:
    """Posts of few words, some of none."""
    generator = np.random.default_rng(seed)
    dense = generator.poisson(0.5, (rows, vocabulary)) * (generator.random((rows, 1)) < 0.9)
    return sparse.csr_array(dense)


def matched(model: LdaModel, sets: Sequence[tuple[int, ...]]) -> Catalogue:
    topics = [
        Topic(f"topic {number}", ("word0",), "domain", dimensions=dimensions)
        for number, dimensions in enumerate(sets)
    ]
    return Catalogue(tuple(topics), model.fingerprint)


def of_words(*topics: Sequence[str], weights: Sequence[float] | None = None) -> Catalogue:
    given = None if weights is None else tuple(weights)
    return Catalogue(
        tuple(
            Topic(f"topic {number}", tuple(chosen), "domain", weights=given)
            for number, chosen in enumerate(topics)
        )
    )


def theta_the_long_way(model: LdaModel, post: NDArray[np.integer]) -> Floats:
    """Forward, then backward, in NumPy: one word at a time, shared out by all the others."""
    phi = model.phi.astype(np.float64)
    present = [word for word in np.flatnonzero(post) if phi[word].any()]
    if not present:
        return np.zeros(model.dimensions)
    shares = {}
    expected = model.alpha.copy()
    for word in present:
        weight = phi[word] * expected
        shares[word] = post[word] * weight / weight.sum()
        expected = expected + shares[word]
    for word in reversed(present):
        weight = phi[word] * (expected - shares[word] / post[word])
        expected = expected - shares[word] + post[word] * weight / weight.sum()
    result: Floats = expected / expected.sum()
    return result


def lda_the_long_way(model: LdaModel, post: NDArray[np.integer], chosen: tuple[int, ...]) -> float:
    theta = theta_the_long_way(model, post)
    indicator = np.zeros(model.dimensions)
    indicator[list(chosen)] = 1
    return cosine(theta, indicator)


def skip_gram_the_long_way(
    model: SkipGramModel, post: NDArray[np.integer], topic: Topic, *, positive: bool
) -> float:
    row = {term: model.vectors[number].astype(float) for term, number in _columns(model)}
    weights = topic.weights or (1.0,) * len(topic.words)
    aim = sum(weight * row[word] for weight, word in zip(weights, topic.words, strict=True))
    vector = np.zeros(model.dimensions)
    for term, number in _columns(model):
        similar = cosine(row[term], np.asarray(aim))
        vector += post[number] * (max(0.0, similar) if positive else similar) * row[term]
    return cosine(vector, np.asarray(aim))


def bow_the_long_way(post: NDArray[np.integer], columns: Sequence[int]) -> float:
    return cosine(post[list(columns)].astype(float), np.ones(len(columns)))


def cosine(one: Floats, other: Floats) -> float:
    norm = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / norm if norm else 0.0


def _columns(model: SkipGramModel) -> list[tuple[str, int]]:
    return list(model.vocabulary.column.items())
