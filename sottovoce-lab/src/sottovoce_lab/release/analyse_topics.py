"""Topics of releases against those of the true text: readers beside honest baselines.

The reference is pinned: the words and documents of `pinned`, and latent Dirichlet allocation by
tomotopy, 25 topics, alpha .1, eta .01, seeds 0 to 2. Simulated documents are drawn from the first
reference's topics and judged against those.

A reader's score is the Jaccard of 20 top words under one-to-one matching, mean of the references.
The baselines see the same release: tomotopy on its cells of at least 1, 2 or 3 (the best of them,
no token thinned out), the most frequent words for every topic, and chance. Where noise makes more
tokens than `MOST_TOKENS`, tomotopy reads the first documents that have as many, and the reader's
name says so.
"""

import hashlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.files import output_folder, whole_file
from sottovoce.parsing import check_choice
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import Rows, released_moments, row_blocks, signal_meter
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.release.topics.evaluation import chance_jaccard, fit_topics, match_topics
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce_lab._data import SIMULATED
from sottovoce_lab.release.analyse_rows import CHOSEN, AnalyseSetting, compared_rows, reader_row
from sottovoce_lab.release.count_measures import unigram_jaccard
from sottovoce_lab.release.parts import Parameters, PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PINNED, count_corpus

RECOGNISED = 0.3
"""A topic is recognised where its Jaccard with the one it is matched to is above this."""
MEAN_LENGTH, LENGTH_SHAPE, MIXTURE = 72.0, 4.0, 0.1
CHUNK = 4_096


@dataclass(frozen=True, eq=False)
class TopicsToFind:
    """The topics that a release is searched for: several readings of the text, or the true ones."""

    name: str
    references: tuple[Floats, ...]

    @property
    def topics(self) -> int:
        """How many there are."""
        return len(self.references[0])

    def jaccard(self, topics: Floats) -> float:
        """The mean over the references."""
        return float(np.mean([match_topics(topics, true).mean for true in self.references]))

    def count_recognised(self, topics: Floats) -> int:
        """How many of ``topics`` are recognised in most of the references."""
        close = np.zeros(len(topics))
        for true in self.references:
            match = match_topics(topics, true)
            close[match.private[match.jaccards > RECOGNISED]] += 1
        return int((close > len(self.references) / 2).sum())

    @property
    def agreement(self) -> float | None:
        """Of the references with one another; None where there is but one."""
        pairs = self._pairs()
        return float(np.mean([match_topics(*pair).mean for pair in pairs])) if pairs else None

    @property
    def seen_in_text(self) -> float | None:
        """How many topics of one reference are recognised in another; None where there is one."""
        seen = [(match_topics(*pair).jaccards > RECOGNISED).sum() for pair in self._pairs()]
        return float(np.mean(seen)) if seen else None

    def _pairs(self) -> list[tuple[Floats, Floats]]:
        known = self.references
        return [(one, other) for place, one in enumerate(known) for other in known[:place]]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Released counts of drawn documents: the same ones each time they are asked for.

    theta ~ Dirichlet(0.1), lengths Gamma of shape 4, counts Poisson, noise two-sided geometric. A
    study hides nobody: its noise is seeded.
    """

    topics: Floats = field(repr=False)
    documents: int
    law: NoiseLaw
    seed: int
    length: float = MEAN_LENGTH

    @property
    def rows(self) -> "DrawnRows":
        """What `PrivateTopics` asks a release for."""
        return self

    @property
    def is_compressed(self) -> bool:
        """Every word has its column."""
        return False

    @property
    def shape(self) -> tuple[int, int]:
        """Documents by words."""
        return self.documents, self.topics.shape[1]

    def blocks(self, rows: int) -> Iterator[Counts]:
        """In order, at most ``rows`` at a time."""
        for first in range(0, self.documents, CHUNK):
            drawn = self._chunk(first, min(CHUNK, self.documents - first))
            yield from row_blocks(drawn, min(rows, CHUNK))

    def _chunk(self, first: int, rows: int) -> Counts:
        texts = np.random.default_rng([0, first])
        theta = texts.dirichlet(np.full(len(self.topics), MIXTURE), rows)
        lengths = texts.gamma(LENGTH_SHAPE, self.length / LENGTH_SHAPE, (rows, 1))
        cells = texts.poisson(lengths * (theta @ self.topics)).astype(np.int32)
        noise = np.random.default_rng([1 + self.seed, first, round(1000 * self.law.rate)])
        return checked_counts(with_seeded_noise(cells, self.law.rate, noise), signed=True)


def with_seeded_noise(cells: NDArray[np.int32], rate: float, noise: np.random.Generator) -> Counts:
    """The cells with two-sided geometric noise in each, for studies: it hides nobody."""
    end = -np.expm1(-rate)
    cells += noise.geometric(end, cells.shape).astype(np.int32)
    cells -= noise.geometric(end, cells.shape).astype(np.int32)
    return sparse.csr_array(cells)


def first_rows(rows: Rows, documents: int) -> Counts:
    """The first of them, in memory."""
    if isinstance(rows, sparse.csr_array):
        return rows[:documents]
    kept, many = [], 0
    for block in row_blocks(rows, CHUNK):
        kept.append(block[: documents - many])
        many += kept[-1].shape[0]
        if many >= documents:
            break
    return checked_counts(sparse.vstack(kept, format="csr"), signed=True)


TOPICS = 25
REFERENCES = 3
THRESHOLDS = (1, 2, 3)
BASELINE_ITERATIONS = 150
MOST_TOKENS = {0.5: 15_000_000, 0.0: 4_000_000}
"""That a baseline reads, by the least rate: hours would go into noise that it cannot read."""
MOST_DRAWN_TOKENS = 4_000_000
"""The same of drawn documents: in four times as many it found 2 of 25 topics at rate 0.5."""
MADE_UP = "made-up topics"
METER = "meter"
_ALL_TOKENS = 1 << 62
_BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class TopicCorpus(TopicsToFind):
    """Documents by words, and the topics to find again in what is released of them."""

    counts: Counts

    @property
    def shape(self) -> tuple[int, int]:
        """Documents by words."""
        return self.counts.shape[0], self.counts.shape[1]

    @property
    def length(self) -> float:
        """Counted words a document."""
        return float(self.counts.sum()) / self.counts.shape[0]

    def most_tokens(self, rate: float) -> int:
        """That a baseline reads."""
        return next(tokens for least, tokens in MOST_TOKENS.items() if rate >= least)

    def draw_release(self, rate: float, seed: int) -> Counts:
        """The counts with noise."""
        return add_noise(self.counts, rate, seed)


@dataclass(frozen=True, eq=False)
class DrawnCorpus(TopicsToFind):
    """Documents that are drawn from the one reference whenever they are read."""

    documents: int
    length: float = MEAN_LENGTH

    @property
    def shape(self) -> tuple[int, int]:
        """Documents by words."""
        return self.documents, self.references[0].shape[1]

    def most_tokens(self, _rate: float) -> int:
        """That a baseline reads."""
        return MOST_DRAWN_TOKENS

    def draw_release(self, rate: float, seed: int) -> DrawnRows:
        """The counts with noise, drawn as they are read."""
        return DrawnRows(self.references[0], self.documents, NoiseLaw(rate), seed, self.length)


AnyCorpus = TopicCorpus | DrawnCorpus
ITERATIONS = dict.fromkeys(PINNED, 300) | {"blogs": 150, "background": 150}
"""Of the references of each pinned corpus."""


def topic_corpus(
    name: str, topics: int, *, cache: Path | None = None, documents: int | None = None
) -> TopicCorpus:
    """A pinned corpus by its name, with the topics of its text."""
    check_choice("data", name, ITERATIONS)
    counts = PINNED[name]().first(documents).counts
    return TopicCorpus(name, reference_topics(counts, ITERATIONS[name], topics, cache), counts)


def drawn_corpus(
    documents: int, source: str, words: int, topics: int, *, cache: Path | None = None
) -> DrawnCorpus:
    """Documents of the topics of a pinned corpus, by their first reference, or of made-up ones."""
    name = SIMULATED if source == "complaints" else f"{SIMULATED} from {source}"
    if source == MADE_UP:
        return DrawnCorpus(name, (made_up_topics(words, topics),), documents)
    counts = count_corpus(source, words).counts
    known = reference_topics(counts, ITERATIONS[source], topics, cache, references=1)
    return DrawnCorpus(name, known, documents)


def made_up_topics(words: int, topics: int) -> Floats:
    """Topics of few words each, where no text is at hand to have some."""
    return np.asarray(np.random.default_rng(0).dirichlet(np.full(words, 0.05), topics))


def reference_topics(
    counts: Counts,
    iterations: int,
    topics: int,
    cache: Path | None = None,
    *,
    references: int = REFERENCES,
) -> tuple[Floats, ...]:
    """The true text's topics by several seeds; kept in ``cache`` under the hash of all of it."""

    def fit(seed: int) -> Floats:
        return fit_topics(counts, topics, seed, iterations=iterations, most_tokens=_ALL_TOKENS)

    return tuple(
        _fit_once(counts, f"{topics} {iterations} {seed}", partial(fit, seed), cache)
        for seed in repetitions(references)
    )


def _fit_once(
    counts: Counts, settings: str, fit: Callable[[], Floats], cache: Path | None
) -> Floats:
    if cache is None:
        return fit()
    digest = hashlib.sha256(settings.encode())
    for part in (counts.indptr, counts.indices, counts.data):
        digest.update(np.ascontiguousarray(part, dtype="<i8").data)
    path = cache / f"topics-{digest.hexdigest()[:32]}.npy"
    if not path.is_file():
        output_folder(cache)
        with whole_file(path, private=True) as temporary, temporary.open("wb") as stream:
            np.save(stream, fit())
    found: Floats = np.load(path, allow_pickle=False)
    return found


def simulated_corpus_of(topics: Floats, documents: int, *, seed: int) -> TopicCorpus:
    """Documents of Poisson counts in memory: few topics in each, gamma lengths of mean 72."""
    generator = np.random.default_rng(seed)
    blocks = []
    for first in range(0, documents, _BLOCK):
        many = min(_BLOCK, documents - first)
        shares = generator.dirichlet(np.full(len(topics), MIXTURE), many)
        lengths = generator.gamma(LENGTH_SHAPE, MEAN_LENGTH / LENGTH_SHAPE, (many, 1))
        blocks.append(sparse.csr_array(generator.poisson(lengths * (shares @ topics))))
    return TopicCorpus("simulated", (topics,), checked_counts(sparse.vstack(blocks, format="csr")))


def add_noise(counts: Counts, rate: float, seed: int) -> Counts:
    """The counts as a release has them. A study hides nobody: its noise is seeded."""
    generator = np.random.default_rng([seed, round(1000 * rate)])
    starts = range(0, counts.shape[0], _BLOCK)
    dense = (counts[first : first + _BLOCK].toarray().astype(np.int32) for first in starts)
    blocks = [with_seeded_noise(block, rate, generator) for block in dense]
    return checked_counts(sparse.vstack(blocks, format="csr"), signed=True)


def lda_of_cells(released: Counts, threshold: int, seed: int, *, topics: int = TOPICS) -> Floats:
    """What a reader without the law does: topics of the cells of at least ``threshold``."""
    kept = released.copy()
    kept.data = np.where(kept.data >= threshold, kept.data, 0)
    kept.eliminate_zeros()
    return fit_topics(kept, topics, seed, iterations=BASELINE_ITERATIONS, most_tokens=_ALL_TOKENS)


def documents_read(corpus: AnyCorpus, rate: float, threshold: int) -> int:
    """How many documents a baseline reads, so that it has about so many tokens at the most.

    Of an empty cell, sum over z >= t of z (1 - a)/(1 + a) a^z = a^t (t - (t - 1) a)/(1 - a^2).
    """
    documents, words = corpus.shape
    alpha = math.exp(-rate)
    each = alpha**threshold * (threshold - (threshold - 1) * alpha) / (1 - alpha**2)
    most = corpus.most_tokens(rate) / (words * each + corpus.length)
    return min(documents, max(1, int(most)))


def topic_values(corpus: AnyCorpus, rate: float, seed: int) -> Values:
    """Jaccards and recognised topics of every reader, on one release; what the meter said of it."""
    released, topics = corpus.draw_release(rate, seed), corpus.topics
    # A seed that no reference has: with one in common, little noise would look like none.
    reader = PrivateTopics(topics, rate=rate, random_state=REFERENCES + seed)
    found = {CHOSEN: reader.fit(released).components_}
    for level in THRESHOLDS:
        read = documents_read(corpus, rate, level)
        name = f"lda >= {level}" + ("" if read == corpus.shape[0] else ", part")
        cells = first_rows(released, read)
        found[name] = lda_of_cells(cells, level, REFERENCES + seed, topics=topics)
    moments = released_moments(released, NoiseLaw(rate))
    totals = np.maximum(moments.totals, 0)
    found["frequent"] = np.tile(totals, (topics, 1))
    jaccard = {name: corpus.jaccard(each) for name, each in found.items()}
    own = [unigram_jaccard(true, totals) for true in corpus.references]
    jaccard |= {"frequent": float(np.mean(own)), "chance": chance_jaccard(corpus.shape[1], topics)}
    return {
        "jaccard": jaccard,
        "topics_seen": {name: float(corpus.count_recognised(each)) for name, each in found.items()},
        METER: {"dimensions": float(signal_meter(moments).dimensions)},
    }


def topic_rows(corpus: AnyCorpus, rate: float, seeds: int, store: PartStore) -> list[Row]:
    """Baselines, the chosen reader and their difference, of one corpus at one rate.

    First in Jaccards; then in how many topics each showed, beside how many dimensions the meter
    counted.
    """
    documents, words = corpus.shape
    known: Parameters = {
        "reader": "topics",
        "data": corpus.name,
        "documents": documents,
        "words": words,
        "length": round(corpus.length, 3),
        "topics": corpus.topics,
        "rate": rate,
    }
    parts = store.values_by_seed(known, seeds, partial(topic_values, corpus, rate))
    jaccard = AnalyseSetting(
        data=corpus.name,
        documents=documents,
        words=words,
        rate=rate,
        score="jaccard",
        topics=corpus.topics,
    )
    seen = replace(jaccard, score="topics_seen")
    meter = [part[METER]["dimensions"] for part in parts]
    return [
        *compared_rows(jaccard, by_reader(parts, "jaccard"), reference=corpus.agreement),
        reader_row(seen, METER, meter),
        *compared_rows(seen, by_reader(parts, "topics_seen"), reference=corpus.seen_in_text),
    ]
