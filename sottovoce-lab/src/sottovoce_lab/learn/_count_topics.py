"""Topics of pairs counted together, against those of the true text.

The reference is that of `release-analyse`, restricted to the words that are counted; documents have
at least two of them. The baselines are the same reader on a local release at equal epsilon for
equal unit, the most frequent words for every topic, and chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats, Integers
from sottovoce.learn.count import counted_topics
from sottovoce.learn.count.votes import VotePlan
from sottovoce.learn.documents import Documents
from sottovoce.release.counts import Counts
from sottovoce.release.topics.evaluation import chance_jaccard
from sottovoce.report.result import Row
from sottovoce.steps import repetitions
from sottovoce.topics.cooccurrence.noised import noised_pair_topics
from sottovoce_lab._data import SIMULATED
from sottovoce_lab.learn._count_rows import CLEAR, LOCAL, UNIT, count_rows
from sottovoce_lab.learn._count_sums import (
    PARTIES,
    CountSetting,
    locally_released,
    opened,
    voted,
)
from sottovoce_lab.release.analyse_rows import CHOSEN, AnalyseSetting
from sottovoce_lab.release.analyse_topics import (
    ITERATIONS,
    made_up_topics,
    reference_topics,
    simulated_corpus_of,
)
from sottovoce_lab.release.count_measures import unigram_jaccard
from sottovoce_lab.release.parts import PartStore, Values, by_reader
from sottovoce_lab.release.pinned import PINNED
from sottovoce_lab.release.to_find import TopicsToFind

VOTES = 30
FEWEST = 2
READING = 1
"""Counted up where a part would come out otherwise than before."""


@dataclass(frozen=True, eq=False)
class PairCorpus(TopicsToFind):
    """Documents whose pairs of words are counted, and the topics to find in the sum."""

    counts: Counts
    words: tuple[str, ...]

    @property
    def topics(self) -> int:
        """How many there are to find."""
        return len(self.references[0])

    @cached_property
    def documents(self) -> Documents:
        """As texts of their listed words."""
        tokens = np.array(self.words)[np.repeat(self.counts.indices, self.counts.data)]
        ends = np.concatenate([[0], np.cumsum(self.counts.data)])[self.counts.indptr]
        return Documents(
            tuple(" ".join(tokens[first:last]) for first, last in pairwise(ends.tolist()))
        )

    @cached_property
    def plan(self) -> VotePlan:
        """Who votes for what."""
        return VotePlan("pairs", self.words, (), VOTES)

    def votes(self, seed: int) -> Integers:
        """The plain sum of one seed's votes; that of the last seed is kept."""
        if seed not in self._kept:
            self._kept.clear()
            self._kept[seed] = voted(self.plan, self.documents, PARTIES, seed)
        return self._kept[seed]

    @cached_property
    def _kept(self) -> dict[int, Integers]:
        return {}


def restricted(
    name: str, counts: Counts, words: tuple[str, ...], references: tuple[Floats, ...], most: int
) -> PairCorpus:
    """The ``most`` first words alone, and the documents that have two of them."""
    fewer = sparse.csr_array(counts[:, :most])
    kept = np.flatnonzero(np.asarray(fewer.sum(axis=1)).ravel() >= FEWEST)
    own = tuple(each[:, :most] / each[:, :most].sum(axis=1, keepdims=True) for each in references)
    return PairCorpus(name, own, sparse.csr_array(fewer[kept]), words[:most])


def pair_corpora(
    name: str, most: Sequence[int], *, store: PartStore, documents: int | None, topics: int
) -> list[PairCorpus]:
    """A pinned corpus, or a drawn one, by each number of words."""
    if name == SIMULATED:
        drawn = simulated_corpus_of(made_up_topics(max(most), topics), documents or 1_000, seed=0)
        order = np.argsort(-np.asarray(drawn.counts.sum(axis=0)).ravel(), kind="stable")
        counts, words = drawn.counts[:, order], tuple(f"w{at:04}" for at in order)
        references = tuple(each[:, order] for each in drawn.references)
    else:
        corpus = PINNED[name]().first(documents)
        counts, words = corpus.counts, corpus.words
        references = reference_topics(counts, ITERATIONS[name], topics=topics, cache=store.folder)
    return [restricted(name, counts, words, references, many) for many in most]


def pair_rows(
    corpus: PairCorpus, epsilons: Sequence[Fraction], seeds: int, store: PartStore
) -> list[Row]:
    """Jaccards and topics seen at every epsilon; seeds outermost, so that votes are cast once."""
    parts: dict[Fraction, list[Values]] = {epsilon: [] for epsilon in epsilons}
    for seed in repetitions(seeds):
        for epsilon in epsilons:
            setting = CountSetting("pairs", VOTES, epsilon)
            work = partial(_values, corpus, setting, seed)
            parts[epsilon].append(store.values(_parameters(corpus, setting, seed), work))
    return [row for epsilon in epsilons for row in _epsilon_rows(corpus, epsilon, parts[epsilon])]


def _parameters(
    corpus: PairCorpus, setting: CountSetting, seed: int
) -> dict[str, str | int | float | None]:
    return {
        "reader": "count topics",
        "reading": READING,
        "data": corpus.name,
        "documents": corpus.counts.shape[0],
        "words": len(corpus.words),
        "topics": corpus.topics,
        **setting.parameters,
        "seed": seed,
    }


def _values(corpus: PairCorpus, setting: CountSetting, seed: int) -> Values:
    """Of every reader, on one opened sum."""
    cells, topics, documents = corpus.votes(seed), corpus.topics, corpus.counts.shape[0]
    noisy, variance = locally_released(cells, setting, documents, seed)
    found = {
        CHOSEN: counted_topics(
            opened(cells, corpus.plan, setting, seed), topics, seed=seed
        ).components,
        LOCAL: _read(noisy, variance, corpus, seed),
        CLEAR: _read(cells, 0.0, corpus, seed),
    }
    totals = np.asarray(corpus.counts.sum(axis=0), np.float64).ravel()
    frequent = [unigram_jaccard(each, totals) for each in corpus.references]
    jaccard = {name: corpus.jaccard(each) for name, each in found.items()}
    jaccard["frequent"] = float(np.mean(frequent))
    jaccard["chance"] = chance_jaccard(len(corpus.words), topics)
    seen = {name: float(corpus.recognised(each)) for name, each in found.items()}
    return {"jaccard": jaccard, "topics_seen": seen}


def _read(cells: Integers, variance: float, corpus: PairCorpus, seed: int) -> Floats:
    words = len(corpus.words)
    square = np.zeros((words, words))
    low, high = np.triu_indices(words)
    square[low, high] = square[high, low] = cells
    return noised_pair_topics(square, corpus.topics, variance=variance, seed=seed).topics


def _epsilon_rows(corpus: PairCorpus, epsilon: Fraction, parts: Sequence[Values]) -> list[Row]:
    setting = CountSetting("pairs", VOTES, epsilon)
    documents, words = corpus.counts.shape[0], len(corpus.words)
    true = {"jaccard": corpus.agreement, "topics_seen": corpus.seen_in_text}
    rows = []
    for score in ("jaccard", "topics_seen"):
        shown = AnalyseSetting(
            data=corpus.name,
            documents=documents,
            words=words,
            rate=float(epsilon / VOTES),
            score=score,
            topics=corpus.topics,
            unit=UNIT,
        )
        values = by_reader(parts, score)
        chosen, clear = values.pop(CHOSEN), values.pop(CLEAR)
        rows += count_rows(
            setting,
            shown,
            chosen,
            values,
            clear=clear,
            reference=true[score],
        )
    return rows
