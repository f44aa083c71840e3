"""Topics of a release, from its folder to the topics: ours beside tomotopy.

Simulated documents of 25 planted topics, released without compression at rates 5 and 1. Tomotopy
gets what a reader without the law of the noise has: the counts clipped at zero, all of them, 150
iterations, two workers. The topics of both are judged against the planted ones.
"""

import importlib.util
import tempfile
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import CheckFailedError
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.counts import Counts
from sottovoce.release.inputs import CountedDocuments
from sottovoce.release.job import Job, draw_bundle
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.release.release import load_release
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.release.topics.evaluation import match_topics
from sottovoce_lab.bench.rows import BenchRow, bench_row, best_time, train_tomotopy
from sottovoce_lab.release.analyse_topics import add_noise, simulated_corpus_of

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
    with tempfile.TemporaryDirectory() as place:
        folders = {
            rate: released_folder(counts, rate, Path(place) / f"rate-{rate:g}") for rate in RATES
        }
        return [row for rate in RATES for row in _rows(folders[rate], topics, rate)]


def released_folder(counts: Counts, rate: float, folder: Path) -> Path:
    """A release of made-up documents with such ``counts``, in ``folder``."""
    words = Vocabulary.public([f"word{place}" for place in range(counts.shape[1])])
    settings = ReleaseSettings(LimitedPrecision.at_rate(Fraction(rate)))
    documents = CountedDocuments(counts, words, "made up")
    bundle = folder.with_suffix(".bundle")
    draw_bundle(bundle, Job(documents, ReleasePlan(settings, words.terms)), None)
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    bundle.unlink()
    return folder


def _rows(folder: Path, topics: Floats, rate: float) -> list[BenchRow]:
    documents = load_release(folder).card.documents
    _warm_up(rate)
    seconds, found = best_time(lambda: _ours(folder), 1)
    theirs = best_time(lambda: _theirs(folder), 1) if importlib.util.find_spec("tomotopy") else None
    case = f"{documents:,} documents x {WORDS:,} words, {TOPICS} topics, rate {rate:g}"
    speed, score = documents / seconds, _score(found, topics)
    return [
        bench_row("analyse", case, "documents/s", speed, PEER, theirs and documents / theirs[0]),
        bench_row(
            "analyse", case, "topic Jaccard", score, PEER, theirs and _score(theirs[1], topics)
        ),
    ]


def _warm_up(rate: float) -> None:
    """Kernels are compiled before the clock runs."""
    counts = simulated_corpus_of(planted_topics(), 50, seed=1).counts
    PrivateTopics(2, rate=rate).fit(add_noise(counts, rate, 0))


def _ours(folder: Path) -> Floats:
    return PrivateTopics(TOPICS).fit(load_release(folder)).components_


def _theirs(folder: Path) -> Floats:
    import tomotopy  # noqa: PLC0415 - an optional dependency

    clipped = load_release(folder).counts.maximum(0).tocsr()
    clipped.eliminate_zeros()
    model = tomotopy.LDAModel(k=TOPICS, alpha=0.1, eta=0.01, seed=1)
    names = [str(word) for word in range(WORDS)]
    train_tomotopy(model, clipped, names, iterations=ITERATIONS, workers=WORKERS)
    found = np.zeros((TOPICS, WORDS))
    used = [int(word) for word in model.used_vocabs]
    for topic in range(TOPICS):
        found[topic, used] = model.get_topic_word_dist(topic)
    return found


def _score(found: Floats, topics: Floats) -> float:
    if found.shape != topics.shape:
        raise CheckFailedError(f"topics must be {topics.shape}, got {found.shape}.")
    return match_topics(found, topics).mean
