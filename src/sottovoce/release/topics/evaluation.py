"""Topics of a count matrix, and how good and how like the true ones they are.

`fit_topics` trains latent Dirichlet allocation by tomotopy's collapsed Gibbs sampler. Coherence
(Mimno et al. 2011): do a topic's top words occur in the same documents? Exclusivity (Bischof and
Airoldi 2012): how much a topic's top words are its own. Topic Jaccard: how many top words the
topics of a release share with those of the true text.

A bare Jaccard says little: random topics reach 0.185 with 100 words, 10 topics and 20 top words.
So it is always shown beside its chance level and its unigram level.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.optimize import linear_sum_assignment

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import CorpusError, MissingExtraError, ParameterError
from sottovoce.release.counts import Counts, checked_width

if TYPE_CHECKING:
    import tomotopy

TOP = 20
MOST_TOKENS = 3_000_000
_CONFIDENCE = 0.95


def top_words(phi: Floats, top: int = TOP) -> Integers:
    """The ``top`` most probable words of each topic, most probable first; ties by word number."""
    topics = checked_topics(phi)
    if not 1 <= top <= topics.shape[1]:
        raise ParameterError(f"top must be 1 to {topics.shape[1]}, the words, got {top}.")
    return np.argsort(-topics, axis=1, kind="stable")[:, :top]


def checked_topics(phi: Floats) -> Floats:
    """``phi`` as a matrix of topics by words, finite and >= 0."""
    topics = np.asarray(phi, dtype=np.float64)
    if topics.ndim != 2 or not topics.size:  # noqa: PLR2004  # a matrix has two axes
        raise ParameterError(f"topics must be a topics x words matrix, got shape {topics.shape}.")
    if not np.isfinite(topics).all() or topics.min() < 0:
        raise ParameterError("topics must hold finite probabilities >= 0.")
    return topics


def topic_coherence(phi: Floats, counts: Counts, top: int = TOP) -> float:
    """Mean over topics and pairs l < m of log((D(v_m, v_l) + 1) / D(v_l)).

    D counts the documents of ``counts`` (true text) with the word or both words; v_l is the more
    probable of the two. Pairs whose v_l is in no document say nothing and are left out, and so are
    topics of which no word is in any; 1 topic must have some.
    """
    words = top_words(phi, top)
    checked_width(counts, phi.shape[1], what="word of the topics")
    scores = np.array([_pair_scores(topic, counts) for topic in words])
    if np.isnan(scores).all():
        raise CorpusError("coherence needs documents with the topics' words; none has any.")
    return float(np.nanmean(scores))


def _pair_scores(topic: "np.ndarray[tuple[int], np.dtype[np.int64]]", counts: Counts) -> Floats:
    present = (counts[:, topic] > 0).astype(np.int64)
    together = (present.T @ present).toarray()
    documents = np.diag(together).astype(np.float64)
    conditional = np.full(together.shape, np.nan)
    known = documents > 0
    conditional[:, known] = np.log((together[:, known] + 1) / documents[known])
    return conditional[np.tril_indices(len(topic), -1)]


@dataclass(frozen=True, eq=False)
class TopicMatch:
    """Each private topic beside its true one, best pairs first."""

    private: Integers
    true: Integers
    jaccards: Floats

    @property
    def mean(self) -> float:
        """The topic Jaccard: the mean over pairs."""
        return float(self.jaccards.mean())


def match_topics(private: Floats, true: Floats, top: int = TOP) -> TopicMatch:
    """Pair topics one to one so that the sum of the pairs' Jaccards is largest (Hungarian)."""
    if private.shape[1] != true.shape[1]:
        raise ParameterError(
            f"both models must have the same words, got {private.shape[1]} and {true.shape[1]}."
        )
    overlap = _jaccards(top_words(private, top), top_words(true, top), true.shape[1])
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    best_first = np.argsort(-overlap[rows, columns], kind="stable")
    rows, columns = rows[best_first], columns[best_first]
    return TopicMatch(rows, columns, overlap[rows, columns])


@cache
def chance_jaccard(words: int, topics: int, top: int = TOP, *, draws: int = 200) -> float:
    """The matched Jaccard of topics whose top words are drawn at random: mean of ``draws``."""
    generator = np.random.default_rng(0)
    shape = (topics, words)
    levels = [
        match_topics(generator.random(shape), generator.random(shape), top).mean
        for _ in range(draws)
    ]
    return float(np.mean(levels))


def _jaccards(one: Integers, other: Integers, words: int) -> Floats:
    """|A and B| / |A or B| for every pair of rows."""
    shared = _indicators(one, words) @ _indicators(other, words).T
    jaccards: Floats = shared / (one.shape[1] + other.shape[1] - shared)
    return jaccards


def _indicators(members: Integers, words: int) -> Floats:
    indicators = np.zeros((len(members), words))
    np.put_along_axis(indicators, members, 1.0, axis=1)
    return indicators


def fit_topics(
    counts: Counts, topics: int, seed: int, *, iterations: int = 200, most_tokens: int = MOST_TOKENS
) -> Floats:
    """phi, the probability of each word in each topic: topics x words, rows sum to 1.

    A corpus of more than ``most_tokens`` tokens (noise without compression makes hundreds of
    millions) is thinned first: each token is kept with the same probability. One worker, so that
    a seed gives one result.
    """
    _check(topics, iterations, most_tokens)
    model = _model(topics, seed)
    _add_documents(model, thin_counts(counts, most_tokens, np.random.default_rng(seed)))
    model.train(iterations, workers=1, show_progress=False)
    return _topic_words(model, counts.shape[1])


def thin_counts(counts: Counts, most_tokens: int, generator: np.random.Generator) -> Counts:
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


def _model(topics: int, seed: int) -> "tomotopy.LDAModel":
    try:
        import tomotopy  # noqa: PLC0415  # an optional dependency
    except ImportError as error:
        raise MissingExtraError("tomotopy", "topics") from error
    return tomotopy.LDAModel(k=topics, alpha=0.1, eta=0.01, seed=seed)


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


@dataclass(frozen=True)
class MeanInterval:
    """A mean and its Student-t interval; no width when there is one value only."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float]) -> MeanInterval:
    """Mean and 95% Student-t interval of independent ``values``."""
    if not len(values):
        raise ParameterError("an interval needs at least one value, got none.")
    mean = float(np.mean(values))
    if len(values) == 1:
        return MeanInterval(mean, mean, mean)
    standard_error = np.std(values, ddof=1) / np.sqrt(len(values))
    half = float(stats.t.ppf((1 + _CONFIDENCE) / 2, len(values) - 1) * standard_error)
    return MeanInterval(mean, mean - half, mean + half)
