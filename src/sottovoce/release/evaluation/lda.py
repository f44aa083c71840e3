"""Latent Dirichlet allocation of a count matrix, trained by tomotopy's collapsed Gibbs sampler."""

from typing import TYPE_CHECKING

import numpy as np

from sottovoce.errors import CorpusError, MissingExtraError, ParameterError
from sottovoce.release.counts import Counts, Floats

if TYPE_CHECKING:
    import tomotopy

MOST_TOKENS = 3_000_000


def fit_topics(
    counts: Counts,
    topics: int,
    seed: int,
    *,
    iterations: int = 200,
    alpha: float = 0.1,
    eta: float = 0.01,
    most_tokens: int = MOST_TOKENS,
) -> Floats:
    """phi, the probability of each word in each topic: topics x words, rows sum to 1.

    A corpus of more than ``most_tokens`` tokens (noise without compression makes hundreds of
    millions) is thinned first: each token is kept with the same probability. One worker, so that
    a seed gives one result.
    """
    _check(topics, iterations, most_tokens)
    model = _model(topics, alpha=alpha, eta=eta, seed=seed)
    _add_documents(model, thinned(counts, most_tokens, np.random.default_rng(seed)))
    model.train(iterations, workers=1, show_progress=False)
    return _topic_words(model, counts.shape[1])


def thinned(counts: Counts, most_tokens: int, generator: np.random.Generator) -> Counts:
    """``counts``, or about ``most_tokens`` of its tokens, each kept with equal probability."""
    total = int(counts.sum())
    if total <= most_tokens:
        return counts
    kept = counts.copy()
    kept.data = generator.binomial(counts.data, most_tokens / total)
    kept.eliminate_zeros()
    return kept


def _check(topics: int, iterations: int, most_tokens: int) -> None:
    for name, value in (("topics", topics), ("iterations", iterations), ("tokens", most_tokens)):
        if value < 1:
            raise ParameterError(f"{name} must be >= 1, got {value}.")


def _model(topics: int, *, alpha: float, eta: float, seed: int) -> "tomotopy.LDAModel":
    try:
        import tomotopy  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise MissingExtraError("tomotopy", "topics") from error
    return tomotopy.LDAModel(k=topics, alpha=alpha, eta=eta, seed=seed)


def _add_documents(model: "tomotopy.LDAModel", counts: Counts) -> None:
    if not counts.nnz:
        raise CorpusError("topics need documents with words; all are empty.")
    names = [str(word) for word in range(counts.shape[1])]
    for row in range(counts.shape[0]):
        cells = slice(counts.indptr[row], counts.indptr[row + 1])
        tokens = np.repeat(counts.indices[cells], counts.data[cells])
        if tokens.size:
            model.add_doc([names[word] for word in tokens.tolist()])


def _topic_words(model: "tomotopy.LDAModel", words: int) -> Floats:
    phi: Floats = np.zeros((model.k, words))
    used = np.array([int(name) for name in model.used_vocabs])
    for topic in range(model.k):
        phi[topic, used] = model.get_topic_word_dist(topic)
    phi /= phi.sum(axis=1, keepdims=True)
    return phi
