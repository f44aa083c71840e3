"""Topics of a release, from its counts on disk to the topics: ours beside tomotopy.

Simulated documents of 25 planted topics, released without compression at rates 5 and 1. Tomotopy
gets what a reader without the law of the noise has: the counts clipped at zero, all of them, 150
iterations, two workers. The topics of both are judged against the planted ones.
"""

import importlib.util
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.errors import CheckFailedError
from sottovoce.lab.bench._rows import BenchRow, bench_row, best_time
from sottovoce.lab.release.analyse_topics import noised, simulated_corpus_of
from sottovoce.release._counts import Counts, checked_counts
from sottovoce.release.evaluation import match_topics
from sottovoce.release.topics import PrivateTopics

WORDS, TOPICS = 1000, 25
RATES = (5.0, 1.0)
ITERATIONS, WORKERS = 150, 2
PEER = "tomotopy, clipped counts"


def planted_topics(words: int = WORDS, topics: int = TOPICS, *, seed: int = 0) -> Floats:
    """Topics of few words each, over words whose frequencies fall as those of a language do."""
    common = 1 / (np.arange(words) + 10.0) ** 0.9
    drawn = common * np.random.default_rng(seed).standard_gamma(0.12, (topics, words)) + 1e-12
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def bench_analyse(documents: int) -> list[BenchRow]:
    """Documents per second and topic Jaccards at both rates."""
    topics = planted_topics()
    counts = simulated_corpus_of(topics, documents, seed=0).counts
    with tempfile.TemporaryDirectory() as folder:
        return [row for rate in RATES for row in _rows(counts, topics, rate, Path(folder))]


def _rows(counts: Counts, topics: Floats, rate: float, folder: Path) -> list[BenchRow]:
    path = folder / f"counts-{rate:g}.npz"
    sparse.save_npz(path, noised(counts, rate, 0), compressed=False)
    _warm_up(counts[:50], rate)
    seconds, found = best_time(lambda: _ours(path, rate), 1)
    theirs = best_time(lambda: _theirs(path), 1) if _has_peer() else None
    case = f"{counts.shape[0]:,} documents x {WORDS:,} words, {TOPICS} topics, rate {rate:g}"
    speed, score = counts.shape[0] / seconds, _score(found, topics)
    return [
        bench_row(
            "analyse", case, "documents/s", speed, PEER, theirs and counts.shape[0] / theirs[0]
        ),
        bench_row(
            "analyse", case, "topic Jaccard", score, PEER, theirs and _score(theirs[1], topics)
        ),
    ]


def _warm_up(counts: Counts, rate: float) -> None:
    """Kernels are compiled before the clock runs."""
    PrivateTopics(2, rate=rate).fit(noised(counts, rate, 0))


def _ours(path: Path, rate: float) -> Floats:
    return PrivateTopics(TOPICS, rate=rate).fit(_loaded(path)).components_


def _theirs(path: Path) -> Floats:
    import tomotopy  # noqa: PLC0415 - an optional dependency

    clipped = _loaded(path).maximum(0).tocsr()
    clipped.eliminate_zeros()
    model = tomotopy.LDAModel(k=TOPICS, alpha=0.1, eta=0.01, seed=1)
    names = [str(word) for word in range(WORDS)]
    for row in range(clipped.shape[0]):
        cells = slice(clipped.indptr[row], clipped.indptr[row + 1])
        tokens = np.repeat(clipped.indices[cells], clipped.data[cells]).tolist()
        model.add_doc([names[word] for word in tokens])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # two workers give another result each time
        model.train(ITERATIONS, workers=WORKERS, show_progress=False)
    found = np.zeros((TOPICS, WORDS))
    used = [int(word) for word in model.used_vocabs]
    for topic in range(TOPICS):
        found[topic, used] = model.get_topic_word_dist(topic)
    return found


def _loaded(path: Path) -> Counts:
    found: Any = sparse.load_npz(path)
    return checked_counts(found, signed=True)


def _score(found: Floats, topics: Floats) -> float:
    if found.shape != topics.shape:
        raise CheckFailedError(f"topics must be {topics.shape}, got {found.shape}.")
    return match_topics(found, topics).mean


def _has_peer() -> bool:
    return importlib.util.find_spec("tomotopy") is not None
