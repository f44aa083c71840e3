"""Topics of releases against those of the true text: readers beside honest baselines.

The reference is pinned: the words and documents of `_pinned`, and latent Dirichlet allocation by
tomotopy, 25 topics, alpha .1, eta .01, seeds 0 to 2. Simulated documents are drawn from the first
reference's topics and judged against those.

A reader's score is the Jaccard of 20 top words under one-to-one matching, mean of the references.
The baselines see the same release: tomotopy on its cells of at least 1, 2 or 3 (the best of them,
without thinning), the most frequent words for every topic, and chance.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.lab.release._pinned import PINNED
from sottovoce.lab.release.analyse_rows import AnalyseSetting, compared_rows
from sottovoce.release._counts import Counts, checked_counts
from sottovoce.release.evaluation import chance_jaccard, fit_topics, match_topics, unigram_jaccard
from sottovoce.release.topics import PrivateTopics
from sottovoce.report._result import Row

TOPICS = 25
REFERENCES, SEEDS = 3, 5
THRESHOLDS = (1, 2, 3)
BASELINE_ITERATIONS = 150
MEAN_LENGTH, LENGTH_SHAPE, MIXTURE = 72.0, 4.0, 0.1
_ALL_TOKENS = 1 << 62
_BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class TopicCorpus:
    """Documents by words, and the topics to find again in what is released of them."""

    name: str
    counts: Counts
    references: tuple[Floats, ...]

    def jaccard(self, topics: Floats) -> float:
        """The mean over the references."""
        return float(np.mean([match_topics(topics, true).mean for true in self.references]))

    @property
    def agreement(self) -> float | None:
        """Of the references with one another; None where there is but one."""
        pairs = [
            match_topics(one, other).mean
            for place, one in enumerate(self.references)
            for other in self.references[:place]
        ]
        return float(np.mean(pairs)) if pairs else None


ITERATIONS = {"complaints": 300, "blogs": 150}
"""Of the references of each pinned corpus."""


def topic_corpus(
    name: str, *, cache: Path | None = None, documents: int | None = None
) -> TopicCorpus:
    """A corpus by its name; "simulated" has the complaints' first topics and ``documents``."""
    if name == "simulated":
        topics = topic_corpus("complaints", cache=cache).references[0]
        return simulated_corpus_of(topics, documents or 10_000, seed=0)
    if name not in ITERATIONS:
        known = ", ".join(ITERATIONS)
        raise ParameterError(f"data must be simulated or one of {known}; got {name!r}.")
    counts = PINNED[name]().counts[:documents]
    return TopicCorpus(name, counts, reference_topics(counts, ITERATIONS[name], cache=cache))


def reference_topics(
    counts: Counts,
    iterations: int,
    *,
    topics: int = TOPICS,
    references: int = REFERENCES,
    cache: Path | None = None,
) -> tuple[Floats, ...]:
    """The true text's topics by several seeds; kept in ``cache`` under the hash of all of it."""
    return tuple(
        _cached(
            counts,
            f"{topics} {iterations} {seed}",
            partial(
                fit_topics, counts, topics, seed, iterations=iterations, most_tokens=_ALL_TOKENS
            ),
            cache,
        )
        for seed in range(references)
    )


def _cached(counts: Counts, settings: str, fit: Callable[[], Floats], cache: Path | None) -> Floats:
    if cache is None:
        return fit()
    digest = hashlib.sha256(settings.encode())
    for part in (counts.indptr, counts.indices, counts.data):
        digest.update(np.ascontiguousarray(part, dtype="<i8").data)
    path = cache / f"topics-{digest.hexdigest()[:32]}.npy"
    if not path.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        np.save(path, fit())
    found: Floats = np.load(path, allow_pickle=False)
    return found


def simulated_corpus_of(topics: Floats, documents: int, *, seed: int) -> TopicCorpus:
    """Documents of Poisson counts: few topics in each, gamma distributed lengths of mean 72."""
    generator = np.random.default_rng(seed)
    blocks = []
    for first in range(0, documents, _BLOCK):
        many = min(_BLOCK, documents - first)
        shares = generator.dirichlet(np.full(len(topics), MIXTURE), many)
        lengths = generator.gamma(LENGTH_SHAPE, MEAN_LENGTH / LENGTH_SHAPE, (many, 1))
        blocks.append(sparse.csr_array(generator.poisson(lengths * (shares @ topics))))
    return TopicCorpus("simulated", checked_counts(sparse.vstack(blocks, format="csr")), (topics,))


def noised(counts: Counts, rate: float, seed: int) -> Counts:
    """The counts as a release has them. A study hides nobody: its noise is seeded."""
    generator = np.random.default_rng([seed, round(1000 * rate)])
    end = -np.expm1(-rate)
    blocks = []
    for first in range(0, counts.shape[0], _BLOCK):
        block = counts[first : first + _BLOCK].toarray().astype(np.int32)
        block += generator.geometric(end, block.shape).astype(np.int32)
        block -= generator.geometric(end, block.shape).astype(np.int32)
        blocks.append(sparse.csr_array(block))
    return checked_counts(sparse.vstack(blocks, format="csr"), signed=True)


def lda_of_cells(released: Counts, threshold: int, seed: int, *, topics: int = TOPICS) -> Floats:
    """What a reader without the law does: topics of the cells of at least ``threshold``."""
    kept = released.copy()
    kept.data = np.where(kept.data >= threshold, kept.data, 0)
    kept.eliminate_zeros()
    return fit_topics(kept, topics, seed, iterations=BASELINE_ITERATIONS, most_tokens=_ALL_TOKENS)


def topic_rows(
    corpus: TopicCorpus,
    rate: float,
    *,
    seeds: int = SEEDS,
    thresholds: Sequence[int] = THRESHOLDS,
    topics: int = TOPICS,
    threads: int | None = None,
) -> list[Row]:
    """The rows of one corpus at one rate: baselines, the chosen reader, and their difference."""
    documents, words = corpus.counts.shape
    setting = AnalyseSetting(
        data=corpus.name,
        documents=documents,
        words=words,
        rate=rate,
        score="jaccard",
        topics=topics,
    )
    chosen: list[float] = []
    found: list[dict[str, float]] = []
    for seed in range(seeds):
        released = noised(corpus.counts, rate, seed)
        reader = PrivateTopics(topics, rate=rate, threads=threads, random_state=seed)
        chosen.append(corpus.jaccard(reader.fit(released).components_))
        found.append(_baselines(corpus, released, thresholds, topics, REFERENCES + seed))
    baselines: dict[str, Sequence[float]] = {
        name: [each[name] for each in found] for name in found[0]
    }
    return compared_rows(setting, chosen, baselines, reference=corpus.agreement)


def _baselines(
    corpus: TopicCorpus, released: Counts, thresholds: Sequence[int], topics: int, seed: int
) -> dict[str, float]:
    scores = {
        f"lda >= {level}": corpus.jaccard(lda_of_cells(released, level, seed, topics=topics))
        for level in thresholds
    }
    chance = chance_jaccard(corpus.counts.shape[1], topics)
    return scores | {"frequent": _frequent(corpus, released), "chance": chance}


def _frequent(corpus: TopicCorpus, released: Counts) -> float:
    totals = np.maximum(np.asarray(released.sum(axis=0), dtype=np.float64), 0)
    return float(np.mean([unigram_jaccard(true, totals) for true in corpus.references]))
